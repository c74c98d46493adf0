/* Paper 002: a vector of floats, dealt to the ranks in blocks of Bx, stored in its order. */
#include <stdio.h>
#include <stdlib.h>

#include "work/work.h"

static const struct option_entry options[] = {
    {"bx", "256,64,16,4,1", "floats of a block; a case for each"},
    {"size", "16m", "bytes of all ranks together; with --blocks, a case for each"},
    {"blocks", "0", "blocks of a rank; --bx follows from it and --size"},
    {"access", "coll",
     "coll; indep (List I/O, with ds_write and ds_read off); pieces (a call for each block)"},
    {"order", "vector", "vector, or block: each rank's data in one piece (Block I/O)"},
    {NULL, NULL, NULL},
};

struct cyclic {
    long long block; /* bytes */
    MPI_Datatype type;
    bool blocked;
};

static int cases(const struct options *o)
{
    long long bx[LIST_MAX];
    int n = option_list(o, option_number(o, "blocks") > 0 ? "size" : "bx", bx);
    option_access(o);
    for (int i = 0; i < n; i++)
        if (bx[i] < 1 || bx[i] > 1 << 30) {
            fprintf(stderr, "brio bench: --bx and --size take 1 to 1g\n");
            exit(2);
        }
    if (!option_one_of(o, "order", "vector block"))
        exit(2);
    if (option_number(o, "blocks") == 0)
        option_number(o, "size");
    return n;
}

static long long run(const struct job *job, int call, long long i, long long *len)
{
    const struct cyclic *c = job->more;
    (void)call;
    *len = c->block;
    return c->blocked ? (rank * job->nruns + i) * c->block : (i * nranks + rank) * c->block;
}

/* Floats of a block, and how many blocks a rank has. */
static long long find_bx(struct job *job, int which)
{
    long long list[LIST_MAX], blocks = option_number(job->opt, "blocks"), bx;
    if (blocks > 0) {
        option_list(job->opt, "size", list);
        bx = list[which] / (long long)sizeof(float) / nranks / blocks;
        job->nruns = blocks;
        return bx > 0 ? bx : 1;
    }
    option_list(job->opt, "bx", list);
    bx = list[which];
    job->nruns = option_number(job->opt, "size") / nranks / (bx * (long long)sizeof(float));
    if (job->nruns < 1)
        job->nruns = 1;
    return bx;
}

static void setup(struct job *job, int which)
{
    struct cyclic *c = need_memory(sizeof *c);
    long long bx = find_bx(job, which);
    job->more = c;
    job->access = option_access(job->opt);
    c->block = bx * (long long)sizeof(float);
    c->blocked = option_is(job->opt, "order", "block");
    must(MPI_Type_vector((int)job->nruns, (int)bx, (int)bx * nranks, MPI_FLOAT, &c->type),
         "the vector type");
    must(MPI_Type_commit(&c->type), "the vector type");
    job->run = run;
    job->calls = 1;
    job->bytes = job->nruns * c->block;
    job->extent = job->bytes * nranks;
    job->x = (double)bx;
    snprintf(job->name, sizeof job->name, "Bx = %lld floats", bx);
}

static void open_view(struct job *job)
{
    const struct cyclic *c = job->more;
    open_file(job);
    if (c->blocked)
        must(MPI_File_set_view(job->fh, rank * job->bytes, MPI_FLOAT, MPI_FLOAT, "native",
                               MPI_INFO_NULL),
             "MPI_File_set_view");
    else if (job->access != ACCESS_PIECES)
        must(MPI_File_set_view(job->fh, rank * c->block, MPI_FLOAT, c->type, "native",
                               MPI_INFO_NULL),
             "MPI_File_set_view");
}

static void move(struct job *job, int call, int write)
{
    const struct cyclic *c = job->more;
    if (job->access == ACCESS_PIECES && !c->blocked)
        access_pieces(job, call, write);
    else
        access_at(job, write, 0, job->buf, (int)(job->bytes / (long long)sizeof(float)),
                  MPI_FLOAT);
}

static void finish(struct job *job)
{
    struct cyclic *c = job->more;
    MPI_Type_free(&c->type);
    free(c);
}

const struct workload work_blockcyclic = {
    .name = "blockcyclic",
    .about = "a vector of floats dealt to the ranks in small blocks (paper 002)",
    .options = options,
    .cases = cases,
    .setup = setup,
    .open = open_view,
    .look = open_view,
    .move = move,
    .close = close_file,
    .fill = runs_fill,
    .check = runs_check,
    .verify = dense_verify,
    .prepare = nothing,
    .finish = finish,
};
