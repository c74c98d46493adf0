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
 *          reads:BYTES:COUNT   COUNT reads of BYTES by each rank, anywhere in the first 4 MiB
 * WAY: coll, or the name of a cache for independent access.
 * Prints for each way: "ranks N PATTERN WAY: S s, MB MB/s, R of the first". */
#include "grid.h"

enum {
    WAYS = 6,
    REGION = 4 << 20 /* that is read */
};

struct work {
    const char *path;
    char pattern[64];
    int reads;            /* of COUNT blocks each */
    long size, count;     /* of them */
    int narrays;          /* in one checkpoint */
    int checkpoints;      /* or times that the array is written */
    struct boxes part[4]; /* this rank's, of each array */
    char *data[4];
};

static void hint(MPI_Info info, const char *key, const char *value)
{
    must(MPI_Info_set(info, key, value), "info");
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
    } else if (strcmp(name, "btio") == 0) {
        bt_boxes(&w->part[0], (int)a, 0);
        w->narrays = 1;
        w->checkpoints = (int)b;
    } else if (strcmp(name, "s3d") == 0) {
        set_s3d(w, (int)a, (int)b);
    } else if (strcmp(name, "reads") == 0 && a <= REGION) {
        w->reads = 1;
    } else {
        fail("reading the pattern");
    }
    for (int i = 0; i < w->narrays; i++) {
        w->data[i] = malloc((size_t)boxes_bytes(&w->part[i]) + 8);
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

/* ---- The ways -----------------------------------------------------------------------------
 */

/* One call for each row of each box. */
static void write_rows(MPI_File fh, const struct boxes *b, long long base, const char *data)
{
    for (int i = 0; i < b->n; i++) {
        const struct box *x = &b->box[i];
        int bytes = x->len[2] * b->elem;
        for (int j = 0; j < x->len[0] * x->len[1]; j++, data += bytes) {
            long long row =
                (long long)(x->lo[0] + j / x->len[1]) * b->dim[1] + x->lo[1] + j % x->len[1];
            MPI_Offset at = base + (row * b->dim[2] + x->lo[2]) * b->elem;
            must(MPI_File_write_at(fh, at, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE), "write");
        }
    }
}

static void write_collectively(MPI_File fh, const struct boxes *b, long long base,
                               const char *data, MPI_Datatype type)
{
    must(MPI_File_set_view(fh, base, MPI_DOUBLE, type, "native", MPI_INFO_NULL), "set_view");
    write_at_all(fh, data, (int)(boxes_bytes(b) / 8), MPI_DOUBLE);
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
                write_rows(fh, &w->part[i], base, w->data[i]);
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
        for (int k = 0; k < b->n; k++) {
            const struct box *x = &b->box[k];
            size_t bytes = (size_t)(x->len[2] * b->elem);
            for (int j = 0; j < x->len[0] * x->len[1]; j++, at += bytes) {
                long long row = (long long)(x->lo[0] + j / x->len[1]) * b->dim[1] + x->lo[1] +
                                j % x->len[1];
                off_t off = (off_t)(base + (row * b->dim[2] + x->lo[2]) * b->elem);
                if (pread(fd, at, bytes, off) != (ssize_t)bytes)
                    fail("reading back");
            }
        }
        if (boxes_words(b, array_base(w, 0, i), (uint64_t *)(void *)w->data[i], 1) != 0)
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
        mine += boxes_bytes(&w->part[i]) * w->checkpoints;
    if (w->reads)
        mine = (long long)w->size * w->count;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return (double)all / 1e6;
}

int main(int argc, char **argv)
{
    static struct work w;
    static double t[WAYS][BENCH_REPS];
    char *way[WAYS], *more = NULL;
    int nways = 0;
    bench_start(&argc, &argv, "cache");
    if (argc != 5) {
        if (rank == 0)
            fprintf(stderr, "usage: cache FILE PATTERN REPS WAY[,WAY...]\n");
        MPI_Finalize();
        return 2;
    }
    w.path = argv[1];
    set_up(&w, argv[2]);
    int reps = (int)bench_number(argc, argv, 3, 3, 1, BENCH_REPS);
    for (char *at = strtok_r(argv[4], ",", &more); at && nways < WAYS;
         at = strtok_r(NULL, ",", &more))
        way[nways++] = at;
    for (int rep = 0; rep < reps; rep++)
        for (int i = 0; i < nways; i++) {
            make_file(&w);
            for (int a = 0; a < w.narrays; a++)
                boxes_words(&w.part[a], array_base(&w, 0, a), (uint64_t *)(void *)w.data[a], 0);
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
