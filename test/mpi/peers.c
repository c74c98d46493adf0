/* What other MPI-IO implementations were found to get wrong: lost errors, counts that claim
 * too much, neighbours overwritten, hangs, files left beside the user's. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "fault/expect.h"
#include "mpi/peers.h"

enum {
    MIB = 1 << 20
};

/* ---- Counts and errors ----------------------------------------------------------------- */

/* Every process may write 1 MiB, together they want to write 4: rank blocks. */
static void limited_blocks(const struct form *form)
{
    int n = 4 * MIB / test_nranks;
    MPI_Offset mine = (MPI_Offset)n * test_rank;
    char *buf = malloc((size_t)n);
    pattern(buf, mine, n, 1);
    if (test_rank == 0)
        unlink(test_file());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File fh = open_new();
    EXPECT_OK(MPI_File_seek(fh, mine, MPI_SEEK_SET));
    limit_file_size(MIB);
    struct form_call call = {.fh = fh, .off = mine, .buf = buf, .count = n, .type = MPI_BYTE};
    MPI_Count claimed;
    int code = form_run(form, &call, &claimed);
    limit_file_size(-1);
    MPI_Barrier(MPI_COMM_WORLD);
    expect(__LINE__, form->name, code, ANY_ERROR, ANY_ERROR);
    MPI_Count there = bytes_there(test_file(), mine, buf, n);
    CHECK(claimed <= there, "%s on rank %d claims %lld bytes, %lld are in the file", form->name,
          test_rank, (long long)claimed, (long long)there);
    MPI_Barrier(MPI_COMM_WORLD);
    STILL_WORKS(fh);
    close_file(&fh);
    free(buf);
}

static void limit_collective(void)
{
    for (int i = 0; i < FORMS; i++)
        if (form_is(&forms[i], FORM_WRITE | FORM_COLL))
            limited_blocks(&forms[i]);
}

/* The same through a view in which the ranks' blocks of 4 KiB alternate. */
static void limit_interleaved(void)
{
    enum {
        BLOCK = 4096
    };
    int nblocks = 4 * MIB / BLOCK / test_nranks, n = nblocks * BLOCK;
    char *buf = malloc((size_t)n);
    for (int b = 0; b < nblocks; b++)
        pattern(buf + b * BLOCK, ((MPI_Offset)b * test_nranks + test_rank) * BLOCK, BLOCK, 2);
    MPI_Datatype type;
    MPI_Type_vector(nblocks, BLOCK, BLOCK * test_nranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_File fh = open_new();
    EXPECT_OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * BLOCK, MPI_BYTE, type, "native",
                                MPI_INFO_NULL));
    limit_file_size(MIB);
    MPI_Status status;
    int claimed = -1;
    EXPECT_ERROR(MPI_File_write_all(fh, buf, n, MPI_BYTE, &status));
    limit_file_size(-1);
    MPI_Get_count(&status, MPI_BYTE, &claimed);
    MPI_Barrier(MPI_COMM_WORLD);
    int there = 0;
    for (int b = 0; b < nblocks && there == b * BLOCK; b++)
        there +=
            (int)bytes_there(test_file(), ((MPI_Offset)b * test_nranks + test_rank) * BLOCK,
                             buf + b * BLOCK, BLOCK);
    CHECK(claimed <= there, "rank %d claims %d bytes, %d are there", test_rank, claimed, there);
    MPI_Barrier(MPI_COMM_WORLD);
    STILL_WORKS(fh);
    close_file(&fh);
    MPI_Type_free(&type);
    free(buf);
}

/* Nonblocking writes, some beyond what the process may write: each completion is true. */
static void limit_nonblocking(void)
{
    enum {
        REQS = 64,
        N = 8192
    };
    MPI_Request reqs[REQS];
    char *buf = malloc(REQS * N);
    MPI_Offset start = (MPI_Offset)REQS * N * test_rank;
    pattern(buf, start, REQS * N, 3);
    MPI_File fh = open_new();
    limit_file_size(start + REQS / 2 * N + N / 4);
    int good = 0;
    for (int i = 0; i < REQS; i++)
        EXPECT_OK(MPI_File_iwrite_at(fh, start + i * N, buf + i * N, N, MPI_BYTE, &reqs[i]));
    for (int i = 0; i < REQS; i++) {
        MPI_Status status;
        int n = 0;
        int code = MPI_Wait(&reqs[i], &status);
        MPI_Get_count(&status, MPI_BYTE, &n);
        MPI_Count there = bytes_there(test_file(), start + i * N, buf + i * N, N);
        CHECK((code == MPI_SUCCESS) == (there == N), "request %d: %lld bytes there, code %d", i,
              (long long)there, code);
        CHECK(n <= there, "request %d claims %d bytes, %lld are there", i, n, (long long)there);
        good += code == MPI_SUCCESS;
    }
    limit_file_size(-1);
    CHECK(good == REQS / 2, "%d of %d succeeded", good, REQS);
    MPI_Barrier(MPI_COMM_WORLD);
    STILL_WORKS(fh);
    close_file(&fh);
    free(buf);
}

/* More requests than a system lets one queue: none is dropped. */
static void many_requests(void)
{
    enum {
        REQS = 400,
        N = 1000
    };
    static MPI_Request reqs[REQS];
    static MPI_Status statuses[REQS];
    static char buf[REQS * N];
    MPI_Offset start = (MPI_Offset)sizeof buf * test_rank;
    pattern(buf, start, sizeof buf, 4);
    MPI_File fh = open_new();
    for (int i = 0; i < REQS; i++)
        EXPECT_OK(MPI_File_iwrite_at(fh, start + i * N, buf + i * N, N, MPI_BYTE, &reqs[i]));
    EXPECT_OK(MPI_Waitall(REQS, reqs, statuses));
    for (int i = 0; i < REQS; i++) {
        int n = -1;
        MPI_Get_count(&statuses[i], MPI_BYTE, &n);
        CHECK(n == N, "request %d: %d bytes", i, n);
    }
    MPI_Count there = bytes_there(test_file(), start, buf, sizeof buf);
    CHECK(there == sizeof buf, "%lld of %zu bytes", (long long)there, sizeof buf);
    close_file(&fh);
}

/* ---- End of file ----------------------------------------------------------------------- */

/* The file ends 24 bytes into the last rank's block: it gets these, in every form. */
static void end_of_file(void)
{
    enum {
        N = 64,
        TAIL = 24
    };
    char *all = malloc((size_t)N * (size_t)test_nranks), in[N];
    MPI_Offset size = (MPI_Offset)N * (test_nranks - 1) + TAIL;
    pattern(all, 0, N * test_nranks, 5);
    make_file(test_file(), 0);
    write_plainly(test_file(), 0, all, size);
    MPI_File fh = open_file(MPI_MODE_RDONLY);
    for (int i = 0; i < FORMS; i++) {
        if (form_is(&forms[i], FORM_WRITE) ||
            (form_is(&forms[i], FORM_SHARED) && !form_is(&forms[i], FORM_COLL)))
            continue;
        MPI_Offset mine = (MPI_Offset)N * test_rank;
        MPI_Count want = test_rank == test_nranks - 1 ? TAIL : N, got;
        EXPECT_OK(MPI_File_seek(fh, mine, MPI_SEEK_SET));
        EXPECT_OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
        memset(in, 0, sizeof in);
        struct form_call call = {
            .fh = fh, .off = mine, .buf = in, .count = N, .type = MPI_BYTE};
        expect(__LINE__, forms[i].name, form_run(&forms[i], &call, &got), MPI_SUCCESS, 0);
        CHECK(got == want, "%s on rank %d: %lld bytes, not %lld", forms[i].name, test_rank,
              (long long)got, (long long)want);
        CHECK(memcmp(in, all + mine, (size_t)want) == 0, "%s: wrong bytes", forms[i].name);
        CHECK(want == N || in[want] == 0, "%s writes behind the end", forms[i].name);

        EXPECT_OK(MPI_File_seek(fh, mine + size, MPI_SEEK_SET));
        EXPECT_OK(MPI_File_seek_shared(fh, size, MPI_SEEK_SET));
        call.off = mine + size;
        expect(__LINE__, forms[i].name, form_run(&forms[i], &call, &got), MPI_SUCCESS, 0);
        CHECK(got == 0, "%s beyond the end: %lld bytes", forms[i].name, (long long)got);
    }
    close_file(&fh);
    free(all);
}

/* The same through a view with gaps: the file ends inside a block. */
static void end_of_file_in_view(void)
{
    enum {
        BLOCKS = 8,
        LEN = 8
    };
    int stride = LEN * test_nranks, period = stride * BLOCKS;
    char *all = malloc((size_t)period), in[BLOCKS * LEN];
    MPI_Offset size = period - stride - LEN / 2; /* cuts the last rank's last but one block */
    pattern(all, 0, period, 6);
    make_file(test_file(), 0);
    write_plainly(test_file(), 0, all, size);
    MPI_Datatype type;
    MPI_Type_vector(BLOCKS, LEN, stride, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_File fh = open_file(MPI_MODE_RDONLY);
    EXPECT_OK(MPI_File_set_view(fh, test_rank * LEN, MPI_BYTE, type, "native", MPI_INFO_NULL));
    int want = 0;
    for (int b = 0; b < BLOCKS; b++)
        for (int k = 0; k < LEN; k++)
            want += b * stride + test_rank * LEN + k < size;
    for (int i = 0; i < FORMS; i++) {
        if (form_is(&forms[i], FORM_WRITE) || form_is(&forms[i], FORM_SHARED))
            continue;
        struct form_call call = {.fh = fh, .buf = in, .count = sizeof in, .type = MPI_BYTE};
        MPI_Count got;
        memset(in, 0, sizeof in);
        EXPECT_OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
        expect(__LINE__, forms[i].name, form_run(&forms[i], &call, &got), MPI_SUCCESS, 0);
        CHECK(got == want, "%s on rank %d: %lld bytes, not %d", forms[i].name, test_rank,
              (long long)got, want);
        int wrong = 0;
        for (int k = 0; k < want; k++)
            wrong += in[k] != all[k / LEN * stride + test_rank * LEN + k % LEN];
        CHECK(wrong == 0, "%s: %d wrong bytes", forms[i].name, wrong);
    }
    close_file(&fh);
    MPI_Type_free(&type);
    free(all);
}

/* ---- More than 2 GiB -------------------------------------------------------------------- */

/* Offsets and sizes beyond 4 GiB in a file with holes. */
static void offsets_beyond_4gib(void)
{
    char out[100], in[100];
    MPI_Offset far = (MPI_Offset)9 * 1024 * MIB + 12345 + test_rank * 100, size = 0, at = 0;
    MPI_File fh = open_new();
    pattern(out, far, 100, 7);
    EXPECT_OK(MPI_File_write_at_all(fh, far, out, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    EXPECT_OK(MPI_File_seek(fh, far, MPI_SEEK_SET));
    EXPECT_OK(MPI_File_read(fh, in, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(in, out, 100) == 0, "wrong bytes");
    EXPECT_OK(MPI_File_get_position(fh, &at));
    CHECK(at == far + 100, "position %lld", (long long)at);
    EXPECT_OK(MPI_File_get_size(fh, &size));
    CHECK(size >= far + 100, "size %lld", (long long)size);
    CHECK(bytes_there(test_file(), far, out, 100) == 100, "not in the file");
    close_file(&fh);
}

/* A count beyond 2 GiB for what is a short file: nothing is cut to 32 bits on the way, and
 * the count is what was there. The buffer takes no memory where it is not touched. */
static void counts_beyond_2gib(void)
{
    size_t ask = (size_t)5 << 30, size = 3 * MIB + 7;
    int ndoubles = (int)(ask / sizeof(double));
    char *all = malloc(size);
    char *in = mmap(NULL, ask, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (in == MAP_FAILED)
        SKIP("no 5 GiB of address space");
    pattern(all, 0, (int)size, 8);
    make_file(test_file(), 0);
    write_plainly(test_file(), 0, all, (MPI_Offset)size);
    MPI_File fh = open_file(MPI_MODE_RDONLY);
    for (int i = 0; i < FORMS; i++) {
        if (form_is(&forms[i], FORM_WRITE) || form_is(&forms[i], FORM_SHARED))
            continue;
        MPI_Count got;
        EXPECT_OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
        struct form_call call = {.fh = fh, .buf = in, .count = ndoubles, .type = MPI_DOUBLE};
        expect(__LINE__, forms[i].name, form_run(&forms[i], &call, &got), MPI_SUCCESS, 0);
        CHECK(got == (MPI_Count)size, "%s: %lld bytes", forms[i].name, (long long)got);
        CHECK(memcmp(in, all, size) == 0 && in[size] == 0, "%s: wrong bytes", forms[i].name);
        MPI_Offset at = -1;
        EXPECT_OK(MPI_File_get_position(fh, &at));
        CHECK(!form_is(&forms[i], FORM_OWN) || at == (MPI_Offset)ask, "%s: pointer at %lld",
              forms[i].name, (long long)at);
        memset(in, 0, size);
    }
    close_file(&fh);
    munmap(in, ask);
    free(all);
}

/* A write of more than 2 GiB that the system lets go on for 1 MiB only. */
static void failing_write_beyond_2gib(void)
{
    size_t ask = (size_t)3 << 30;
    char *zeros = mmap(NULL, ask, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED)
        SKIP("no 3 GiB of address space");
    MPI_File fh = open_new();
    limit_file_size(MIB);
    struct form_call call = {
        .fh = fh, .buf = zeros, .count = (int)(ask / sizeof(double)), .type = MPI_DOUBLE};
    for (int i = 0; i < FORMS; i++) {
        if (!form_is(&forms[i], FORM_WRITE | FORM_AT))
            continue;
        MPI_Count claimed;
        expect(__LINE__, forms[i].name, form_run(&forms[i], &call, &claimed), ANY_ERROR, 0);
        CHECK(claimed <= MIB, "%s claims %lld bytes", forms[i].name, (long long)claimed);
    }
    limit_file_size(-1);
    MPI_Barrier(MPI_COMM_WORLD);
    STILL_WORKS(fh);
    close_file(&fh);
    munmap(zeros, ask);
}

/* ---- Ranks that do different things ------------------------------------------------------ */

static void check_zero_counts(MPI_File fh, int who)
{
    enum {
        N = 500
    };
    char out[N], in[N];
    MPI_Offset mine = (MPI_Offset)N * test_rank;
    bool idle = who == test_nranks ? test_rank % 2 : test_rank == who;
    pattern(out, mine, N, 9 + who);
    for (int i = 0; i < FORMS; i++) {
        if (!form_is(&forms[i], FORM_COLL) || form_is(&forms[i], FORM_SHARED))
            continue;
        bool writes = form_is(&forms[i], FORM_WRITE);
        struct form_call call = {.fh = fh,
                                 .off = mine,
                                 .buf = writes ? out : in,
                                 .count = idle ? 0 : N,
                                 .type = MPI_BYTE};
        MPI_Count got;
        memset(in, 0, N);
        EXPECT_OK(MPI_File_seek(fh, mine, MPI_SEEK_SET));
        expect(__LINE__, forms[i].name, form_run(&forms[i], &call, &got), MPI_SUCCESS, 0);
        CHECK(got == (idle ? 0 : N), "%s: %lld bytes", forms[i].name, (long long)got);
        CHECK(!writes || idle || bytes_there(test_file(), mine, out, N) == N,
              "%s: not in the file", forms[i].name);
    }
}

static void zero_counts_on_some(void)
{
    MPI_File fh = open_new();
    EXPECT_OK(MPI_File_set_size(fh, 500 * test_nranks));
    for (int who = 0; who <= test_nranks; who++)
        check_zero_counts(fh, who);
    close_file(&fh);
}

/* Ranks with a view of nothing, of everything, and with gaps, in one collective. */
static void views_of_nothing_on_some(void)
{
    enum {
        N = 256
    };
    char out[N], in[N];
    MPI_Datatype nothing, gaps, type;
    MPI_Type_contiguous(0, MPI_BYTE, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Type_vector(N / 4, 4, 8, MPI_BYTE, &gaps);
    MPI_Type_commit(&gaps);
    MPI_File fh = open_new();
    for (int turn = 0; turn < 3; turn++) {
        int kind = (test_rank + turn) % 3, count = kind == 0 ? 0 : N, n = -1;
        type = kind == 0 ? nothing : kind == 1 ? gaps : MPI_BYTE;
        MPI_Offset disp = (MPI_Offset)test_rank * 2 * N;
        MPI_Status status;
        pattern(out, disp, N, 20 + turn);
        EXPECT_OK(MPI_File_set_view(fh, disp, MPI_BYTE, type, "native", MPI_INFO_NULL));
        EXPECT_OK(MPI_File_write_at_all(fh, 0, out, count, MPI_BYTE, &status));
        MPI_Get_count(&status, MPI_BYTE, &n);
        CHECK(n == count, "%d bytes written", n);
        memset(in, 0, N);
        EXPECT_OK(MPI_File_read_at_all(fh, 0, in, count, MPI_BYTE, &status));
        MPI_Get_count(&status, MPI_BYTE, &n);
        CHECK(n == count && memcmp(in, out, (size_t)count) == 0, "%d bytes read", n);
    }
    STILL_WORKS(fh);
    close_file(&fh);
    MPI_Type_free(&nothing);
    MPI_Type_free(&gaps);
}

/* Collectives on two files, waited for in a different order on every other rank. */
static void waits_in_another_order(void)
{
    enum {
        N = 3000
    };
    char out[2][N], path[600];
    MPI_Offset mine = (MPI_Offset)N * test_rank;
    MPI_File fh[2] = {open_new(), MPI_FILE_NULL};
    MPI_Request reqs[2];
    snprintf(path, sizeof path, "%s.second", test_file());
    EXPECT_OK(MPI_File_open(MPI_COMM_WORLD, path,
                            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                            MPI_INFO_NULL, &fh[1]));
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 2; i++) {
            pattern(out[i], mine, N, round + i);
            EXPECT_OK(MPI_File_iwrite_at_all(fh[i], mine, out[i], N, MPI_BYTE, &reqs[i]));
        }
        int first = test_rank % 2;
        EXPECT_OK(MPI_Wait(&reqs[first], MPI_STATUS_IGNORE));
        EXPECT_OK(MPI_Wait(&reqs[!first], MPI_STATUS_IGNORE));
        CHECK(bytes_there(test_file(), mine, out[0], N) == N, "round %d, first file", round);
        CHECK(bytes_there(path, mine, out[1], N) == N, "round %d, second file", round);
    }
    close_file(&fh[0]);
    close_file(&fh[1]);
}

static const struct test_case cases[] = {TEST(limit_collective),
                                         TEST(limit_interleaved),
                                         TEST(limit_nonblocking),
                                         TEST(many_requests),
                                         TEST(end_of_file),
                                         TEST(end_of_file_in_view),
                                         TEST(offsets_beyond_4gib),
                                         TEST(counts_beyond_2gib),
                                         TEST(failing_write_beyond_2gib),
                                         TEST(zero_counts_on_some),
                                         TEST(views_of_nothing_on_some),
                                         TEST(waits_in_another_order),
                                         {0}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    signal(SIGXFSZ, SIG_IGN);
    int result = run_error_cases(argc, argv, cases);
    MPI_Finalize();
    return result;
}
