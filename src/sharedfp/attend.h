/* A thread that keeps MPI moving on a rank that others reach into while it computes. */
#ifndef BRIO_SHAREDFP_ATTEND_H
#define BRIO_SHAREDFP_ATTEND_H

#include <mpi.h>

#include "base/base.h"

struct brio_attended {
    MPI_Comm comm;
    const volatile int64_t *value; /* here; when it changes, more is likely to come */
    int64_t seen;
    struct brio_attended *next;
};

/* Begins to attend; a rank without threads of MPI_THREAD_MULTIPLE, or whose system gives no
 * thread, answers only when the program calls MPI. */
void brio_attend(struct brio_attended *a);
void brio_attend_end(struct brio_attended *a);

/* Before MPI_Finalize: the thread ends, whatever is still open. */
void brio_attend_finalize(void);

#endif
