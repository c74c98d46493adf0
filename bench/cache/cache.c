/* Small independent writes to one shared file, one call for each contiguous run, with and
 * without a cache; the same data collectively; and small reads of a shared region, again and
 * again. A plain MPI program: without Brio the settings mean nothing and the MPI's own I/O is
 * measured. Times are from before the open until after the close, as in paper 001.
 *
 *     cache FILE PATTERN REPS WAY[,WAY...]
 *
 * PATTERN: blocks:BYTES:COUNT  blocks of all ranks in turn, so many of each
 *          btio:SIDE:ARRAYS    NPB BT's cells of a cube of 5 doubles a point, array on array
 *          s3d:SIDE:CHECKPOINTS  S3D's four arrays, SIDE^3 points a rank
 *          btiorows, s3drows   the same, one call for each row of points, also where the next
 *                              one goes on in the file (NPB's "simple" access)
 *          reads:BYTES:COUNT   COUNT reads of BYTES by each rank, anywhere in the first 4 MiB
 * WAY: coll, or the name of a cache for independent access.
 * Prints for each way: "ranks N PATTERN WAY: S s, MB MB/s, R of the first". */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

enum {
    WAYS = 6,
    REPS = 101,      /* at most */
    REGION = 4 << 20 /* that is read */
};

int rank, nranks;

void fail(const char *what)
{
    fprintf(stderr, "cache: rank %d: %s failed\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void must(int rc, const char *what)
{
    if (rc != MPI_SUCCESS)
        fail(what);
}

struct work {
    const char *path;
    char pattern[64];
    int reads;            /* of COUNT blocks each */
    long size, count;     /* of them */
    int narrays;          /* in one checkpoint */
    int checkpoints;      /* or times that the array is written */
    int rows;             /* one call for each of them */
    struct boxes part[4]; /* this rank's, of each array */
    char *data[4];
};

/* ---- Time -------------------------------------------------------------------------------- */

/* The machine's clock; MPI_Wtime may count from another moment on each rank. */
double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double begin(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return now();
}

/* Seconds from when the first rank began until the last is done: with more ranks than cores
 * they do not begin together. */
static double since(double start)
{
    double mine[2] = {-start, now()}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all[1] + all[0];
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, by_size);
    return n % 2 ? t[n / 2] : (t[n / 2 - 1] + t[n / 2]) / 2;
}

static void hint(MPI_Info info, const char *key, const char *value)
{
    must(MPI_Info_set(info, key, value), "info");
}

static long long bytes_of(const struct boxes *b)
{
    return boxes_elements(b) * b->elem;
}

/* ---- What is written ----------------------------------------------------------------------
 */

static void set_blocks(struct work *w, long size, long count)
{
    struct boxes *b = &w->part[0];
    b->dim[0] = 1;
    b->dim[1] = (int)count;
    b->dim[2] = nranks;
    b->elem = (int)size;
    b->n = 1;
    b->box[0] = (struct box){{0, 0, rank}, {1, (int)count, 1}};
    boxes_done(b);
    w->narrays = w->checkpoints = 1;
}

/* Four arrays of 11, 3, 1 and 1 doubles a point, the components as planes. */
static void set_s3d(struct work *w, int side, int checkpoints)
{
    static const int components[4] = {11, 3, 1, 1};
    int grid[3] = {0, 0, 0};
    MPI_Dims_create(nranks, 3, grid);
    int at[3] = {rank / (grid[1] * grid[2]), rank / grid[2] % grid[1], rank % grid[2]};
    for (int a = 0; a < 4; a++) {
        struct boxes *b = &w->part[a];
        b->dim[0] = components[a] * grid[0] * side;
        b->dim[1] = grid[1] * side;
        b->dim[2] = grid[2] * side;
        b->elem = 8;
        for (int c = 0; c < components[a]; c++)
            b->box[b->n++] =
                (struct box){{c * grid[0] * side + at[0] * side, at[1] * side, at[2] * side},
                             {side, side, side}};
        boxes_done(b);
    }
    w->narrays = 4;
    w->checkpoints = checkpoints;
}

static void set_up(struct work *w, const char *pattern)
{
    char name[16];
    long a = 0, b = 0;
    if (sscanf(pattern, "%15[a-z0-9]:%ld:%ld", name, &a, &b) != 3 || a < 1 || b < 1)
        fail("reading the pattern");
    snprintf(w->pattern, sizeof w->pattern, "%s", pattern);
    w->size = a;
    w->count = b;
    if (strcmp(name, "blocks") == 0 && a % 8 == 0) {
        set_blocks(w, a, b);
    } else if (strncmp(name, "btio", 4) == 0 && (!name[4] || strcmp(name + 4, "rows") == 0)) {
        w->rows = name[4] != '\0';
        boxes_bt(&w->part[0], (int)a, false);
        w->narrays = 1;
        w->checkpoints = (int)b;
    } else if (strncmp(name, "s3d", 3) == 0 && (!name[3] || strcmp(name + 3, "rows") == 0)) {
        w->rows = name[3] != '\0';
        set_s3d(w, (int)a, (int)b);
    } else if (strcmp(name, "reads") == 0 && a <= REGION) {
        w->reads = 1;
    } else {
        fail("reading the pattern");
    }
    for (int i = 0; i < w->narrays; i++) {
        w->data[i] = malloc((size_t)bytes_of(&w->part[i]) + 8);
        if (!w->data[i])
            fail("malloc");
    }
}

static long long array_base(const struct work *w, int checkpoint, int array)
{
    long long base = 0, all = 0;
    for (int i = 0; i < w->narrays; i++) {
        base += i < array ? boxes_extent(&w->part[i]) : 0;
        all += boxes_extent(&w->part[i]);
    }
    return checkpoint * all + base;
}

/* Fills the data of an array with words that say where in the first checkpoint they belong, or
 * counts those that are not so. */
static long long visit_words(const struct work *w, int array, bool fill)
{
    const struct boxes *b = &w->part[array];
    uint64_t *word = (uint64_t *)(void *)w->data[array];
    long long bad = 0;
    for (long long i = 0, len; i < b->rows[b->n]; i++) {
        uint64_t at = (uint64_t)(array_base(w, 0, array) + boxes_row(b, i, &len)) / 8;
        for (long long k = 0; k < len / 8; k++, word++) {
            uint64_t want = (at + (uint64_t)k) * 0x9e3779b97f4a7c15u;
            if (fill)
                *word = want;
            bad += *word != want;
        }
    }
    return bad;
}

/* ---- The ways -----------------------------------------------------------------------------
 */

/* One call for each row of each box, or for rows that touch. */
static void write_runs(MPI_File fh, const struct boxes *b, long long base, const char *data,
                       int rows)
{
    const long long n = b->rows[b->n];
    long long len = 0, next_len = 0, next = n > 0 ? boxes_row(b, 0, &next_len) : 0;
    for (long long i = 0; i < n; data += len) {
        long long at = next;
        len = 0;
        do {
            len += next_len;
            next = ++i < n ? boxes_row(b, i, &next_len) : -1;
        } while (!rows && next == at + len);
        must(MPI_File_write_at(fh, base + at, data, (int)len, MPI_BYTE, MPI_STATUS_IGNORE),
             "write");
    }
}

static void write_collectively(MPI_File fh, const struct boxes *b, long long base,
                               const char *data, MPI_Datatype type)
{
    MPI_Status status;
    int count = (int)bytes_of(b), got;
    must(MPI_File_set_view(fh, base, MPI_BYTE, type, "native", MPI_INFO_NULL), "set_view");
    must(MPI_File_write_at_all(fh, 0, data, count, MPI_BYTE, &status), "collective access");
    MPI_Get_count(&status, MPI_BYTE, &got);
    if (got != count)
        fail("the count");
}

static void write_all(const struct work *w, MPI_File fh, int coll)
{
    MPI_Datatype type[4];
    for (int i = 0; i < w->narrays && coll; i++)
        type[i] = boxes_type(&w->part[i]);
    for (int c = 0; c < w->checkpoints; c++)
        for (int i = 0; i < w->narrays; i++) {
            long long base = array_base(w, c, i);
            if (coll)
                write_collectively(fh, &w->part[i], base, w->data[i], type[i]);
            else
                write_runs(fh, &w->part[i], base, w->data[i], w->rows);
        }
    for (int i = 0; i < w->narrays && coll; i++)
        MPI_Type_free(&type[i]);
}

static void read_all(const struct work *w, MPI_File fh)
{
    char *buf = malloc((size_t)w->size);
    uint64_t state = (uint64_t)rank + 1;
    if (!buf)
        fail("malloc");
    for (long i = 0; i < w->count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        MPI_Offset at = (MPI_Offset)(state >> 33) % (REGION / w->size) * w->size;
        must(MPI_File_read_at(fh, at, buf, (int)w->size, MPI_BYTE, MPI_STATUS_IGNORE), "read");
        if (buf[0] != (char)(at >> 10) || buf[w->size - 1] != (char)((at + w->size - 1) >> 10))
            fail("the data");
    }
    free(buf);
}

static double run(const struct work *w, const char *way)
{
    MPI_File fh;
    MPI_Info info;
    int coll = strcmp(way, "coll") == 0;
    int amode = w->reads ? MPI_MODE_RDONLY : MPI_MODE_WRONLY | MPI_MODE_CREATE;
    must(MPI_Info_create(&info), "info");
    if (!coll)
        hint(info, "cache", way);
    double start = begin();
    must(MPI_File_open(MPI_COMM_WORLD, w->path, amode, info, &fh), "open");
    if (w->reads)
        read_all(w, fh);
    else
        write_all(w, fh, coll);
    must(MPI_File_close(&fh), "close");
    double t = since(start);
    MPI_Info_free(&info);
    return t;
}

/* ---- Around it ----------------------------------------------------------------------------
 */

/* Each rank looks at its own words of the last checkpoint, by system calls. */
static void check(const struct work *w)
{
    int fd = open(w->path, O_RDONLY);
    for (int i = 0; i < w->narrays; i++) {
        const struct boxes *b = &w->part[i];
        long long base = array_base(w, w->checkpoints - 1, i);
        char *at = w->data[i];
        for (long long j = 0, len; j < b->rows[b->n]; j++, at += len) {
            off_t off = (off_t)(base + boxes_row(b, j, &len));
            if (pread(fd, at, (size_t)len, off) != len)
                fail("reading back");
        }
        if (visit_words(w, i, false) != 0)
            fail("the data");
    }
    close(fd);
}

/* The region that is read, or nothing. */
static void make_file(const struct work *w)
{
    MPI_Barrier(MPI_COMM_WORLD); /* nobody looks at the last one any more */
    if (rank == 0) {
        unlink(w->path);
        if (w->reads) {
            char *all = malloc(REGION);
            int fd = open(w->path, O_WRONLY | O_CREAT, 0666);
            for (long i = 0; all && i < REGION; i++)
                all[i] = (char)(i >> 10);
            if (!all || write(fd, all, REGION) != REGION)
                fail("making the file");
            close(fd);
            free(all);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static double count_mb(const struct work *w)
{
    long long mine = 0, all = 0;
    for (int i = 0; i < w->narrays; i++)
        mine += bytes_of(&w->part[i]) * w->checkpoints;
    if (w->reads)
        mine = (long long)w->size * w->count;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return (double)all / 1e6;
}

int main(int argc, char **argv)
{
    static struct work w;
    static double t[WAYS][REPS];
    char *way[WAYS], *more = NULL;
    int nways = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (argc != 5) {
        if (rank == 0)
            fprintf(stderr, "usage: cache FILE PATTERN REPS WAY[,WAY...]\n");
        MPI_Finalize();
        return 2;
    }
    w.path = argv[1];
    set_up(&w, argv[2]);
    int reps = atoi(argv[3]);
    if (reps < 1 || reps > REPS)
        fail("reading the number of repetitions");
    for (char *at = strtok_r(argv[4], ",", &more); at && nways < WAYS;
         at = strtok_r(NULL, ",", &more))
        way[nways++] = at;
    for (int rep = 0; rep < reps; rep++)
        for (int i = 0; i < nways; i++) {
            make_file(&w);
            for (int a = 0; a < w.narrays; a++)
                visit_words(&w, a, true);
            t[i][rep] = run(&w, way[i]);
            if (rep == 0)
                check(&w);
        }
    double mb = count_mb(&w), first = 0;
    for (int i = 0; i < nways; i++) {
        double m = median(t[i], reps);
        first = i == 0 ? m : first;
        if (rank == 0)
            printf("ranks %d %s %s: %.4f s, %.1f MB/s, %.2f of the first\n", nranks, w.pattern,
                   way[i], m, mb / m, first / m);
    }
    if (rank == 0)
        unlink(w.path);
    MPI_Finalize();
    return 0;
}
