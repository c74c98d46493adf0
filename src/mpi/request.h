/* Nonblocking operations as MPI requests: generalized requests around core's operations. */
#ifndef BRIO_MPI_REQUEST_H
#define BRIO_MPI_REQUEST_H

#include <mpi.h>
#include <stdatomic.h>

#include "core/core.h"

/* *request is MPI_REQUEST_NULL on failure. */
BRIO_ERR brio_request_start(struct brio_file *f, const struct brio_call *call,
                            MPI_Request *request);

/* ---- For the completion calls: mpi/complete.c ------------------------------------------- */

/* Requests that have been made and not yet freed by the MPI. */
extern _Atomic int brio_requests_live;

/* One of Brio's requests that the MPI completed during a completion call. */
struct brio_done {
    enum brio_err err; /* its text: brio_done_text */
    MPI_File fh;
    int index; /* in the array given to brio_requests_mark */
    struct brio_done *next;
};

/* Brio's own among n requests are told their index. The number of them. */
int brio_requests_mark(int n, const MPI_Request *requests);

/* Between these two the requests that the MPI completes on this thread are collected, and
 * their failures are kept from the MPI, which would tell them to MPI_COMM_WORLD's handler. */
void brio_collect_begin(void);
struct brio_done *brio_collect_end(void);

/* Makes the failure's text this thread's. */
void brio_done_text(const struct brio_done *done);

/* Gives the whole list back. */
void brio_done_drop(struct brio_done *list);

#endif
