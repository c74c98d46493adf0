/* The executor: runs a plan. Ranks copy their pieces into windows in shared memory, in file
 * order, and owners write them out; or owners read windows, and ranks copy out of them. Two
 * windows of an owner are in use at a time, so that one is filled while the other is
 * written. No rank ever waits for one thing only: whatever can go on, goes on. */
#ifndef BRIO_FCOLL_ROUNDS_H
#define BRIO_FCOLL_ROUNDS_H

#include "comm/region.h"
#include "fcoll/plan.h"
#include "lane/lane.h"

struct brio_rounds {
    const struct brio_team *team;
    const struct brio_lane *lane;
    struct brio_region *region;
    const struct brio_plan *plan;
    const struct brio_io *io;
    brio_off shift; /* of the access against the plan */
    uint32_t run;   /* which run of this region it is: tells old signals from new */
    size_t *next;   /* by owner: the window that this rank comes to next */
    int nopen;      /* owners that this rank has not finished with */
    brio_off moved; /* bytes of this rank that are certain */
    /* As an owner. */
    size_t window; /* the next one to access */
    bool busy;     /* its access is under way */
    struct brio_ticket ticket;
    enum brio_err err; /* of the first access that failed */
    char text[BRIO_ERR_TEXT];
    bool is_short; /* a read met the end of the file */
};

/* Bytes of shared memory that a plan needs; the same on all ranks. */
size_t brio_rounds_memory(int nowners, brio_off window);

/* The region has been made large enough. r->next has room for the plan's owners. */
void brio_rounds_start(struct brio_rounds *r);

/* True when this rank has nothing more to do; with BRIO_BLOCK it comes back only then. */
bool brio_rounds_step(struct brio_rounds *r, enum brio_wait how);

/* After all ranks have agreed that they are done, and if any owner failed: what of this
 * rank's data is certain. */
brio_off brio_rounds_moved(const struct brio_rounds *r);

#endif
