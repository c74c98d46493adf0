/* Independent access of one rank: small contiguous writes against bare pwrite, a view of
 * sixteen million blocks, and 64 MiB through it. A plain MPI program: the same binary runs on
 * the MPI's own I/O and, preloaded, on Brio. Prints lines `name value unit`.
 *
 *     indep FILE [small] [view] [blocks]     (all three without a word) */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SMALL = 4096,       /* bytes of a small write */
    FILE_BLOCKS = 4096, /* so many of them side by side, then again */
    ROUNDS = 61,        /* each times one kind after the other */
    BLOCKS = 16777216,  /* of 4 bytes, */
    GAP = 4,            /* every fourth of those in the file */
    PASSES = 5
};

static void die(const char *what, int code)
{
    fprintf(stderr, "indep: %s failed (%d)\n", what, code);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void must(const char *what, int code)
{
    if (code != MPI_SUCCESS)
        die(what, code);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[n / 2];
}

/* Kilobytes that the process holds in memory. */
static long resident(void)
{
    long pages = 0, all = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static MPI_File open_file(const char *path)
{
    MPI_File f;
    MPI_File_delete(path, MPI_INFO_NULL);
    must("MPI_File_open", MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                                        MPI_INFO_NULL, &f));
    return f;
}

/* ---- 4 KiB, contiguous ------------------------------------------------------------------ */

static double bare_round(int fd, const char *buf)
{
    double start = MPI_Wtime();
    for (int i = 0; i < FILE_BLOCKS; i++)
        if (pwrite(fd, buf, SMALL, (off_t)i * SMALL) != SMALL)
            die("pwrite", i);
    return MPI_Wtime() - start;
}

static double mpi_round(MPI_File f, const char *buf)
{
    MPI_Status status;
    double start = MPI_Wtime();
    for (int i = 0; i < FILE_BLOCKS; i++)
        must("MPI_File_write_at",
             MPI_File_write_at(f, (MPI_Offset)i * SMALL, buf, SMALL, MPI_BYTE, &status));
    return MPI_Wtime() - start;
}

static void small_writes(const char *path)
{
    static char buf[SMALL];
    double bare[ROUNDS], mpi[ROUNDS], ratio[ROUNDS];
    MPI_File f = open_file(path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    memset(buf, 'x', sizeof buf);
    if (fd < 0)
        die("open", fd);
    bare_round(fd, buf); /* the file is there */
    mpi_round(f, buf);
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2) {
            bare[i] = bare_round(fd, buf);
            mpi[i] = mpi_round(f, buf);
        } else {
            mpi[i] = mpi_round(f, buf);
            bare[i] = bare_round(fd, buf);
        }
        ratio[i] = mpi[i] / bare[i];
    }
    close(fd);
    must("MPI_File_close", MPI_File_close(&f));
    double b = median(bare, ROUNDS), m = median(mpi, ROUNDS);
    printf("pwrite_4k %.1f ns\n", b / FILE_BLOCKS * 1e9);
    printf("write_at_4k %.1f ns\n", m / FILE_BLOCKS * 1e9);
    printf("write_at_4k_over_pwrite %.3f ratio\n", m / b);
    printf("write_at_4k_over_pwrite_paired %.3f ratio\n", median(ratio, ROUNDS));
}

/* ---- Sixteen million blocks ----------------------------------------------------------------
 */

static MPI_Datatype make_vector(void)
{
    MPI_Datatype type;
    must("MPI_Type_vector", MPI_Type_vector(BLOCKS, 1, 4, MPI_INT, &type));
    must("MPI_Type_commit", MPI_Type_commit(&type));
    return type;
}

static double set_view(MPI_File f, MPI_Datatype type)
{
    double start = MPI_Wtime();
    must("MPI_File_set_view", MPI_File_set_view(f, 0, MPI_INT, type, "native", MPI_INFO_NULL));
    return MPI_Wtime() - start;
}

/* The first time on a type; a file that is used before keeps what else is made once out. */
static void view(const char *path)
{
    double t[PASSES];
    long grown = 0;
    MPI_File f = open_file(path);
    must("MPI_File_set_view",
         MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < PASSES; i++) {
        MPI_Datatype type = make_vector();
        long before = resident();
        t[i] = set_view(f, type);
        long more = resident() - before;
        grown = more > grown ? more : grown;
        must("MPI_File_set_view",
             MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
        MPI_Type_free(&type);
    }
    must("MPI_File_close", MPI_File_close(&f));
    printf("set_view_16m %.6f s\n", median(t, PASSES));
    printf("set_view_16m_memory %ld KiB\n", grown);
}

/* Seconds in which pwrite makes the whole file, gaps and all. The memory that it had is free
 * again then: what is measured next need not wait for a host that gave the machine's free
 * memory to others, which would cost more than all else. */
static double plain(const char *path, const int *data)
{
    size_t bytes = (size_t)BLOCKS * sizeof *data;
    int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0666);
    double start = MPI_Wtime();
    for (int i = 0; i < GAP; i++)
        if (pwrite(fd, data, bytes, (off_t)i * (off_t)bytes) != (ssize_t)bytes)
            die("pwrite", i);
    double end = MPI_Wtime();
    close(fd);
    unlink(path);
    return end - start;
}

/* A file is new in the first pass of a file only: `write` is that, `rewrite` the second. */
static void blocks(const char *path, int passes)
{
    int *out = malloc((size_t)BLOCKS * sizeof *out), *in = malloc((size_t)BLOCKS * sizeof *in);
    double first[PASSES], again[PASSES], read[PASSES], whole[PASSES];
    MPI_Datatype type = make_vector();
    MPI_Status status;
    if (!out || !in)
        die("malloc", 0);
    for (int i = 0; i < BLOCKS; i++)
        out[i] = i;
    memset(in, 0, (size_t)BLOCKS * sizeof *in);
    for (int i = 0; i < passes; i++) {
        whole[i] = plain(path, out);
        MPI_File f = open_file(path);
        set_view(f, type);
        double a = MPI_Wtime();
        must("write_at", MPI_File_write_at(f, 0, out, BLOCKS, MPI_INT, &status));
        double b = MPI_Wtime();
        must("write_at", MPI_File_write_at(f, 0, out, BLOCKS, MPI_INT, &status));
        double c = MPI_Wtime();
        must("read_at", MPI_File_read_at(f, 0, in, BLOCKS, MPI_INT, &status));
        double d = MPI_Wtime();
        must("MPI_File_close", MPI_File_close(&f));
        first[i] = b - a;
        again[i] = c - b;
        read[i] = d - c;
        if (memcmp(in, out, (size_t)BLOCKS * sizeof *in) != 0)
            die("comparison", i);
    }
    printf("blocks_write %.4f s\n", median(first, passes));
    printf("blocks_whole_by_pwrite %.4f seconds\n", median(whole, passes));
    printf("blocks_rewrite %.4f s\n", median(again, passes));
    printf("blocks_read %.4f s\n", median(read, passes));
    MPI_Type_free(&type);
    free(out);
    free(in);
}

static int wanted(int argc, char **argv, const char *what)
{
    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], what, strlen(what)) == 0)
            return 1;
    return argc == 2;
}

/* INDEP_PASSES=1: where the MPI needs a minute for one. */
static int passes(void)
{
    const char *text = getenv("INDEP_PASSES");
    int n = text ? atoi(text) : PASSES;
    return n < 1 ? 1 : n > PASSES ? PASSES : n;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc < 2) {
        fprintf(stderr, "usage: indep FILE [small] [view] [blocks]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (wanted(argc, argv, "small"))
        small_writes(argv[1]);
    if (wanted(argc, argv, "view"))
        view(argv[1]);
    if (wanted(argc, argv, "blocks"))
        blocks(argv[1], passes());
    MPI_File_delete(argv[1], MPI_INFO_NULL);
    MPI_Finalize();
    return 0;
}
