/* Block-cyclic vectors of floats, written and read collectively (paper 002), beside the limit:
 * the same bytes by plain contiguous pwrite and pread from the same ranks. A plain MPI
 * program: run it with and without Brio preloaded.
 *
 *     cyclic FILE [MiB in all] [repetitions] [Bx...]
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, nranks;

static void fail(const char *what)
{
    fprintf(stderr, "cyclic: rank %d: %s failed\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void must(int rc, const char *what)
{
    if (rc != MPI_SUCCESS)
        fail(what);
}

static float value_at(long long i)
{
    return (float)(i % 8388593);
}

/* One clock for all ranks of a machine, unlike MPI_Wtime. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds from when the first begins until the last is done: with more ranks than cores they
 * do not begin together. */
static double since(double start)
{
    double mine[2] = {-start, now()}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all[1] + all[0];
}

static double begin(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return now();
}

static double plain(int fd, int write, char *buf, size_t n)
{
    double start = begin();
    for (size_t done = 0; done < n;) {
        off_t at = (off_t)((size_t)rank * n + done);
        ssize_t k =
            write ? pwrite(fd, buf + done, n - done, at) : pread(fd, buf + done, n - done, at);
        if (k <= 0)
            fail("plain access");
        done += (size_t)k;
    }
    return since(start);
}

static double collective(MPI_File fh, int write, float *buf, int count)
{
    MPI_Status status;
    int got;
    double start = begin();
    must(write ? MPI_File_write_at_all(fh, 0, buf, count, MPI_FLOAT, &status)
               : MPI_File_read_at_all(fh, 0, buf, count, MPI_FLOAT, &status),
         "collective access");
    double t = since(start);
    MPI_Get_count(&status, MPI_FLOAT, &got);
    if (got != count)
        fail("the count");
    return t;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, compare);
    return t[n / 2];
}

static void set_view(MPI_File fh, long long blocks, int bx)
{
    MPI_Datatype vector;
    must(MPI_Type_vector((int)blocks, bx, bx * nranks, MPI_FLOAT, &vector), "vector");
    must(MPI_Type_commit(&vector), "commit");
    must(MPI_File_set_view(fh, (MPI_Offset)rank * bx * (MPI_Offset)sizeof(float), MPI_FLOAT,
                           vector, "native", MPI_INFO_NULL),
         "set_view");
    MPI_Type_free(&vector);
}

/* One Bx: both ways in alternation, medians, every value checked once. */
static void measure(const char *path, long long n, int bx, int reps)
{
    long long blocks = n / bx;
    int count = (int)(blocks * bx);
    size_t bytes = (size_t)count * sizeof(float);
    float *buf = malloc(bytes);
    double t[4][64], m[4];
    MPI_File fh;
    if (!buf)
        fail("malloc");
    must(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                       &fh),
         "open");
    int fd = open(path, O_RDWR);
    set_view(fh, blocks, bx);
    for (int i = 0; i <= reps; i++) { /* the first time does not count */
        int at = i > 0 ? i - 1 : 0;
        for (int k = 0; k < count; k++)
            buf[k] = value_at(((long long)k / bx * nranks + rank) * bx + k % bx);
        t[0][at] = plain(fd, 1, (char *)buf, bytes);
        t[1][at] = plain(fd, 0, (char *)buf, bytes);
        t[2][at] = collective(fh, 1, buf, count);
        memset(buf, 0, bytes);
        t[3][at] = collective(fh, 0, buf, count);
        for (int k = 0; k < count; k++)
            if (buf[k] != value_at(((long long)k / bx * nranks + rank) * bx + k % bx))
                fail("a value");
    }
    for (int i = 0; i < 4; i++)
        m[i] = median(t[i], reps);
    MPI_Barrier(MPI_COMM_WORLD);
    double mb = (double)bytes * nranks / 1e6;
    if (rank == 0)
        printf("ranks %d Bx %d: write %.0f of %.0f MB/s (%.2f of the limit), read %.0f of %.0f "
               "(%.2f)\n",
               nranks, bx, mb / m[2], mb / m[0], m[0] / m[2], mb / m[3], mb / m[1],
               m[1] / m[3]);
    fflush(stdout);
    close(fd);
    MPI_File_close(&fh);
    if (rank == 0)
        unlink(path);
    free(buf);
}

int main(int argc, char **argv)
{
    static char *const usual[] = {"1", "4", "16", "64", "256", "4096"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (argc < 2) {
        if (rank == 0)
            fprintf(stderr, "usage: cyclic FILE [MiB in all] [repetitions] [Bx...]\n");
        MPI_Finalize();
        return 2;
    }
    long long mib = argc > 2 ? atoll(argv[2]) : 128;
    int reps = argc > 3 ? atoi(argv[3]) : 5;
    if (mib < 1 || reps < 1 || reps > 64)
        fail("reading the arguments");
    int nbx = argc > 4 ? argc - 4 : 6;
    for (int i = 0; i < nbx; i++) {
        int bx = atoi(argc > 4 ? argv[4 + i] : usual[i]);
        if (bx > 0)
            measure(argv[1], (mib << 20) / (long long)sizeof(float) / nranks, bx, reps);
    }
    MPI_Finalize();
    return 0;
}
