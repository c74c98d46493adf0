/* Files whose data other nodes see only after a sync. MPI lets a rank count on what it has
 * written itself, whoever accesses the file for it: so a sync stands between a write and an
 * access that might not see it, or come before it. */
#ifndef BRIO_LANE_SETTLE_H
#define BRIO_LANE_SETTLE_H

#include "fs/fs.h"
#include "lane/lane.h"

struct brio_settle {
    struct brio_lane own;    /* of the rank's own accesses, */
    struct brio_lane shared; /* and of those that it does for others */
    const struct brio_fs *fs;
    void *fs_self;
    _Atomic int64_t written, synced; /* own writes that are done, and that a sync came behind */
};

/* The caller keeps the struct as long as the lanes. */
void brio_settle_init(struct brio_settle *settle, const struct brio_fs *fs, void *fs_self);

/* Own accesses: a read syncs first if there are writes to sync. */
struct brio_lane brio_settle_own(struct brio_settle *settle);

/* The same for accesses that may be others', whose writes are synced at once. */
struct brio_lane brio_settle_shared(struct brio_settle *settle);

/* Before others access the file for this rank: its own writes are with the servers. */
BRIO_ERR brio_settle_now(struct brio_settle *settle);

/* The same, and what lies in this node's cache is forgotten. */
BRIO_ERR brio_settle_sync(struct brio_settle *settle);

#endif
