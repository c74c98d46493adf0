/* The workloads, and what those of boxes share. */
#ifndef BRIO_BENCH_WORK_H
#define BRIO_BENCH_WORK_H

#include "bench.h"

extern const struct workload work_sharedfp, work_tile, work_btio, work_flash, work_s3d,
    work_blockcyclic, work_latency, work_aggregators, work_noncontig, work_small;

/* One view of boxes of an array; a call is one array, one tile of the view. */
struct boxed {
    struct boxes boxes;
    MPI_Datatype elem, type;
};

/* A boxed with nothing in it, as the job's own; after its boxes are there, boxed_ready. */
struct boxed *boxed_new(struct job *job);
void boxed_ready(struct job *job, int calls);
void boxed_open(struct job *job);
void boxed_move(struct job *job, int call, int write);
void boxed_finish(struct job *job);

#endif
