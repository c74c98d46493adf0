/* Ordered collectives on the shared pointer: as if the ranks came one after the other. */
#include "expect.h"

static int count_of(int rank, int round)
{
    return (rank * 5 + round * 3) % 4; /* 0 .. 3 */
}

static int before_me(int round)
{
    int n = 0;
    for (int r = 0; r < test_rank; r++)
        n += count_of(r, round);
    return n;
}

static int in_round(int round)
{
    int n = 0;
    for (int r = 0; r < test_nranks; r++)
        n += count_of(r, round);
    return n;
}

static int value_of(int rank, int round, int i)
{
    return rank * 100000 + round * 10 + i;
}

static MPI_File open_ints(void)
{
    MPI_File fh = open_new();
    OK(MPI_File_set_view(fh, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    return fh;
}

static int begin_end;

static void one_write(MPI_File fh, int round)
{
    int data[4], n = count_of(test_rank, round);
    MPI_Status st;
    for (int i = 0; i < n; i++)
        data[i] = value_of(test_rank, round, i);
    if (begin_end) {
        OK(MPI_File_write_ordered_begin(fh, data, n, MPI_INT));
        OK(MPI_File_write_ordered_end(fh, data, &st));
    } else {
        OK(MPI_File_write_ordered(fh, data, n, MPI_INT, &st));
    }
    CHECK(status_count(&st, MPI_INT) == n, "round %d: count %d", round,
          status_count(&st, MPI_INT));
}

static void one_read(MPI_File fh, int round)
{
    int got[4], n = count_of(test_rank, round);
    MPI_Status st;
    if (begin_end) {
        OK(MPI_File_read_ordered_begin(fh, got, n, MPI_INT));
        OK(MPI_File_read_ordered_end(fh, got, &st));
    } else {
        OK(MPI_File_read_ordered(fh, got, n, MPI_INT, &st));
    }
    CHECK(status_count(&st, MPI_INT) == n, "round %d: count", round);
    for (int i = 0; i < n; i++)
        CHECK(got[i] == value_of(test_rank, round, i), "round %d, %d: %d", round, i, got[i]);
}

static void write_and_read(void)
{
    enum {
        ROUNDS = 60
    };
    MPI_File fh = open_ints();
    MPI_Offset at = -1, total = 0;
    for (int i = 0; i < ROUNDS; i++) {
        one_write(fh, i);
        total += in_round(i);
    }
    OK(MPI_File_get_position_shared(fh, &at));
    CHECK(at == total, "at %lld, not %lld", (long long)at, (long long)total);
    sync_all(fh);
    OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    for (int i = 0; i < ROUNDS; i++)
        one_read(fh, i);
    OK(MPI_File_close(&fh));
    int64_t place = 8;
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < count_of(test_rank, i); k++) {
            int got;
            load_file(test_file(), place + 4 * (before_me(i) + k), &got, 4);
            CHECK(got == value_of(test_rank, i, k), "round %d: %d", i, got);
        }
        place += 4 * in_round(i);
    }
}

static void blocking(void)
{
    begin_end = 0;
    write_and_read();
}

static void split(void)
{
    begin_end = 1;
    write_and_read();
}

/* A shared write after an ordered one comes behind all of it, on whatever rank. */
static void ordered_then_shared(void)
{
    enum {
        ROUNDS = 25
    };
    MPI_File fh = open_new();
    int word = 0;
    for (int i = 0; i < ROUNDS; i++) {
        char o = 'o', s = 's';
        OK(MPI_File_write_ordered(fh, &o, 1, MPI_CHAR, MPI_STATUS_IGNORE));
        OK(MPI_File_write_shared(fh, &s, 1, MPI_CHAR, MPI_STATUS_IGNORE));
        MPI_Allreduce(MPI_IN_PLACE, &word, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    char *all = malloc((size_t)(2 * ROUNDS * test_nranks));
    load_file(test_file(), 0, all, (size_t)(2 * ROUNDS * test_nranks));
    for (int i = 0; i < 2 * ROUNDS * test_nranks; i++)
        CHECK(all[i] == (i / test_nranks % 2 ? 's' : 'o'), "byte %d is %c", i, all[i]);
    free(all);
}

/* Nobody waits between them: the next one may not overtake. */
static void back_to_back(void)
{
    enum {
        ROUNDS = 100
    };
    MPI_File fh = open_new();
    for (int i = 0; i < ROUNDS; i++) {
        int data[2] = {i, test_rank};
        OK(MPI_File_write_ordered(fh, data, 2, MPI_INT, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; i++) {
        int got[2];
        load_file(test_file(), 8 * (i * test_nranks + test_rank), got, 8);
        CHECK(got[0] == i && got[1] == test_rank, "%d: %d %d", i, got[0], got[1]);
    }
}

static int long_count(int rank, int round)
{
    static const int counts[] = {1500, 16384, 3,   2049, 20000, 0,    4097,
                                 2048, 1024,  257, 256,  2047,  4096, 16385};
    int n = round % 3 == 0 ? rank : round; /* all of one length, or not */
    return counts[n % 14];
}

/* Records around the lengths from which on each rank makes its own access (1, 8, 16 and 64
 * KiB). */
static void long_records(void)
{
    enum {
        ROUNDS = 28,
        MOST = 20000
    };
    MPI_File fh = open_ints();
    int *data = malloc(MOST * sizeof *data);
    for (int i = 0; i < ROUNDS; i++) {
        int n = long_count(test_rank, i);
        for (int k = 0; k < n; k++)
            data[k] = value_of(test_rank, i, k);
        OK(MPI_File_write_ordered(fh, data, n, MPI_INT, MPI_STATUS_IGNORE));
    }
    sync_all(fh);
    OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    for (int i = 0; i < ROUNDS; i++) {
        int n = long_count(test_rank, i), bad = 0;
        MPI_Status st;
        memset(data, -1, MOST * sizeof *data);
        OK(MPI_File_read_ordered(fh, data, n, MPI_INT, &st));
        for (int k = 0; k < n; k++)
            bad += data[k] != value_of(test_rank, i, k);
        CHECK(bad == 0 && status_count(&st, MPI_INT) == n, "round %d: %d wrong of %d", i, bad,
              n);
    }
    free(data);
    OK(MPI_File_close(&fh));
    if (test_rank == 0) {
        int64_t place = 8;
        int got = -1;
        for (int i = 0; i < ROUNDS; i++)
            for (int r = 0; r < test_nranks; r++) {
                int n = long_count(r, i);
                if (n > 0)
                    load_file(test_file(), place + 4 * (n - 1), &got, 4);
                CHECK(n == 0 || got == value_of(r, i, n - 1), "round %d, rank %d: %d", i, r,
                      got);
                place += 4 * n;
            }
    }
}

/* End of file falls between two ranks: each is told the truth about its own part. */
static void end_of_file(void)
{
    int have = 10 * (test_nranks - 1) + 3; /* the last rank finds only three */
    make_file(test_file(), have, 'e');
    MPI_File fh = open_file(MPI_MODE_RDONLY);
    char got[10];
    MPI_Status st;
    memset(got, 'x', sizeof got);
    OK(MPI_File_read_ordered(fh, got, 10, MPI_CHAR, &st));
    int want = test_rank == test_nranks - 1 ? 3 : 10;
    CHECK(status_bytes(&st) == want, "%lld bytes", (long long)status_bytes(&st));
    for (int i = 0; i < 10; i++)
        CHECK(got[i] == (i < want ? 'e' : 'x'), "byte %d is %c", i, got[i]);
    OK(MPI_File_read_ordered(fh, got, 10, MPI_CHAR, &st));
    CHECK(status_bytes(&st) == 0, "%lld bytes", (long long)status_bytes(&st));
    OK(MPI_File_close(&fh));
}

static const struct test_case cases[] = {TEST(blocking),
                                         TEST(split),
                                         TEST(ordered_then_shared),
                                         TEST(back_to_back),
                                         TEST(end_of_file),
                                         TEST(long_records),
                                         {0}};
TEST_MAIN(cases)
