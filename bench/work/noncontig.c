/* Small blocks with gaps between them, each rank in a part of the file of its own, contiguous
 * in memory or not. The gaps must stay as they were. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "work/work.h"

static const struct option_entry options[] = {
    {"block", "4,64,4k", "bytes of a block; a case for each"},
    {"gap", "3", "bytes between blocks, as a multiple of the block"},
    {"size", "8m", "bytes of data of all ranks together"},
    {"memory", "contiguous", "contiguous, or gaps: blocks lie apart in memory, too"},
    {"access", "indep", "indep or coll"},
    {NULL, NULL, NULL},
};

struct noncontig {
    long long block, stride;
    bool apart;
    char *wide; /* the blocks with gaps in memory, or NULL */
    MPI_Datatype file, memory;
};

static int cases(const struct options *o)
{
    long long block[LIST_MAX];
    int n = option_list(o, "block", block);
    for (int i = 0; i < n; i++)
        if (block[i] < 1 || block[i] > 1 << 24 || option_number(o, "gap") > 1000) {
            fprintf(stderr, "brio bench: --block takes 1 to 16m, --gap at most 1000\n");
            exit(2);
        }
    option_number(o, "size");
    option_access(o);
    if (!option_one_of(o, "memory", "contiguous gaps"))
        exit(2);
    return n;
}

static long long begin(const struct job *job)
{
    const struct noncontig *c = job->more;
    return rank * job->nruns * c->stride;
}

static long long run(const struct job *job, int call, long long i, long long *len)
{
    const struct noncontig *c = job->more;
    (void)call;
    *len = c->block;
    return begin(job) + i * c->stride;
}

static MPI_Datatype vector(long long n, long long block, long long stride)
{
    MPI_Datatype type;
    must(MPI_Type_create_hvector((int)n, (int)block, (MPI_Aint)stride, MPI_BYTE, &type),
         "the vector type");
    must(MPI_Type_commit(&type), "the vector type");
    return type;
}

static void setup(struct job *job, int which)
{
    long long block[LIST_MAX];
    struct noncontig *c = need_memory(sizeof *c);
    memset(c, 0, sizeof *c);
    job->more = c;
    option_list(job->opt, "block", block);
    job->access = option_access(job->opt);
    c->block = block[which];
    c->stride = c->block * (1 + option_number(job->opt, "gap"));
    c->apart = option_is(job->opt, "memory", "gaps");
    job->nruns = option_number(job->opt, "size") / nranks / c->block;
    if (job->nruns < 1)
        job->nruns = 1;
    job->run = run;
    job->calls = 1;
    job->bytes = job->nruns * c->block;
    c->file = vector(job->nruns, c->block, c->stride);
    c->memory = vector(job->nruns, c->block, 2 * c->block);
    if (c->apart)
        c->wide = need_memory(2 * job->bytes);
    job->x = (double)c->block;
    snprintf(job->name, sizeof job->name, "blocks of %lld B, %lld apart%s", c->block, c->stride,
             c->apart ? ", in memory, too" : "");
}

static void open_view(struct job *job)
{
    const struct noncontig *c = job->more;
    open_file(job);
    must(MPI_File_set_view(job->fh, begin(job), MPI_BYTE, c->file, "native", MPI_INFO_NULL),
         "MPI_File_set_view");
}

static void move(struct job *job, int call, int write)
{
    const struct noncontig *c = job->more;
    (void)call;
    if (c->apart)
        access_at(job, write, 0, c->wide, 1, c->memory);
    else
        access_at(job, write, 0, job->buf, (int)job->bytes, MPI_BYTE);
}

/* Between the packed buffer and the one with gaps. */
static void spread(const struct job *job, bool out)
{
    const struct noncontig *c = job->more;
    size_t n = (size_t)c->block;
    for (long long i = 0; c->apart && i < job->nruns; i++) {
        char *packed = job->buf + i * c->block, *wide = c->wide + 2 * i * c->block;
        memcpy(out ? wide : packed, out ? packed : wide, n);
    }
}

static void fill(struct job *job, int call)
{
    runs_fill(job, call);
    spread(job, true);
}

static long long check(struct job *job, int call)
{
    spread(job, false);
    return runs_check(job, call);
}

/* Blocks and gaps, one after the other. */
static long long verify(struct job *job)
{
    const struct noncontig *c = job->more;
    int fd = open(job->path, O_RDONLY);
    char *piece = need_memory(c->stride);
    long long bad = 0;
    for (long long i = 0; i < job->nruns; i++) {
        long long at = begin(job) + i * c->stride;
        memset(piece, 0, (size_t)c->stride);
        if (fd < 0 || pread(fd, piece, (size_t)c->stride, (off_t)at) < c->block)
            bad += c->block;
        bad += data_check(piece, at, c->block, job->seed);
        for (long long k = c->block; k < c->stride; k++)
            bad += piece[k] != 0;
    }
    if (fd >= 0)
        close(fd);
    free(piece);
    return bad;
}

static void finish(struct job *job)
{
    struct noncontig *c = job->more;
    MPI_Type_free(&c->file);
    MPI_Type_free(&c->memory);
    free(c->wide);
    free(c);
}

const struct workload work_noncontig = {
    .name = "noncontig",
    .about = "small blocks with gaps, in the file and in memory",
    .options = options,
    .cases = cases,
    .setup = setup,
    .open = open_view,
    .look = open_view,
    .move = move,
    .close = close_file,
    .fill = fill,
    .check = check,
    .verify = verify,
    .prepare = nothing,
    .finish = finish,
};
