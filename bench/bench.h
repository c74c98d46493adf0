/* What the benchmarks of collective patterns share: clocks, the limit (the same bytes by
 * plain contiguous pwrite and pread from the same ranks), boxes of a 3-D array as a filetype,
 * and data whose every word says where in the file it belongs. Plain MPI programs: they run
 * with and without Brio preloaded. */
#ifndef BRIO_BENCH_H
#define BRIO_BENCH_H

#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    BENCH_REPS = 101, /* repetitions, at most */
    BENCH_BOXES = 64  /* of one rank */
};

static int rank, nranks;
static const char *program;

static inline void fail(const char *what)
{
    fprintf(stderr, "%s: rank %d: %s failed\n", program, rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void must(int rc, const char *what)
{
    if (rc != MPI_SUCCESS)
        fail(what);
}

static inline void bench_start(int *argc, char ***argv, const char *name)
{
    program = name;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
}

/* The i-th argument as a number from lo to hi. */
static inline long bench_number(int argc, char **argv, int i, long usual, long lo, long hi)
{
    long n = i < argc ? strtol(argv[i], NULL, 10) : usual;
    if (n < lo || n > hi)
        fail("reading the arguments");
    return n;
}

/* ---- Time -------------------------------------------------------------------------------- */

/* The machine's clock; MPI_Wtime may count from another moment on each rank. */
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double begin(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return now();
}

/* Seconds from when the first rank began until the last is done: with more ranks than cores
 * they do not begin together. */
static inline double since(double start)
{
    double mine[2] = {-start, now()}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all[1] + all[0];
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, bench_compare);
    return n % 2 ? t[n / 2] : (t[n / 2 - 1] + t[n / 2]) / 2;
}

/* ---- Boxes of an array ------------------------------------------------------------------- */

struct box {
    int lo[3], len[3];
};

/* A rank's part of an array of dim[0] x dim[1] x dim[2] elements, the last index fastest:
 * boxes that follow each other in the file. */
struct boxes {
    int dim[3];
    int elem; /* bytes of an element, a multiple of 8 */
    int n;
    struct box box[BENCH_BOXES];
};

static inline long long boxes_elements(const struct boxes *b)
{
    long long n = 0;
    for (int i = 0; i < b->n; i++)
        n += (long long)b->box[i].len[0] * b->box[i].len[1] * b->box[i].len[2];
    return n;
}

static inline long long boxes_bytes(const struct boxes *b)
{
    return boxes_elements(b) * b->elem;
}

static inline long long boxes_extent(const struct boxes *b)
{
    return (long long)b->dim[0] * b->dim[1] * b->dim[2] * b->elem;
}

/* One element as a datatype, for views and for memory. */
static inline MPI_Datatype element_type(int bytes)
{
    MPI_Datatype type;
    must(MPI_Type_contiguous(bytes / 8, MPI_DOUBLE, &type), "the element");
    must(MPI_Type_commit(&type), "commit");
    return type;
}

/* A subarray for one box, a struct of them for several; a rank without any gets one element
 * that it does not use. */
static inline MPI_Datatype boxes_type(const struct boxes *b)
{
    MPI_Datatype elem = element_type(b->elem), part[BENCH_BOXES], all;
    MPI_Aint at[BENCH_BOXES] = {0};
    int len[BENCH_BOXES];
    if (b->n == 0)
        return elem;
    for (int i = 0; i < b->n; i++) {
        len[i] = 1;
        must(MPI_Type_create_subarray(3, b->dim, b->box[i].len, b->box[i].lo, MPI_ORDER_C, elem,
                                      &part[i]),
             "subarray");
    }
    all = part[0];
    if (b->n > 1) {
        must(MPI_Type_create_struct(b->n, len, at, part, &all), "struct");
        for (int i = 0; i < b->n; i++)
            MPI_Type_free(&part[i]);
    }
    MPI_Type_free(&elem);
    must(MPI_Type_commit(&all), "commit");
    return all;
}

/* Fills the buffer, in file order, with words that say where they belong, or counts those
 * that are not so. `base` is where in the file the array begins. */
static inline long long boxes_words(const struct boxes *b, long long base, uint64_t *buf,
                                    int check)
{
    int words = b->elem / 8;
    long long bad = 0;
    for (int i = 0; i < b->n; i++) {
        const struct box *x = &b->box[i];
        for (int j = 0; j < x->len[0] * x->len[1]; j++) {
            long long row =
                (long long)(x->lo[0] + j / x->len[1]) * b->dim[1] + x->lo[1] + j % x->len[1];
            uint64_t at = (uint64_t)(base / 8 + (row * b->dim[2] + x->lo[2]) * words);
            for (int k = 0; k < x->len[2] * words; k++, buf++) {
                uint64_t word = (at + (uint64_t)k) * 0x9e3779b97f4a7c15u;
                if (check)
                    bad += *buf != word;
                else
                    *buf = word;
            }
        }
    }
    return bad;
}

/* Part i of n of a side: even, or each part larger than the one before. */
static inline int cut(int i, int n, int side, int uneven)
{
    return uneven ? (int)((long long)side * i * (i + 1) / ((long long)n * (n + 1)))
                  : (int)((long long)side * i / n);
}

/* A tile of a 2-D array on a grid of ranks (MPI-TILE-IO). */
static inline void tile_boxes(struct boxes *b, int height, int width, int elem, int uneven)
{
    int grid[2] = {0, 0};
    MPI_Dims_create(nranks, 2, grid);
    int y = rank / grid[1], x = rank % grid[1];
    memset(b, 0, sizeof *b);
    b->dim[0] = 1;
    b->dim[1] = height;
    b->dim[2] = width;
    b->elem = elem;
    int y0 = cut(y, grid[0], height, uneven), y1 = cut(y + 1, grid[0], height, uneven);
    int x0 = cut(x, grid[1], width, uneven), x1 = cut(x + 1, grid[1], width, uneven);
    if (y0 < y1 && x0 < x1)
        b->box[b->n++] = (struct box){{0, y0, x0}, {1, y1 - y0, x1 - x0}};
}

static inline int square_root(int n)
{
    int q = 1;
    while ((q + 1) * (q + 1) <= n)
        q++;
    return q;
}

/* NPB BT's diagonal multi-partition of a cube of 5 doubles a point: on q x q ranks each has q
 * cells, one in each slab. Ranks beyond the square have none. */
static inline void bt_boxes(struct boxes *b, int side, int uneven)
{
    int q = square_root(nranks);
    memset(b, 0, sizeof *b);
    b->dim[0] = b->dim[1] = b->dim[2] = side;
    b->elem = 40;
    for (int c = 0; c < q && rank < q * q; c++) {
        int at[3] = {c, ((rank / q - c) % q + q) % q, (rank % q + c) % q};
        struct box x;
        for (int d = 0; d < 3; d++) {
            x.lo[d] = cut(at[d], q, side, uneven);
            x.len[d] = cut(at[d] + 1, q, side, uneven) - x.lo[d];
        }
        if (x.len[0] && x.len[1] && x.len[2])
            b->box[b->n++] = x;
    }
}

/* ---- Measuring --------------------------------------------------------------------------- */

/* `calls` accesses of `bytes` a rank each: collectively by `move`, and plainly. */
struct job {
    const char *name;
    int fd;
    char *buf;      /* this rank's data of one call */
    long long here; /* bytes of lower ranks in one call */
    long long bytes, all;
    int calls;
    void (*move)(struct job *job, int write);
    void (*fill)(struct job *job);
    long long (*check)(struct job *job); /* words that are wrong */
    void *more;
};

/* `bytes` is known on each rank. */
static inline void job_share(struct job *job)
{
    must(MPI_Exscan(&job->bytes, &job->here, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD),
         "scan");
    must(MPI_Allreduce(&job->bytes, &job->all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD),
         "sum");
    if (rank == 0)
        job->here = 0;
    job->buf = malloc((size_t)job->bytes + 8);
    if (!job->buf)
        fail("malloc");
}

static inline double plainly(const struct job *job, int write)
{
    double start = begin();
    for (int i = 0; i < job->calls; i++)
        for (long long done = 0; done < job->bytes;) {
            off_t at = (off_t)(i * job->all + job->here + done);
            size_t n = (size_t)(job->bytes - done);
            ssize_t k = write ? pwrite(job->fd, job->buf + done, n, at)
                              : pread(job->fd, job->buf + done, n, at);
            if (k <= 0)
                fail("plain access");
            done += k;
        }
    return since(start);
}

static inline double collectively(struct job *job, int write)
{
    double start = begin();
    job->move(job, write);
    return since(start);
}

/* Both ways in alternation, medians, data checked once before and once at the end. */
static inline void job_measure(struct job *job, int reps)
{
    static double t[4][BENCH_REPS];
    double m[4], mb = (double)job->all * job->calls / 1e6;
    for (int i = 0; i <= reps; i++) { /* the first time does not count */
        int at = i > 0 ? i - 1 : 0, look = i == 0 || i == reps;
        t[0][at] = plainly(job, 1);
        t[1][at] = plainly(job, 0);
        job->fill(job);
        t[2][at] = collectively(job, 1);
        memset(job->buf, 0, (size_t)job->bytes);
        t[3][at] = collectively(job, 0);
        if (look && job->check(job) != 0)
            fail("the data");
    }
    for (int i = 0; i < 4; i++)
        m[i] = median(t[i], reps);
    if (rank == 0)
        printf("ranks %d %s: write %.1f of %.1f MB/s (%.2f of the limit), read %.1f of %.1f "
               "(%.2f)\n",
               nranks, job->name, mb / m[2], mb / m[0], m[0] / m[2], mb / m[3], mb / m[1],
               m[1] / m[3]);
    fflush(stdout);
    free(job->buf);
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline MPI_File bench_open(const char *path, MPI_Info info)
{
    MPI_File fh;
    must(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh),
         "open");
    return fh;
}

/* One collective call with an explicit offset, its count checked. */
static inline void access_all(MPI_File fh, int write, MPI_Offset off, void *buf, int count,
                              MPI_Datatype type)
{
    MPI_Status status;
    int got;
    must(write ? MPI_File_write_at_all(fh, off, buf, count, type, &status)
               : MPI_File_read_at_all(fh, off, buf, count, type, &status),
         "collective access");
    MPI_Get_count(&status, type, &got);
    if (got != count)
        fail("the count");
}

#endif
