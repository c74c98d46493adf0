/* The largest of some numbers over all ranks, blocking or not: by a meeting in memory where
 * the ranks share some, else by MPI. (The smallest of x is ~ of the largest of ~x.) */
#ifndef BRIO_COMM_REDUCE_H
#define BRIO_COMM_REDUCE_H

#include "comm/meet.h"

BRIO_DOOR_BEGIN

/* Neither copied nor moved until it is done. */
struct brio_reduce {
    const struct brio_team *team;
    int n;
    int64_t in[BRIO_MEET_WORDS], out[BRIO_MEET_WORDS];
    MPI_Request req;
    uint32_t epoch;
    bool failed; /* MPI itself did: out is nothing */
};

/* Collective. r->n and r->in have been set. Nobody waits in it. */
void brio_reduce_start(struct brio_reduce *r, const struct brio_team *team);

bool brio_reduce_done(struct brio_reduce *r, enum brio_wait how);

/* The same, of which only the first n words are wanted; the others are had by brio_reduce_done
 * later, before this rank begins another reduction of the team. */
bool brio_reduce_head(struct brio_reduce *r, enum brio_wait how, int n);

BRIO_DOOR_END

#endif
