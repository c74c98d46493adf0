/* Collective writes to files whose data other nodes see only after a sync: a stage that syncs
 * behind every write, so that each rank finds its own data, whoever wrote it for it. */
#ifndef BRIO_LANE_SETTLE_H
#define BRIO_LANE_SETTLE_H

#include "fs/fs.h"
#include "lane/lane.h"

struct brio_settle {
    struct brio_lane below;
    const struct brio_fs *fs;
    void *fs_self;
};

/* The caller fills the struct in and keeps it as long as the lane. */
struct brio_lane brio_settle_lane(struct brio_settle *settle);

#endif
