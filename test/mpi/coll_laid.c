/* Reads by owners in every way in which data lies in their buffers: packed, past the caches, in
 * the order of the file. Ways are tried in turn, so that some dozens of windows see them all;
 * pieces are of some cache lines or less, there may be gaps, the file may end in the middle,
 * and the owners' own memory may be one piece or many. */
#include <fcntl.h>

#include "check_mpi.h"
#include "expect.h"

#include "brio/brio.h"

enum {
    BUFFER = 64 << 10, /* cb_buffer_size: two windows */
    LARGE = 512 << 10,
    RANK_BYTES = 1 << 20,
    HEAD = 40 /* bytes of the file before the view */
};

static unsigned char *mem;

static unsigned char byte_at(long long off)
{
    return (unsigned char)(off * 7 + off / 251 + off / 65521);
}

/* Pieces of all ranks in turn, and behind each turn bytes of nobody. */
struct deal {
    int piece, gap, npieces;
    long long size; /* of the file */
};

static long long place_of(const struct deal *d, long long i)
{
    long long turn = (long long)test_nranks * d->piece + d->gap;
    return HEAD + i / d->piece * turn + (long long)test_rank * d->piece + i % d->piece;
}

static void lay_out(const struct deal *d)
{
    if (test_rank == 0) {
        FILE *f = fopen(test_file(), "wb");
        for (long long off = 0; f && off < d->size; off++)
            putc(byte_at(off), f);
        CHECK(f && fclose(f) == 0, "no file to read");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_File open_view(const struct deal *d, int buffer)
{
    MPI_File fh;
    MPI_Info info;
    MPI_Datatype piece, turn;
    char text[16];
    MPI_Info_create(&info);
    snprintf(text, sizeof text, "%d", buffer);
    MPI_Info_set(info, "cb_buffer_size", text);
    OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDONLY, info, &fh));
    MPI_Info_free(&info);
    MPI_Type_contiguous(d->piece, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)test_nranks * d->piece + d->gap, &turn);
    MPI_Type_commit(&turn);
    OK(MPI_File_set_view(fh, HEAD + (MPI_Offset)test_rank * d->piece, MPI_BYTE, turn, "native",
                         MPI_INFO_NULL));
    MPI_Type_free(&piece);
    MPI_Type_free(&turn);
    return fh;
}

/* Data byte i lies at i * step. */
static void check_bytes(const struct deal *d, long long n, int step, int got)
{
    long long there = 0, wrong = 0;
    for (long long i = 0; i < n; i++) {
        int in = place_of(d, i) < d->size;
        there += in;
        wrong += mem[i * step] != (in ? byte_at(place_of(d, i)) : 0xEE);
        for (int k = 1; k < step; k++)
            wrong += mem[i * step + k] != 0xEE;
    }
    CHECK(got == there, "%d bytes read of %lld", got, there);
    CHECK(wrong == 0, "%lld wrong bytes: pieces of %d, gaps of %d, a file of %lld, step %d",
          wrong, d->piece, d->gap, d->size, step);
}

static void read_all(MPI_File fh, const struct deal *d, int step, int waits)
{
    MPI_Status status;
    MPI_Request req;
    MPI_Datatype type = MPI_BYTE;
    int n = d->npieces * d->piece, got = -1;
    memset(mem, 0xEE, (size_t)n * (size_t)step);
    if (step > 1) {
        MPI_Type_create_resized(MPI_BYTE, 0, step, &type);
        MPI_Type_commit(&type);
    }
    if (waits) {
        OK(MPI_File_read_at_all(fh, 0, mem, n, type, &status));
    } else {
        OK(MPI_File_iread_at_all(fh, 0, mem, n, type, &req));
        MPI_Wait(&req, &status);
    }
    MPI_Get_count(&status, MPI_BYTE, &got);
    check_bytes(d, n, step, got);
    if (step > 1)
        MPI_Type_free(&type);
}

static void deal(int buffer, int piece, int gap, int cut)
{
    struct deal d = {.piece = piece, .gap = gap, .npieces = RANK_BYTES / piece};
    long long turn = (long long)test_nranks * piece + gap, windows = 0;
    d.size = HEAD + d.npieces * turn;
    if (cut)
        d.size = d.size / 2 + piece / 3;
    lay_out(&d);
    MPI_File fh = open_view(&d, buffer);
    for (int i = 0; i < 8; i++)
        read_all(fh, &d, 1 + i % 2, i % 4 < 3);
    OK(brio_counter(fh, "windows", &windows));
    MPI_Allreduce(MPI_IN_PLACE, &windows, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (test_nranks > 1)
        CHECK(windows > 48, "%lld windows do not see all ways", windows);
    OK(MPI_File_close(&fh));
}

static void dense(void)
{
    deal(BUFFER, 300, 0, 0);
    deal(BUFFER, 4109, 0, 0);
    deal(BUFFER, 48, 0, 0);
    deal(LARGE, 300, 0, 0);
    deal(LARGE, 48, 0, 0);
}

static void with_gaps(void)
{
    deal(BUFFER, 300, 500, 0);
    deal(BUFFER, 1024, 700, 0);
    deal(LARGE, 1024, 700, 0);
}

static void a_short_file(void)
{
    deal(BUFFER, 300, 0, 1);
    deal(BUFFER, 2000, 900, 1);
}

static const struct test_case cases[] = {TEST(dense), TEST(with_gaps), TEST(a_short_file), {0}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    mem = malloc(2 * RANK_BYTES);
    int code = mem ? test_main_mpi(argc, argv, cases) : 1;
    free(mem);
    MPI_Finalize();
    return code;
}
