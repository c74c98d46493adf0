/* A lane that ends nowhere: every access succeeds at once and moves nothing. For explaining
 * what would be done. */
#ifndef BRIO_LANE_DRY_H
#define BRIO_LANE_DRY_H

#include "lane/lane.h"

struct brio_lane brio_dry_lane(void);

#endif
