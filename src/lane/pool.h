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

/* Waits for the queue to drain and ends the threads. A later submit starts anew. */
void brio_pool_finalize(void);

#endif
