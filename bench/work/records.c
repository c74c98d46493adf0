/* One contiguous record a call and rank. Latency-IO (paper 004): records of growing length,
 * those of all ranks side by side in each call; what a call costs, and from which length on the
 * bandwidth is there. Small: each rank in a part of the file of its own, independently; what a
 * call costs over the bare system call. */
#include <stdio.h>
#include <stdlib.h>

#include "work/work.h"

static const struct option_entry latency_options[] = {
    {"length", "16,1k,64k,1m", "bytes of one rank in one call; a case for each"},
    {"calls", "32", "calls in one repetition"},
    {"access", "coll", "coll or indep"},
    {NULL, NULL, NULL},
};

static const struct option_entry small_options[] = {
    {"record", "512,4k", "bytes of a record; a case for each"},
    {"records", "2048", "of each rank"},
    {NULL, NULL, NULL},
};

/* How many cases; the first option of a table is the length, the second how many. */
static int check(const struct options *o, const struct option_entry *table)
{
    long long length[LIST_MAX], calls = option_number(o, table[1].name);
    int n = option_list(o, table[0].name, length);
    for (int i = 0; i < n; i++)
        if (length[i] < 1 || length[i] > 1 << 30 || calls < 1 || calls > 1 << 24) {
            fprintf(stderr, "brio bench: --%s takes 1 to 1g, --%s 1 to 16m\n", table[0].name,
                    table[1].name);
            exit(2);
        }
    return n;
}

static int latency_cases(const struct options *o)
{
    option_access(o);
    return check(o, latency_options);
}

static int small_cases(const struct options *o)
{
    return check(o, small_options);
}

static long long side_by_side(const struct job *job, int call, long long i, long long *len)
{
    (void)i;
    *len = job->bytes;
    return ((long long)call * nranks + rank) * job->bytes;
}

static long long apart(const struct job *job, int call, long long i, long long *len)
{
    (void)i;
    *len = job->bytes;
    return ((long long)rank * job->calls + call) * job->bytes;
}

static void set_up(struct job *job, int which, const struct option_entry *table)
{
    long long length[LIST_MAX];
    option_list(job->opt, table[0].name, length);
    job->bytes = length[which];
    job->extent = length[which] * nranks;
    job->calls = (int)option_number(job->opt, table[1].name);
    job->nruns = 1;
    job->x = (double)length[which];
}

static void latency_setup(struct job *job, int which)
{
    set_up(job, which, latency_options);
    job->access = option_access(job->opt);
    job->run = side_by_side;
    snprintf(job->name, sizeof job->name, "%lld B a rank and call", job->bytes);
}

static void small_setup(struct job *job, int which)
{
    set_up(job, which, small_options);
    job->access = ACCESS_INDEPENDENT;
    job->run = apart;
    snprintf(job->name, sizeof job->name, "records of %lld B", job->bytes);
}

static void move(struct job *job, int call, int write)
{
    long long len, off = job->run(job, call, 0, &len);
    access_at(job, write, off, job->buf, (int)len, MPI_BYTE);
}

const struct workload work_latency = {
    .name = "latency",
    .about = "Latency-IO: calls of growing length, contiguous over the ranks",
    .options = latency_options,
    .cases = latency_cases,
    .setup = latency_setup,
    .open = open_file,
    .look = open_file,
    .move = move,
    .close = close_file,
    .fill = runs_fill,
    .check = runs_check,
    .verify = dense_verify,
    .prepare = nothing,
    .finish = nothing,
};

const struct workload work_small = {
    .name = "small",
    .about = "small records, independently: the cost of a call over the bare system call",
    .options = small_options,
    .cases = small_cases,
    .setup = small_setup,
    .open = open_file,
    .look = open_file,
    .move = move,
    .close = close_file,
    .fill = runs_fill,
    .check = runs_check,
    .verify = dense_verify,
    .prepare = nothing,
    .finish = nothing,
};
