/* The demonstration: an ordinary MPI program, without any header of Brio's, that writes and
 * reads a 2-D array of 4-byte elements which the ranks share in two ways:
 *
 *     tiles    each rank has one rectangle, so runs of some KiB in the file
 *     columns  column j belongs to rank j mod n, so single elements of 4 bytes
 *
 * each with collective and with independent calls. Every rank reads what another one wrote
 * and checks every element.
 *
 *     demo DIR TAG [plain]
 *
 * Leaves DIR/TAG-<case>-<calls>.dat; with `plain`, DIR/TAG-<case>.dat, made by one rank
 * without MPI-IO to compare with. Rank 0 prints lines for demo.sh:
 *     mpi NAME
 *     io NAME
 *     result CASE CALLS write|read BYTES SECONDS
 * A time is that of the slowest rank, from before the open to after the close. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 128 MiB of rectangles; 4 MiB of columns, which OMPIO takes many seconds for. */
enum {
    ROWS = 2048,
    TILED_COLS = 16384,
    CYCLIC_COLS = 512
};

static int rank, nranks;

struct share {
    const char *name;
    int rows, cols;                       /* of the whole array */
    MPI_Datatype filetype;                /* what `who` has of it */
    int row, col, nrows, ncols, col_step; /* the same, for us */
};

static void stop(const char *what)
{
    fprintf(stderr, "demo: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void must(int err, const char *what)
{
    char text[MPI_MAX_ERROR_STRING + 128];
    int len = 0, used;
    if (err == MPI_SUCCESS)
        return;
    used = snprintf(text, 128, "%s: ", what);
    MPI_Error_string(err, text + used, &len);
    stop(text);
}

static uint32_t element(int64_t index)
{
    uint64_t z = ((uint64_t)index + 1) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(z >> 32);
}

static struct share tile_of(int who, int rows, int cols)
{
    int grid[2] = {0, 0};
    MPI_Dims_create(nranks, 2, grid);
    int i = who / grid[1], j = who % grid[1];
    struct share s = {.name = "tiles", .rows = rows, .cols = cols, .col_step = 1};
    s.row = (int)((int64_t)rows * i / grid[0]);
    s.col = (int)((int64_t)cols * j / grid[1]);
    s.nrows = (int)((int64_t)rows * (i + 1) / grid[0]) - s.row;
    s.ncols = (int)((int64_t)cols * (j + 1) / grid[1]) - s.col;
    MPI_Type_create_subarray(2, (int[]){rows, cols}, (int[]){s.nrows, s.ncols},
                             (int[]){s.row, s.col}, MPI_ORDER_C, MPI_UINT32_T, &s.filetype);
    MPI_Type_commit(&s.filetype);
    return s;
}

static struct share columns_of(int who, int rows, int cols)
{
    struct share s = {.name = "columns", .rows = rows, .cols = cols, .col = who};
    s.nrows = rows;
    s.ncols = (cols - who + nranks - 1) / nranks;
    s.col_step = nranks;
    MPI_Type_create_darray(nranks, who, 2, (int[]){rows, cols},
                           (int[]){MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC},
                           (int[]){MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG},
                           (int[]){1, nranks}, MPI_ORDER_C, MPI_UINT32_T, &s.filetype);
    MPI_Type_commit(&s.filetype);
    return s;
}

static int64_t index_of(const struct share *s, int64_t i)
{
    return (s->row + i / s->ncols) * s->cols + s->col + i % s->ncols * s->col_step;
}

/* Opens, sets the view, moves the share, closes; seconds of the slowest rank. */
static double move(const char *path, const struct share *s, int write, int coll, uint32_t *buf)
{
    MPI_File fh;
    MPI_Status status;
    int count = s->nrows * s->ncols, moved = -1;
    int amode = write ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime(), slowest;
    must(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &fh), "open");
    must(MPI_File_set_view(fh, 0, MPI_UINT32_T, s->filetype, "native", MPI_INFO_NULL),
         "set_view");
    if (write && coll)
        must(MPI_File_write_all(fh, buf, count, MPI_UINT32_T, &status), "write_all");
    else if (write)
        must(MPI_File_write(fh, buf, count, MPI_UINT32_T, &status), "write");
    else if (coll)
        must(MPI_File_read_all(fh, buf, count, MPI_UINT32_T, &status), "read_all");
    else
        must(MPI_File_read(fh, buf, count, MPI_UINT32_T, &status), "read");
    must(MPI_File_close(&fh), "close");
    seconds = MPI_Wtime() - seconds;
    MPI_Get_count(&status, MPI_UINT32_T, &moved);
    if (moved != count)
        stop("the status does not say that everything was moved");
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static void say(const struct share *s, int coll, const char *op, double seconds)
{
    if (rank == 0) {
        printf("result %s %s %s %lld %.6f\n", s->name, coll ? "collective" : "independent", op,
               4LL * s->rows * s->cols, seconds);
        fflush(stdout);
    }
}

typedef struct share share_fn(int who, int rows, int cols);

static void run(share_fn *share, int rows, int cols, int coll, const char *prefix)
{
    char path[4096];
    struct share mine = share(rank, rows, cols), other = share((rank + 1) % nranks, rows, cols);
    int64_t n = (int64_t)mine.nrows * mine.ncols, m = (int64_t)other.nrows * other.ncols;
    uint32_t *buf = malloc((size_t)(n > m ? n : m) * sizeof *buf);
    if (!buf)
        stop("no memory");
    snprintf(path, sizeof path, "%s-%s-%s.dat", prefix, mine.name,
             coll ? "collective" : "independent");
    for (int64_t i = 0; i < n; i++)
        buf[i] = element(index_of(&mine, i));
    say(&mine, coll, "write", move(path, &mine, 1, coll, buf));
    memset(buf, 0xff, (size_t)m * sizeof *buf);
    say(&mine, coll, "read", move(path, &other, 0, coll, buf));
    for (int64_t i = 0; i < m; i++)
        if (buf[i] != element(index_of(&other, i)))
            stop("an element that was read is not what was written");
    free(buf);
    MPI_Type_free(&mine.filetype);
    MPI_Type_free(&other.filetype);
}

/* "Open MPI 4.1.4" or "MPICH 4.0.2", out of the long text that the MPI gives. */
static void name_mpi(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int len = 0;
    MPI_Get_library_version(text, &len);
    const char *digits = text + strcspn(text, "0123456789");
    int n = (int)strspn(digits, "0123456789.");
    if (rank == 0)
        printf("mpi %s %.*s\n", strncmp(text, "Open", 4) == 0 ? "Open MPI" : "MPICH", n,
               digits);
}

/* Which MPI-IO serves files here: Brio and ROMIO show hints of their own, OMPIO shows none. */
static void name_io(const char *prefix)
{
    char path[4096], version[MPI_MAX_INFO_VAL + 1] = "";
    MPI_File fh;
    MPI_Info info;
    int brio = 0, romio = 0;
    snprintf(path, sizeof path, "%s-who.dat", prefix);
    must(MPI_File_open(MPI_COMM_WORLD, path,
                       MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                       MPI_INFO_NULL, &fh),
         "open");
    must(MPI_File_get_info(fh, &info), "get_info");
    if (info != MPI_INFO_NULL) {
        char value[MPI_MAX_INFO_VAL + 1];
        MPI_Info_get(info, "brio_version", MPI_MAX_INFO_VAL, version, &brio);
        MPI_Info_get(info, "romio_cb_write", MPI_MAX_INFO_VAL, value, &romio);
        MPI_Info_free(&info);
    }
    must(MPI_File_close(&fh), "close");
    if (rank == 0) {
        if (brio)
            printf("io Brio %s\n", version);
        else
            printf("io %s\n", romio ? "ROMIO" : "OMPIO");
        fflush(stdout);
    }
}

/* The whole array, row after row, by the C library. */
static void write_plain(const char *prefix, const char *name, int rows, int cols)
{
    char path[4096];
    uint32_t line[4096];
    snprintf(path, sizeof path, "%s-%s.dat", prefix, name);
    FILE *file = fopen(path, "w");
    if (!file)
        stop("cannot create the file to compare with");
    for (int64_t at = 0, all = (int64_t)rows * cols; at < all;) {
        size_t n = 0;
        while (n < sizeof line / sizeof line[0] && at < all)
            line[n++] = element(at++);
        if (fwrite(line, sizeof line[0], n, file) != n)
            stop("cannot write the file to compare with");
    }
    if (fclose(file) != 0)
        stop("cannot write the file to compare with");
}

int main(int argc, char **argv)
{
    char prefix[2048];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (argc < 3)
        stop("usage: demo DIR TAG [plain]");
    snprintf(prefix, sizeof prefix, "%s/%s", argv[1], argv[2]);
    if (argc == 3) {
        name_mpi();
        name_io(prefix);
        run(tile_of, ROWS, TILED_COLS, 1, prefix);
        run(tile_of, ROWS, TILED_COLS, 0, prefix);
        run(columns_of, ROWS, CYCLIC_COLS, 1, prefix);
        run(columns_of, ROWS, CYCLIC_COLS, 0, prefix);
    } else if (rank == 0) {
        write_plain(prefix, "tiles", ROWS, TILED_COLS);
        write_plain(prefix, "columns", ROWS, CYCLIC_COLS);
    }
    MPI_Finalize();
    return 0;
}
