/* Atomic mode: a stage that holds a lock over the whole range of an access while the stages
 * below do it, so that noncontiguous and overlapping accesses are indivisible. */
#ifndef BRIO_LANE_GUARD_H
#define BRIO_LANE_GUARD_H

#include "base/stats.h"
#include "fs/fs.h"
#include "lane/lane.h"

struct brio_guard;

/* `below`, the file system's state and the counters (or NULL) must outlive the guard. */
BRIO_ERR brio_guard_open(const struct brio_lane *below, const struct brio_fs *fs, void *fs_self,
                         struct brio_stats *stats, struct brio_guard **out);
void brio_guard_close(struct brio_guard *guard);

struct brio_lane brio_guard_lane(struct brio_guard *guard);

#endif
