/* Which core each rank of a crew is on, where they share cores. Ranks that wait for each other
 * every few microseconds give the system no time to spread them: three of four were seen on one
 * of two cores for as long as they made collective accesses, each of which took twice as long.
 * So a rank that finds a core with two ranks less than its own goes there; and an owner, who
 * has most to do, one that finds a core with two owners less (block-cyclic reads on 8 ranks
 * with two owners: 15 GB/s if each has a core, 10 if they share one). Its affinity says so for
 * a moment only, and then is as it was: bound ranks stay where they are, and the system may
 * move all others as before. */
#ifndef BRIO_FCOLL_BERTH_H
#define BRIO_FCOLL_BERTH_H

#include <sched.h>

#include "comm/meet.h"

/* In shared memory, all zero at first. */
struct brio_berths {
    _Atomic uint32_t moving; /* a rank is */
    _Atomic int32_t core[];  /* by rank of the crew: one more than its core's number; less than
                                zero, if it is an owner */
};

/* A rank's own. */
struct brio_berth {
    bool stays;        /* it never moves */
    cpu_set_t allowed; /* cores, as it was opened */
    int ncores;        /* one more than the last of them */
    int64_t moved;     /* when, last */
};

/* Local. */
void brio_berth_open(struct brio_berth *b, const struct brio_team *crew, bool may_move);

/* True if two ranks of the crew were on one core when they last said where they are. */
bool brio_berth_beside(const struct brio_berths *all, int a, int b);

/* Says where this rank is, and whether it is an owner, and moves it if that is better; true if
 * it has. */
bool brio_berth_look(struct brio_berth *b, struct brio_berths *all,
                     const struct brio_team *crew, bool owns);

/* The core that one of n ranks, who is on core `mine`, had better be on; `mine`, if that is as
 * good. Pure. */
int brio_berth_better(const struct brio_berth *b, const struct brio_berths *all, int n,
                      int mine, bool owns);

#endif
