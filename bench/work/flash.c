/* FLASH I/O (paper 001): a checkpoint of 24 variables on blocks of cells, some 80 blocks a
 * rank, not the same number on each; a rank's part of a variable is contiguous, behind that of
 * the rank before. The plot files, a few per cent of the data, are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work/flash.h"

static const struct option_entry options[] = {
    {"blocks", "16", "blocks of the first rank; others have up to 2 more (the paper's: 80)"},
    {"side", "16", "cells of a block's side"},
    {"variables", "24", "how many"},
    {"through", "mpi", "mpi, or hdf5: parallel HDF5, which is timed from open to close"},
    {"access", "coll", "coll or indep"},
    {NULL, NULL, NULL},
};

static bool by_hdf5(const struct options *o)
{
    return option_is(o, "through", "hdf5");
}

static int cases(const struct options *o)
{
    long long blocks = option_number(o, "blocks"), side = option_number(o, "side");
    long long variables = option_number(o, "variables");
    option_access(o);
    if (!option_one_of(o, "through", "mpi hdf5"))
        exit(2);
    if (blocks < 1 || side < 1 || variables < 1 || variables > 1000 ||
        blocks * side * side * side > 1 << 27) {
        fprintf(stderr, "brio bench: --blocks, --side or --variables is out of range\n");
        exit(2);
    }
    if (by_hdf5(o) && !flash_has_hdf5) {
        fprintf(stderr,
                "brio bench: this program was built without parallel HDF5 for its MPI "
                "(libhdf5-%s-dev)\n",
                BRIO_MPI_NAME);
        exit(2);
    }
    if (by_hdf5(o) && option_is(o, "whole", "no")) {
        fprintf(stderr, "brio bench: HDF5 is timed from open to close\n");
        exit(2);
    }
    return 1;
}

static long long run(const struct job *job, int call, long long i, long long *len)
{
    const struct flash *f = job->more;
    long long block = (long long)f->side * f->side * f->side * 8;
    (void)i;
    *len = job->bytes;
    return (call * f->all + f->before) * block;
}

static void setup(struct job *job, int which)
{
    struct flash *f = need_memory(sizeof *f);
    (void)which;
    memset(f, 0, sizeof *f);
    job->more = f;
    f->side = (int)option_number(job->opt, "side");
    f->variables = (int)option_number(job->opt, "variables");
    f->blocks = option_number(job->opt, "blocks") + rank % 3;
    MPI_Exscan(&f->blocks, &f->before, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&f->blocks, &f->all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        f->before = 0;
    job->access = option_access(job->opt);
    job->bytes = f->blocks * f->side * f->side * f->side * 8;
    job->calls = f->variables;
    job->nruns = 1;
    job->run = run;
    job->x = nranks;
    snprintf(job->name, sizeof job->name, "%d variables, %lld blocks of %d^3%s", f->variables,
             f->all, f->side, by_hdf5(job->opt) ? ", through HDF5" : "");
}

static void open_either(struct job *job)
{
    if (by_hdf5(job->opt))
        flash_hdf5_open(job);
    else
        open_file(job);
}

static void close_either(struct job *job)
{
    if (job->fh == MPI_FILE_NULL)
        flash_hdf5_close(job);
    else
        close_file(job);
}

static void move(struct job *job, int call, int write)
{
    long long len, off = run(job, call, 0, &len);
    if (by_hdf5(job->opt))
        flash_hdf5_move(job, call, write);
    else
        access_at(job, write, off, job->buf, (int)(len / 8), MPI_DOUBLE);
}

static long long verify(struct job *job)
{
    return by_hdf5(job->opt) ? flash_hdf5_verify(job) : dense_verify(job);
}

static void finish(struct job *job)
{
    free(job->more);
}

const struct workload work_flash = {
    .name = "flash",
    .about = "FLASH I/O: a checkpoint of 24 variables, uneven over the ranks; also by HDF5",
    .options = options,
    .whole = true,
    .cases = cases,
    .setup = setup,
    .open = open_either,
    .look = open_file, /* HDF5 does not say which MPI-IO it uses */
    .move = move,
    .close = close_either,
    .fill = runs_fill,
    .check = runs_check,
    .verify = verify,
    .prepare = nothing,
    .finish = finish,
};
