/* Latency-IO (paper 004): calls of growing length, the ranks' pieces side by side in each;
 * what a call costs, and from which length on the bandwidth is there. */
#include <stdio.h>
#include <stdlib.h>

#include "work/work.h"

static const struct option_entry options[] = {
    {"length", "16,1k,64k,1m", "bytes of one rank in one call; a case for each"},
    {"calls", "32", "calls in one repetition"},
    {"access", "coll", "coll or indep"},
    {NULL, NULL, NULL},
};

static int cases(const struct options *o)
{
    long long length[LIST_MAX], calls = option_number(o, "calls");
    int n = option_list(o, "length", length);
    for (int i = 0; i < n; i++)
        if (length[i] < 1 || length[i] > 1 << 30 || calls < 1 || calls > 1 << 24) {
            fprintf(stderr, "brio bench: --length takes 1 to 1g, --calls 1 to 16m\n");
            exit(2);
        }
    option_access(o);
    return n;
}

static long long run(const struct job *job, int call, long long i, long long *len)
{
    (void)i;
    *len = job->bytes;
    return ((long long)call * nranks + rank) * job->bytes;
}

static void setup(struct job *job, int which)
{
    long long length[LIST_MAX];
    option_list(job->opt, "length", length);
    job->access = option_access(job->opt);
    job->bytes = length[which];
    job->extent = length[which] * nranks;
    job->calls = (int)option_number(job->opt, "calls");
    job->nruns = 1;
    job->run = run;
    job->x = (double)length[which];
    snprintf(job->name, sizeof job->name, "%lld B a rank and call", length[which]);
}

static void move(struct job *job, int call, int write)
{
    long long len;
    access_at(job, write, run(job, call, 0, &len), job->buf, (int)job->bytes, MPI_BYTE);
}

const struct workload work_latency = {
    .name = "latency",
    .about = "Latency-IO: calls of growing length, contiguous over the ranks",
    .options = options,
    .cases = cases,
    .setup = setup,
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
