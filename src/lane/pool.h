/* Threads that do blocking system calls for nonblocking accesses. They never call MPI, so
 * they are legal at every thread level. Started on first use, asleep when idle. */
#ifndef BRIO_LANE_POOL_H
#define BRIO_LANE_POOL_H

#include "base/base.h"

struct brio_job {
    void (*run)(struct brio_job *job);
    struct brio_job *next; /* the pool's */
};

/* Hands the job over; the caller keeps it alive until run has been called. BRIO_ENOMEM or
 * BRIO_EINTERN if no thread could be had (then nothing was queued: do it yourself). */
BRIO_ERR brio_pool_submit(struct brio_job *job);

/* Calls fn(arg, i) for i = 0 .. n-1, on this thread and on up to `helpers` threads of the pool
 * that are free. Returns when all calls are over. Never fails: without a second thread, this
 * one does it all. */
void brio_pool_share(void (*fn)(void *arg, int i), void *arg, int n, int helpers);

/* How many helpers work has that needs a processor: one, if there is a second processor. On a
 * node that is full of ranks more would only take the processors of others. */
int brio_pool_spare(void);

/* Waits for the queue to drain and ends the threads. A later submit starts anew. */
void brio_pool_finalize(void);

#endif
