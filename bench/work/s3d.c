/* S3D I/O (paper 001): checkpoints of four arrays on a 3-D block partition - mass (11
 * components), velocity (3), pressure, temperature - each with a view of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work/work.h"

enum {
    ARRAYS = 4
};

static const int components[ARRAYS] = {11, 3, 1, 1};

static const struct option_entry options[] = {
    {"side", "24", "points of a side of one rank's box (the paper's: 50)"},
    {"checkpoints", "2", "how many, one after the other in the file (the paper's: 10)"},
    {"access", "coll", "coll, indep, or pieces (a call for each row)"},
    {NULL, NULL, NULL},
};

struct s3d {
    int side;
    int size[3], start[3]; /* of the whole array; of this rank's box */
    MPI_Datatype type[ARRAYS];
    long long before[ARRAYS + 1]; /* bytes of the file before an array, of a checkpoint */
    int *lens;
};

static int cases(const struct options *o)
{
    long long side = option_number(o, "side"), n = option_number(o, "checkpoints");
    option_access(o);
    if (side < 1 || side > 400 || n < 1 || n > 1000) {
        fprintf(stderr, "brio bench: --side takes 1 to 400, --checkpoints 1 to 1000\n");
        exit(2);
    }
    return 1;
}

/* Row i of the array that a call is about; nothing beyond its last one. */
static long long run(const struct job *job, int call, long long i, long long *len)
{
    const struct s3d *s = job->more;
    int a = call % ARRAYS;
    long long rows = (long long)s->side * s->side, part = i / rows, y = i % rows % s->side;
    *len = part < components[a] ? s->side * 8ll : 0;
    long long z = part * s->size[0] + s->start[0] + i % rows / s->side;
    return call / ARRAYS * s->before[ARRAYS] + s->before[a] +
           ((z * s->size[1] + s->start[1] + y) * s->size[2] + s->start[2]) * 8;
}

static void make_types(struct s3d *s)
{
    for (int a = 0; a < ARRAYS; a++) {
        int size[4] = {components[a], s->size[0], s->size[1], s->size[2]};
        int sub[4] = {components[a], s->side, s->side, s->side};
        int start[4] = {0, s->start[0], s->start[1], s->start[2]};
        must(
            MPI_Type_create_subarray(4, size, sub, start, MPI_ORDER_C, MPI_DOUBLE, &s->type[a]),
            "the subarray type");
        must(MPI_Type_commit(&s->type[a]), "the subarray type");
    }
}

static void setup(struct job *job, int which)
{
    int grid[3] = {0, 0, 0};
    struct s3d *s = need_memory(sizeof *s);
    (void)which;
    memset(s, 0, sizeof *s);
    job->more = s;
    job->access = option_access(job->opt);
    s->side = (int)option_number(job->opt, "side");
    MPI_Dims_create(nranks, 3, grid);
    int at[3] = {rank / (grid[1] * grid[2]), rank / grid[2] % grid[1], rank % grid[2]};
    for (int d = 0; d < 3; d++) {
        s->size[d] = s->side * grid[d];
        s->start[d] = s->side * at[d];
    }
    make_types(s);
    long long box = (long long)s->side * s->side * s->side * 8;
    for (int a = 0; a < ARRAYS; a++)
        s->before[a + 1] = s->before[a] + box * components[a] * nranks;
    job->calls = ARRAYS * (int)option_number(job->opt, "checkpoints");
    s->lens = need_memory(job->calls * (long long)sizeof *s->lens);
    for (int i = 0; i < job->calls; i++)
        s->lens[i] = (int)(box * components[i % ARRAYS]);
    job->lens = s->lens;
    job->bytes = box * components[0];
    job->nruns = (long long)components[0] * s->side * s->side;
    job->run = run;
    job->x = nranks;
    snprintf(job->name, sizeof job->name, "%d^3 points a rank, %d checkpoints", s->side,
             job->calls / ARRAYS);
}

static void move(struct job *job, int call, int write)
{
    const struct s3d *s = job->more;
    int a = call % ARRAYS;
    if (job->access == ACCESS_PIECES) {
        access_pieces(job, call, write);
        return;
    }
    must(MPI_File_set_view(job->fh, call / ARRAYS * s->before[ARRAYS] + s->before[a],
                           MPI_DOUBLE, s->type[a], "native", MPI_INFO_NULL),
         "MPI_File_set_view");
    access_at(job, write, 0, job->buf, s->lens[call] / 8, MPI_DOUBLE);
}

static void finish(struct job *job)
{
    struct s3d *s = job->more;
    for (int a = 0; a < ARRAYS; a++)
        MPI_Type_free(&s->type[a]);
    free(s->lens);
    free(s);
}

const struct workload work_s3d = {
    .name = "s3d",
    .about = "S3D I/O: checkpoints of four arrays, one of each in boxes of 3-D space",
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
    .finish = finish,
};
