/* The shared-pointer benchmark of paper 000: LOOPS accesses of all ranks together BYTES long,
 * each rank's share varied by up to VARIABILITY percent.
 *   sharedfp -f FILE -d BYTES -i LOOPS -m MODE [-v VARIABILITY] [-n REPETITIONS] [-e] [-r]
 * Modes: 1 shared, 2 ordered, 3 nonblocking shared, 4 ordered begin and end; 0 is plain
 * pwrite or pread at known places by the same ranks, to compare with. -e: BYTES is each
 * rank's (series 4). -r reads. One line for the fastest of the repetitions: seconds until the
 * last access is done, and until the file is closed. */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct work {
    const char *file;
    long bytes, loops;
    int mode, variability, repetitions, each, reading;
};

static int rank, nranks;

static int parse(int argc, char **argv, struct work *w)
{
    int c;
    while ((c = getopt(argc, argv, "f:d:i:m:v:n:er")) != -1)
        switch (c) {
        case 'f':
            w->file = optarg;
            break;
        case 'd':
            w->bytes = atol(optarg);
            break;
        case 'i':
            w->loops = atol(optarg);
            break;
        case 'm':
            w->mode = atoi(optarg);
            break;
        case 'v':
            w->variability = atoi(optarg);
            break;
        case 'n':
            w->repetitions = atoi(optarg);
            break;
        case 'e':
            w->each = 1;
            break;
        case 'r':
            w->reading = 1;
            break;
        default:
            return 0;
        }
    return w->file && w->bytes > 0 && w->loops > 0 && w->mode >= 0 && w->mode <= 4 &&
           w->variability >= 0 && w->variability <= 100 && w->repetitions > 0;
}

static void fail(const char *what)
{
    fprintf(stderr, "sharedfp: rank %d: %s failed\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void must(int err, const char *what)
{
    if (err != MPI_SUCCESS)
        fail(what);
}

/* The same lengths whenever it is called. */
static int *make_lengths(const struct work *w, long *most, long *sum)
{
    int *len = malloc((size_t)w->loops * sizeof *len);
    uint64_t state = 88172645463325252u + (uint64_t)rank;
    long share = w->each ? w->bytes : w->bytes / nranks;
    long range = share * w->variability / 100;
    if (!len || share < 1)
        fail("a share of at least one byte");
    *most = *sum = 0;
    for (long i = 0; i < w->loops; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        long n = share - range + (range ? (long)(state % (uint64_t)(2 * range + 1)) : 0);
        len[i] = (int)(n < 1 ? 1 : n);
        *sum += len[i];
        *most = len[i] > *most ? len[i] : *most;
    }
    return len;
}

static void access_once(MPI_File fh, const struct work *w, char *buf, int n)
{
    MPI_Request req;
    switch (w->mode) {
    case 1:
        must(w->reading ? MPI_File_read_shared(fh, buf, n, MPI_BYTE, MPI_STATUS_IGNORE)
                        : MPI_File_write_shared(fh, buf, n, MPI_BYTE, MPI_STATUS_IGNORE),
             "shared");
        break;
    case 2:
        must(w->reading ? MPI_File_read_ordered(fh, buf, n, MPI_BYTE, MPI_STATUS_IGNORE)
                        : MPI_File_write_ordered(fh, buf, n, MPI_BYTE, MPI_STATUS_IGNORE),
             "ordered");
        break;
    case 3:
        must(w->reading ? MPI_File_iread_shared(fh, buf, n, MPI_BYTE, &req)
                        : MPI_File_iwrite_shared(fh, buf, n, MPI_BYTE, &req),
             "nonblocking shared");
        must(MPI_Wait(&req, MPI_STATUS_IGNORE), "wait");
        break;
    default:
        must(w->reading ? MPI_File_read_ordered_begin(fh, buf, n, MPI_BYTE)
                        : MPI_File_write_ordered_begin(fh, buf, n, MPI_BYTE),
             "ordered begin");
        must(w->reading ? MPI_File_read_ordered_end(fh, buf, MPI_STATUS_IGNORE)
                        : MPI_File_write_ordered_end(fh, buf, MPI_STATUS_IGNORE),
             "ordered end");
    }
}

static void run_mpi(const struct work *w, const int *len, char *buf, double took[2])
{
    MPI_File fh;
    int amode = w->reading ? MPI_MODE_RDONLY : MPI_MODE_WRONLY | MPI_MODE_CREATE;
    must(MPI_File_open(MPI_COMM_WORLD, w->file, amode, MPI_INFO_NULL, &fh), "open");
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (long i = 0; i < w->loops; i++)
        access_once(fh, w, buf, len[i]);
    took[0] = MPI_Wtime() - begin;
    must(MPI_File_close(&fh), "close");
    took[1] = MPI_Wtime() - begin;
}

/* Each rank's bytes behind those of the ranks before it. */
static void run_plain(const struct work *w, const int *len, char *buf, double took[2])
{
    long mine = 0, at = 0;
    for (long i = 0; i < w->loops; i++)
        mine += len[i];
    MPI_Exscan(&mine, &at, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    at = rank ? at : 0;
    int fd = open(w->file, w->reading ? O_RDONLY : O_WRONLY | O_CREAT, 0666);
    if (fd < 0)
        fail("open");
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (long i = 0; i < w->loops; at += len[i++]) {
        ssize_t n = w->reading ? pread(fd, buf, (size_t)len[i], at)
                               : pwrite(fd, buf, (size_t)len[i], at);
        if (n != len[i])
            fail("a transfer");
    }
    took[0] = MPI_Wtime() - begin;
    close(fd);
    took[1] = MPI_Wtime() - begin;
}

/* A file to read, or none to write to. */
static void prepare(const struct work *w, long total)
{
    if (rank == 0) {
        static char block[1 << 20];
        int fd = open(w->file, O_WRONLY | O_CREAT, 0666);
        if (fd < 0 || ftruncate(fd, 0) != 0)
            fail("preparing the file");
        for (long at = 0; w->reading && at < total; at += (long)sizeof block)
            if (write(fd, block, sizeof block) != (ssize_t)sizeof block)
                fail("filling the file");
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct work w = {.mode = 1, .repetitions = 3};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (!parse(argc, argv, &w)) {
        if (rank == 0)
            fprintf(stderr, "usage: sharedfp -f FILE -d BYTES -i LOOPS -m MODE [-v PERCENT] "
                            "[-n REPETITIONS] [-e] [-r]\n");
        MPI_Finalize();
        return 2;
    }
    long most, sum, total;
    int *len = make_lengths(&w, &most, &sum);
    char *buf = malloc((size_t)most);
    if (!buf)
        fail("memory");
    memset(buf, 'a' + rank % 26, (size_t)most);
    MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    double best[2] = {1e30, 1e30};
    for (int i = 0; i < w.repetitions; i++) {
        double mine[2], took[2];
        prepare(&w, total);
        (w.mode ? run_mpi : run_plain)(&w, len, buf, mine);
        MPI_Allreduce(mine, took, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        for (int k = 0; k < 2; k++)
            best[k] = took[k] < best[k] ? took[k] : best[k];
    }
    if (rank == 0) {
        printf("result mode %d %s ranks %d bytes %ld accesses %ld accessed %.6f closed %.6f\n",
               w.mode, w.reading ? "read" : "write", nranks, total, w.loops * nranks, best[0],
               best[1]);
        unlink(w.file);
    }
    free(len);
    free(buf);
    MPI_Finalize();
    return 0;
}
