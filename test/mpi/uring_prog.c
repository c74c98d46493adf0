/* Every other piece of 64 KiB of a rank's part of a file, by MPI, on a store that may fail:
 *     uring_prog make|read|read_all|write FILE MIB
 * With make, rank 0 writes it, and nothing else is done.
 * Reading finds nothing in memory. Each rank tells, in its turn, "rank R: CLASS, N bytes, W
 * wrong"; CLASS is fine, io, space or a number, N what the status says, W how many of these are
 * not what they should be. Rank 0 tells whether it had an io_uring. */
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE = 65536
};

static int rank, nranks;

static unsigned char byte_at(long long at)
{
    return (unsigned char)(at * 7 + at / 4096 + at / 65537);
}

static const char *name_of(int err)
{
    static char number[16];
    int class;
    if (err == MPI_SUCCESS)
        return "fine";
    MPI_Error_class(err, &class);
    snprintf(number, sizeof number, "%d", class);
    return class == MPI_ERR_IO ? "io" : class == MPI_ERR_NO_SPACE ? "space" : number;
}

static int has_ring(void)
{
    char link[512], to[64];
    int found = 0;
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        snprintf(link, sizeof link, "/proc/self/fd/%s", e->d_name);
        ssize_t n = readlink(link, to, sizeof to - 1);
        to[n > 0 ? n : 0] = '\0';
        found |= strstr(to, "io_uring") != NULL;
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Data byte i of the rank lies at this place of the file. */
static long long place(long long part, long long i)
{
    return rank * part + i / PIECE * (2 * PIECE) + i % PIECE;
}

/* What is there in the file, by system calls; written bytes only count if they are. */
static void load(const char *path, long long part, unsigned char *buf, long long bytes)
{
    int fd = open(path, O_RDONLY);
    for (long long i = 0; i < bytes; i += PIECE) {
        long long len = bytes - i < PIECE ? bytes - i : PIECE;
        if (pread(fd, buf + i, (size_t)len, place(part, i)) != len)
            memset(buf + i, 0, (size_t)len);
    }
    close(fd);
}

/* All of the file; false if there is no room for it. */
static int make(const char *path, long long mib)
{
    unsigned char buf[PIECE];
    int fd = open(path, O_WRONLY | O_CREAT, 0644), fine = fd >= 0;
    for (long long at = 0; fine && at < mib * 1048576; at += PIECE) {
        for (int i = 0; i < PIECE; i++)
            buf[i] = byte_at(at + i);
        fine = pwrite(fd, buf, PIECE, at) == PIECE;
    }
    return fine && fsync(fd) == 0 && close(fd) == 0;
}

static void forget(const char *path)
{
    int fd = open(path, O_RDONLY);
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_File fh;
    MPI_Datatype view;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (argc != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (strcmp(argv[1], "make") == 0) {
        if (rank == 0 && !make(argv[2], atoll(argv[3])))
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Finalize();
        return 0;
    }
    int writes = strcmp(argv[1], "write") == 0, all = strcmp(argv[1], "read_all") == 0;
    int pieces = (int)(atoll(argv[3]) * 1048576 / nranks / (2 * PIECE)), got = 0, wrong = 0;
    long long part = 2LL * PIECE * pieces, bytes = (long long)PIECE * pieces;
    unsigned char *buf = malloc((size_t)bytes);
    for (long long i = 0; i < bytes; i++)
        buf[i] = writes ? byte_at(place(part, i)) : 0;
    if (MPI_File_open(MPI_COMM_WORLD, argv[2],
                      writes ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_RDONLY, MPI_INFO_NULL,
                      &fh))
        MPI_Abort(MPI_COMM_WORLD, 1);
    forget(argv[2]);
    MPI_Type_vector(pieces, PIECE, 2 * PIECE, MPI_BYTE, &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(fh, rank * part, MPI_BYTE, view, "native", MPI_INFO_NULL);
    memset(&status, 0, sizeof status);
    int err = writes ? MPI_File_write_at(fh, 0, buf, (int)bytes, MPI_BYTE, &status)
              : all  ? MPI_File_read_at_all(fh, 0, buf, (int)bytes, MPI_BYTE, &status)
                     : MPI_File_read_at(fh, 0, buf, (int)bytes, MPI_BYTE, &status);
    MPI_Get_count(&status, MPI_BYTE, &got);
    int ring = has_ring();
    if (writes)
        load(argv[2], part, buf, got);
    for (long long i = 0; i < got; i++)
        wrong += buf[i] != byte_at(place(part, i));
    for (int r = 0; r < nranks; r++) {
        if (r == rank)
            printf("rank %d: %s, %d bytes, %d wrong\n", rank, name_of(err), got, wrong);
        fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("ring %d\n", ring);
    MPI_Type_free(&view);
    MPI_File_close(&fh);
    free(buf);
    MPI_Finalize();
    return 0;
}
