/* How many owners (aggregators) an access gets: from its volume, not from the number of
 * ranks (paper 003). Pure. */
#ifndef BRIO_FCOLL_AGGREGATORS_H
#define BRIO_FCOLL_AGGREGATORS_H

#include "fcoll/plan.h"

int brio_aggregators(const struct brio_extent *extent);

#endif
