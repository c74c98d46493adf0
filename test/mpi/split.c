/* Split collectives: begin, something else, end. */
#include "expect.h"

enum {
    N = 500
};

static int data[N];

static MPI_File open_mine(void)
{
    MPI_File fh = open_new();
    for (int i = 0; i < N; i++)
        data[i] = test_rank * N + i;
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * N * 4, MPI_INT, MPI_INT, "native",
                         MPI_INFO_NULL));
    return fh;
}

static void check_written(void)
{
    static int got[N];
    MPI_Barrier(MPI_COMM_WORLD);
    load_file(test_file(), (int64_t)test_rank * N * 4, got, sizeof got);
    CHECK(memcmp(got, data, sizeof got) == 0, "file");
}

static void all_kinds(void)
{
    MPI_File fh = open_mine();
    MPI_Status st;
    int got[N] = {0};
    OK(MPI_File_write_at_all_begin(fh, 0, data, N / 2, MPI_INT));
    OK(MPI_File_write_at_all_end(fh, data, &st));
    CHECK(status_count(&st, MPI_INT) == N / 2, "count %d", status_count(&st, MPI_INT));
    OK(MPI_File_seek(fh, N / 2, MPI_SEEK_SET));
    OK(MPI_File_write_all_begin(fh, data + N / 2, N / 2, MPI_INT));
    OK(MPI_File_write_all_end(fh, data + N / 2, &st));
    CHECK(status_count(&st, MPI_INT) == N / 2, "count %d", status_count(&st, MPI_INT));
    OK(MPI_File_read_at_all_begin(fh, 0, got, N, MPI_INT));
    OK(MPI_File_read_at_all_end(fh, got, &st));
    CHECK(status_count(&st, MPI_INT) == N && memcmp(got, data, sizeof got) == 0, "read");
    memset(got, 0, sizeof got);
    OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
    OK(MPI_File_read_all_begin(fh, got, N, MPI_INT));
    OK(MPI_File_read_all_end(fh, got, &st));
    CHECK(status_count(&st, MPI_INT) == N && memcmp(got, data, sizeof got) == 0, "read");
    OK(MPI_File_close(&fh));
    check_written();
}

/* Independent calls on the handle and MPI between the ranks are allowed in between. */
static void work_in_between(void)
{
    MPI_File fh = open_mine();
    MPI_Status st;
    int other = -1, sum = 0, extra = 4711, behind = N * (test_nranks - test_rank);
    OK(MPI_File_write_at_all_begin(fh, 0, data, N, MPI_INT));
    OK(MPI_File_write_at(fh, behind + test_rank, &extra, 1, MPI_INT, &st));
    OK(MPI_File_read_at(fh, behind + test_rank, &other, 1, MPI_INT, &st));
    CHECK(other == extra, "%d", other);
    MPI_Allreduce(&test_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == test_nranks * (test_nranks - 1) / 2, "%d", sum);
    OK(MPI_File_write_at_all_end(fh, data, &st));
    CHECK(status_count(&st, MPI_INT) == N, "count");
    OK(MPI_File_close(&fh));
    check_written();
}

static void out_of_turn(void)
{
    MPI_File fh = open_mine();
    MPI_Status st;
    int got[N];
    FAILS(MPI_File_write_all_end(fh, data, &st), MPI_ERR_IO);
    FAILS(MPI_File_read_at_all_end(fh, data, &st), MPI_ERR_IO);
    FAILS(MPI_File_read_ordered_end(fh, data, &st), MPI_ERR_IO);
    OK(MPI_File_write_at_all_begin(fh, 0, data, N, MPI_INT));
    FAILS(MPI_File_read_all_begin(fh, got, 1, MPI_INT), MPI_ERR_IO);
    FAILS(MPI_File_write_at_all_begin(fh, 0, data, N, MPI_INT), MPI_ERR_IO);
    FAILS(MPI_File_write_ordered_begin(fh, data, 1, MPI_INT), MPI_ERR_IO);
    FAILS(MPI_File_read_at_all_end(fh, data, &st), MPI_ERR_IO);
    FAILS(MPI_File_write_all_end(fh, data, &st), MPI_ERR_IO);
    OK(MPI_File_write_at_all_end(fh, data, &st)); /* the right one still works */
    CHECK(status_count(&st, MPI_INT) == N, "count");
    FAILS(MPI_File_write_at_all_end(fh, data, &st), MPI_ERR_IO);
    OK(MPI_File_close(&fh));
    check_written();
}

static void uneven_and_end_of_file(void)
{
    MPI_File fh = open_mine();
    MPI_Status st;
    int got[N], n = test_rank % 2 ? 0 : N, last = test_rank == test_nranks - 1;
    OK(MPI_File_write_at_all_begin(fh, 0, data, n, MPI_INT));
    OK(MPI_File_write_at_all_end(fh, data, &st));
    CHECK(status_count(&st, MPI_INT) == n, "count %d", status_count(&st, MPI_INT));
    sync_all(fh);
    OK(MPI_File_set_size(fh, (MPI_Offset)(test_nranks * N - N / 2) * 4));
    OK(MPI_File_read_at_all_begin(fh, 0, got, N, MPI_INT));
    OK(MPI_File_read_at_all_end(fh, got, &st));
    CHECK(status_count(&st, MPI_INT) == (last ? N / 2 : N), "count %d",
          status_count(&st, MPI_INT));
    OK(MPI_File_close(&fh));
}

/* One on each of several files at the same time. */
static void several_files(void)
{
    enum {
        FILES = 5
    };
    MPI_File fh[FILES];
    char path[700], name[8];
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "s%d", i);
        snprintf(path, sizeof path, "%s", other_file(name));
        OK(MPI_File_open(MPI_COMM_WORLD, path,
                         MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                         MPI_INFO_NULL, &fh[i]));
        OK(MPI_File_write_at_all_begin(fh[i], 16 * test_rank, data + i, 4, MPI_INT));
    }
    for (int i = FILES - 1; i >= 0; i--) {
        int got[4];
        OK(MPI_File_write_at_all_end(fh[i], data + i, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(fh[i], 16 * test_rank, got, 4, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(memcmp(got, data + i, sizeof got) == 0, "file %d", i);
        OK(MPI_File_close(&fh[i]));
    }
}

static const struct test_case cases[] = {TEST(all_kinds),     TEST(work_in_between),
                                         TEST(out_of_turn),   TEST(uneven_and_end_of_file),
                                         TEST(several_files), {0}};
TEST_MAIN(cases)
