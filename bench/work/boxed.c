/* What workloads of boxes share: a view of them, a call for each array. */
#include <stdlib.h>
#include <string.h>

#include "work/work.h"

struct boxed *boxed_new(struct job *job)
{
    job->more = need_memory(sizeof(struct boxed));
    memset(job->more, 0, sizeof(struct boxed));
    return job->more;
}

static long long run(const struct job *job, int call, long long i, long long *len)
{
    const struct boxed *b = job->more;
    return call * job->extent + boxes_row(&b->boxes, i, len);
}

void boxed_ready(struct job *job, int calls)
{
    struct boxed *b = job->more;
    b->elem = element_type(b->boxes.elem);
    b->type = boxes_type(&b->boxes);
    job->calls = calls;
    job->bytes = boxes_elements(&b->boxes) * b->boxes.elem;
    job->extent = boxes_extent(&b->boxes);
    job->nruns = b->boxes.rows[b->boxes.n];
    job->run = run;
}

void boxed_open(struct job *job)
{
    struct boxed *b = job->more;
    open_file(job);
    if (job->access != ACCESS_PIECES)
        must(MPI_File_set_view(job->fh, 0, b->elem, b->type, "native", MPI_INFO_NULL),
             "MPI_File_set_view");
}

void boxed_move(struct job *job, int call, int write)
{
    struct boxed *b = job->more;
    long long n = boxes_elements(&b->boxes);
    if (job->access == ACCESS_PIECES)
        access_pieces(job, call, write);
    else
        access_at(job, write, (MPI_Offset)(call * n), job->buf, (int)n, b->elem);
}

void boxed_finish(struct job *job)
{
    struct boxed *b = job->more;
    MPI_Type_free(&b->type);
    MPI_Type_free(&b->elem);
    free(b);
}
