/* What bench/cache/cache.c stands on: clocks, and boxes of a 3-D array as rows and as a
 * filetype, with data whose every word says where in the file it belongs. */
#ifndef BRIO_BENCH_GRID_H
#define BRIO_BENCH_GRID_H

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

/* One collective call from the beginning of the view, its count checked. */
static inline void write_at_all(MPI_File fh, const void *buf, int count, MPI_Datatype type)
{
    MPI_Status status;
    int got;
    must(MPI_File_write_at_all(fh, 0, buf, count, type, &status), "collective access");
    MPI_Get_count(&status, type, &got);
    if (got != count)
        fail("the count");
}

#endif
