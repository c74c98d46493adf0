/* The individual file pointer: what moves it, by how much and when. */
#include "calls.h"
#include "expect.h"

enum {
    REGION = 1000
}; /* ints of each rank */

static int64_t position(MPI_File fh)
{
    MPI_Offset at = -1;
    OK(MPI_File_get_position(fh, &at));
    return at;
}

/* A file of ints seen from this rank's region on. */
static MPI_File open_region(void)
{
    MPI_File fh = open_new();
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * REGION * 4, MPI_INT, MPI_INT, "native",
                         MPI_INFO_NULL));
    return fh;
}

/* Every kind of call, one behind the other; the data must lie in that order. */
static void every_kind_moves_it(void)
{
    MPI_File fh = open_region();
    int data[8], got[8], at = 0;
    MPI_Status st;
    for (int k = 0; k < KINDS; k++) {
        int n = 3 + (test_rank + k) % 4;
        for (int i = 0; i < n; i++)
            data[i] = k * 100 + i;
        struct call c = {(enum kind)k, 500 + 10 * k, data, n, MPI_INT, k & 1};
        OK(call_write(fh, &c, &st));
        CHECK(status_count(&st, MPI_INT) == n, "kind %d: count %d", k,
              status_count(&st, MPI_INT));
        at += uses_pointer((enum kind)k) ? n : 0;
        CHECK(position(fh) == at, "kind %d: at %lld, not %d", k, (long long)position(fh), at);
    }
    OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
    for (int k = 0, from = 0; k < KINDS; k++) {
        int n = 3 + (test_rank + k) % 4;
        struct call c = {(enum kind)k, 500 + 10 * k, got, n, MPI_INT, k & 1};
        memset(got, 0, sizeof got);
        OK(call_read(fh, &c, &st));
        CHECK(status_count(&st, MPI_INT) == n, "kind %d: count", k);
        for (int i = 0; i < n; i++)
            CHECK(got[i] == k * 100 + i, "kind %d, %d: %d", k, i, got[i]);
        from += uses_pointer((enum kind)k) ? n : 0;
        CHECK(position(fh) == from, "kind %d: at %lld", k, (long long)position(fh));
    }
    OK(MPI_File_close(&fh));
}

/* It moves when the call is made, not when the operation completes. */
static void moved_before_completion(void)
{
    MPI_File fh = open_region();
    int data[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, got[10] = {0};
    MPI_Request req[2];
    MPI_Status st[2];
    OK(MPI_File_iwrite(fh, data, 4, MPI_INT, &req[0]));
    CHECK(position(fh) == 4, "at %lld", (long long)position(fh));
    OK(MPI_File_iwrite(fh, data + 4, 6, MPI_INT, &req[1]));
    CHECK(position(fh) == 10, "at %lld", (long long)position(fh));
    OK(MPI_Waitall(2, req, st));
    OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
    OK(MPI_File_read_all_begin(fh, got, 10, MPI_INT));
    CHECK(position(fh) == 10, "split: at %lld", (long long)position(fh));
    OK(MPI_File_read_all_end(fh, got, MPI_STATUS_IGNORE));
    CHECK(memcmp(got, data, sizeof data) == 0, "data");
    OK(MPI_File_iread_all(fh, got, 7, MPI_INT, &req[0]));
    CHECK(position(fh) == 17, "at %lld", (long long)position(fh));
    OK(MPI_Wait(&req[0], MPI_STATUS_IGNORE));
    OK(MPI_File_close(&fh));
}

/* At end of file it moves by what was asked for, and the status tells what was there. */
static void past_the_end(void)
{
    MPI_File fh = open_new();
    int data[10] = {0}, got[20];
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    if (test_rank == 0)
        OK(MPI_File_write_at(fh, 0, data, 10, MPI_INT, MPI_STATUS_IGNORE));
    sync_all(fh);
    for (int k = 0; k < KINDS; k++) {
        MPI_Status st;
        struct call c = {(enum kind)k, 6, got, 9, MPI_INT, 0};
        memset(got, 0x7f, sizeof got);
        OK(MPI_File_seek(fh, 6, MPI_SEEK_SET));
        OK(call_read(fh, &c, &st));
        CHECK(status_count(&st, MPI_INT) == 4, "kind %d: count %d", k,
              status_count(&st, MPI_INT));
        CHECK(got[3] == 0 && got[4] == 0x7f7f7f7f, "kind %d: behind the end untouched", k);
        if (uses_pointer((enum kind)k))
            CHECK(position(fh) == 15, "kind %d: at %lld", k, (long long)position(fh));
        c.off = 100;
        OK(MPI_File_seek(fh, 100, MPI_SEEK_SET));
        OK(call_read(fh, &c, &st));
        CHECK(status_count(&st, MPI_INT) == 0, "kind %d: count", k);
    }
    OK(MPI_File_close(&fh));
}

/* Explicit offsets and the shared pointer are other things. */
static void three_pointers(void)
{
    MPI_File fh = open_new();
    int one = 1;
    MPI_Offset shared = -1;
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_seek(fh, 11 + test_rank, MPI_SEEK_SET));
    OK(MPI_File_write_at(fh, 100 + test_rank, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_write_shared(fh, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_write_ordered(fh, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(position(fh) == 11 + test_rank, "at %lld", (long long)position(fh));
    OK(MPI_File_write(fh, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_position_shared(fh, &shared));
    CHECK(shared == 2 * test_nranks, "shared at %lld", (long long)shared);
    OK(MPI_File_close(&fh));
}

/* Counted in etypes, whatever the memory type. */
static void counted_in_etypes(void)
{
    MPI_File fh = open_new();
    MPI_Datatype three, pair;
    double data[12] = {0};
    MPI_Type_contiguous(3, MPI_DOUBLE, &three);
    MPI_Type_vector(2, 3, 5, MPI_DOUBLE, &pair); /* six doubles: two etypes */
    MPI_Type_commit(&three);
    MPI_Type_commit(&pair);
    OK(MPI_File_set_view(fh, 0, three, three, "native", MPI_INFO_NULL));
    OK(MPI_File_seek(fh, 100 * test_rank, MPI_SEEK_SET));
    OK(MPI_File_write(fh, data, 1, pair, MPI_STATUS_IGNORE));
    CHECK(position(fh) == 100 * test_rank + 2, "at %lld", (long long)position(fh));
    OK(MPI_File_write_all(fh, data, 9, MPI_DOUBLE, MPI_STATUS_IGNORE));
    CHECK(position(fh) == 100 * test_rank + 5, "at %lld", (long long)position(fh));
    MPI_Type_free(&three);
    MPI_Type_free(&pair);
    OK(MPI_File_close(&fh));
}

/* Two opens of one file: pointers of their own. */
static void two_handles(void)
{
    MPI_File a = open_new(), b = open_new();
    MPI_Offset shared = -1;
    OK(MPI_File_seek(a, 5, MPI_SEEK_SET));
    OK(MPI_File_seek_shared(a, 6, MPI_SEEK_SET));
    CHECK(position(b) == 0, "b at %lld", (long long)position(b));
    OK(MPI_File_get_position_shared(b, &shared));
    CHECK(shared == 0, "b's shared at %lld", (long long)shared);
    CHECK(position(a) == 5, "a at %lld", (long long)position(a));
    OK(MPI_File_close(&a));
    CHECK(position(b) == 0, "b still open");
    OK(MPI_File_close(&b));
}

/* Ranks may be anywhere in one collective call, and some may bring nothing. */
static void uneven_collective(void)
{
    MPI_File fh = open_new();
    int n = test_rank % 3, at = 50 * (test_nranks - test_rank), data[2] = {test_rank, 77};
    MPI_Status st;
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_seek(fh, at, MPI_SEEK_SET));
    OK(MPI_File_write_all(fh, data, n, MPI_INT, &st));
    CHECK(status_count(&st, MPI_INT) == n && position(fh) == at + n, "count %d, at %lld",
          status_count(&st, MPI_INT), (long long)position(fh));
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        int got;
        load_file(test_file(), (at + i) * 4, &got, 4);
        CHECK(got == data[i], "%d: %d", i, got);
    }
}

static const struct test_case cases[] = {
    TEST(every_kind_moves_it), TEST(moved_before_completion),
    TEST(past_the_end),        TEST(three_pointers),
    TEST(counted_in_etypes),   TEST(two_handles),
    TEST(uneven_collective),   {0}};
TEST_MAIN(cases)
