/* Small contiguous records, each rank in a part of the file of its own, independently: what a
 * call costs over the bare system call. */
#include <stdio.h>
#include <stdlib.h>

#include "work/work.h"

static const struct option_entry options[] = {
    {"record", "512,4k", "bytes of a record; a case for each"},
    {"records", "2048", "of each rank"},
    {NULL, NULL, NULL},
};

static int cases(const struct options *o)
{
    long long record[LIST_MAX], records = option_number(o, "records");
    int n = option_list(o, "record", record);
    for (int i = 0; i < n; i++)
        if (record[i] < 1 || record[i] > 1 << 30 || records < 1 || records > 1 << 24) {
            fprintf(stderr, "brio bench: --record takes 1 to 1g, --records 1 to 16m\n");
            exit(2);
        }
    return n;
}

static long long run(const struct job *job, int call, long long i, long long *len)
{
    (void)i;
    *len = job->bytes;
    return ((long long)rank * job->calls + call) * job->bytes;
}

static void setup(struct job *job, int which)
{
    long long record[LIST_MAX];
    option_list(job->opt, "record", record);
    job->access = ACCESS_INDEPENDENT;
    job->bytes = record[which];
    job->extent = record[which] * nranks;
    job->calls = (int)option_number(job->opt, "records");
    job->nruns = 1;
    job->run = run;
    job->x = (double)record[which];
    snprintf(job->name, sizeof job->name, "records of %lld B", record[which]);
}

static void move(struct job *job, int call, int write)
{
    long long len;
    access_at(job, write, run(job, call, 0, &len), job->buf, (int)job->bytes, MPI_BYTE);
}

const struct workload work_small = {
    .name = "small",
    .about = "small records, independently: the cost of a call over the bare system call",
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
