/* What a collective call costs where it can gain nothing: contiguous collective writes and
 * reads against plain pwrite and pread of the same bytes by the same ranks, in alternation.
 *
 *     coll DIR [REPETITIONS]
 *
 * Rank 0 prints lines for coll.sh, times being medians over the repetitions:
 *     io NAME
 *     result CASE write|read BYTES PLAIN_SECONDS COLLECTIVE_SECONDS */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MIB = 1 << 20,
    MAX_REPETITIONS = 101
};

/* `calls` calls of `len` bytes a rank; the ranks' pieces lie side by side in each call. */
struct workload {
    const char *name;
    int calls, len;
    int fresh; /* the file is emptied before each write, so pages must be found for it */
};

static const struct workload workloads[] = {
    {"one-call-of-16-MiB-a-rank", 1, 16 * MIB, 0},
    {"16-calls-of-1-MiB-a-rank", 16, MIB, 0},
    {"64-calls-of-64-KiB-a-rank", 64, MIB / 16, 0},
    {"new-file,-one-call-of-16-MiB", 1, 16 * MIB, 1},
};

static int rank, nranks;
static MPI_File fh; /* both are open all the time */
static int fd;

static void stop(const char *what)
{
    fprintf(stderr, "coll: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void must(int err, const char *what)
{
    if (err != MPI_SUCCESS)
        stop(what);
}

static long long place(const struct workload *w, int call)
{
    return ((long long)call * nranks + rank) * w->len;
}

static void move_plain(const struct workload *w, int write, char *buf)
{
    for (int i = 0; i < w->calls; i++)
        for (long long done = 0; done < w->len;) {
            char *at = buf + (size_t)i * (size_t)w->len + done;
            size_t rest = (size_t)(w->len - done);
            ssize_t n = write ? pwrite(fd, at, rest, place(w, i) + done)
                              : pread(fd, at, rest, place(w, i) + done);
            if (n <= 0 && errno != EINTR)
                stop("plain I/O failed");
            done += n > 0 ? n : 0;
        }
}

static void move_coll(const struct workload *w, int write, char *buf)
{
    for (int i = 0; i < w->calls; i++) {
        char *at = buf + (size_t)i * (size_t)w->len;
        MPI_Offset off = place(w, i);
        if (write)
            must(MPI_File_write_at_all(fh, off, at, w->len, MPI_BYTE, MPI_STATUS_IGNORE),
                 "write_at_all");
        else
            must(MPI_File_read_at_all(fh, off, at, w->len, MPI_BYTE, MPI_STATUS_IGNORE),
                 "read_at_all");
    }
}

static void empty_files(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && ftruncate(fd, 0) != 0)
        stop("ftruncate");
    must(MPI_File_set_size(fh, 0), "set_size");
    MPI_Barrier(MPI_COMM_WORLD);
}

typedef void move_fn(const struct workload *w, int write, char *buf);

/* From when all are ready until all are done. */
static double time_of(move_fn *move, const struct workload *w, int write, char *buf)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    move(w, write, buf);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int n)
{
    qsort(times, (size_t)n, sizeof *times, by_size);
    return n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
}

static void fill(char *buf, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf[i] = (char)(i * 31 + i / 4096 + (size_t)rank * 7);
}

/* Both in each repetition; which goes first changes. */
static void measure(const struct workload *w, int write, int reps, char *buf)
{
    double plain[MAX_REPETITIONS], coll[MAX_REPETITIONS];
    for (int i = -1; i < reps; i++) { /* the first is for warming up */
        int at = i < 0 ? 0 : i;
        if (write && w->fresh)
            empty_files();
        if (i % 2)
            plain[at] = time_of(move_plain, w, write, buf);
        coll[at] = time_of(move_coll, w, write, buf);
        if (i % 2 == 0)
            plain[at] = time_of(move_plain, w, write, buf);
    }
    if (rank == 0) {
        printf("result %s %s %lld %.6f %.6f\n", w->name, write ? "write" : "read",
               (long long)w->calls * w->len * nranks, median(plain, reps), median(coll, reps));
        fflush(stdout);
    }
}

static void check(const struct workload *w, char *buf, char *want)
{
    size_t n = (size_t)w->calls * (size_t)w->len;
    fill(want, n);
    for (int plain = 0; plain < 2; plain++) {
        memset(buf, 0, n);
        if (plain)
            move_plain(w, 0, buf);
        else
            move_coll(w, 0, buf);
        if (memcmp(buf, want, n) != 0)
            stop("wrong bytes");
    }
}

static void name_io(void)
{
    MPI_Info info;
    char text[MPI_MAX_INFO_VAL + 1] = "";
    int brio = 0, romio = 0;
    must(MPI_File_get_info(fh, &info), "get_info");
    MPI_Info_get(info, "romio_cb_write", MPI_MAX_INFO_VAL, text, &romio);
    MPI_Info_get(info, "brio_version", MPI_MAX_INFO_VAL, text, &brio);
    MPI_Info_free(&info);
    if (rank == 0)
        printf("io %s%s\n", brio ? "Brio " : romio ? "ROMIO" : "OMPIO", brio ? text : "");
}

static void open_files(const char *dir)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/coll-plain.dat", dir);
    fd = open(path, O_RDWR | O_CREAT, 0666);
    if (fd < 0)
        stop("cannot open the plain file");
    snprintf(path, sizeof path, "%s/coll-mpi.dat", dir);
    must(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                       &fh),
         "open");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    int reps = argc > 2 ? atoi(argv[2]) : 15;
    if (argc < 2 || reps < 1 || reps > MAX_REPETITIONS)
        stop("usage: coll DIR [REPETITIONS]");
    char *buf = malloc(16 * MIB), *want = malloc(16 * MIB);
    if (!buf || !want)
        stop("no memory");
    open_files(argv[1]);
    name_io();
    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
        const struct workload *w = &workloads[i];
        empty_files();
        fill(buf, (size_t)w->calls * (size_t)w->len);
        measure(w, 1, reps, buf);
        if (!w->fresh)
            measure(w, 0, reps, buf);
        check(w, buf, want);
    }
    MPI_File_close(&fh);
    close(fd);
    free(buf);
    free(want);
    MPI_Finalize();
    return 0;
}
