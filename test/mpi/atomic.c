/* Atomic mode: an access happens as a whole or not at all, also a strided one that overlaps
 * others, also while others read. Every access writes one value everywhere, so any mixture
 * is seen. */
#include "expect.h"

enum {
    BLOCKS = 48,
    BLOCK = 24,
    STRIDE = 100
};

/* All ranks the same strided blocks, atomic. */
static MPI_File open_strided(void)
{
    MPI_Datatype v, t;
    make_file(test_file(), BLOCKS * STRIDE, 0);
    MPI_File fh = open_file(MPI_MODE_RDWR);
    MPI_Type_vector(BLOCKS, BLOCK, STRIDE, MPI_BYTE, &v);
    MPI_Type_create_resized(v, 0, BLOCKS * STRIDE, &t);
    MPI_Type_commit(&t);
    OK(MPI_File_set_view(fh, 0, MPI_BYTE, t, "native", MPI_INFO_NULL));
    OK(MPI_File_set_atomicity(fh, 1));
    MPI_Type_free(&v);
    MPI_Type_free(&t);
    return fh;
}

static void check_one_value(const unsigned char *data, int n, const char *what, int round)
{
    for (int i = 1; i < n; i++)
        if (data[i] != data[0]) {
            CHECK(0, "%s %d: byte %d is %d, byte 0 is %d", what, round, i, data[i], data[0]);
            return;
        }
}

static void check_file(void)
{
    static unsigned char all[BLOCKS * STRIDE], data[BLOCKS * BLOCK];
    MPI_Barrier(MPI_COMM_WORLD);
    load_file(test_file(), 0, all, sizeof all);
    for (int b = 0; b < BLOCKS; b++) {
        memcpy(data + b * BLOCK, all + b * STRIDE, BLOCK);
        for (int i = BLOCK; i < STRIDE; i++)
            CHECK(all[b * STRIDE + i] == 0, "gap byte %d of block %d", i, b);
    }
    check_one_value(data, sizeof data, "file", 0);
}

static void get_and_set(void)
{
    MPI_File fh = open_new();
    int flag = -1;
    OK(MPI_File_get_atomicity(fh, &flag));
    CHECK(flag == 0, "%d", flag);
    OK(MPI_File_set_atomicity(fh, 1));
    OK(MPI_File_get_atomicity(fh, &flag));
    CHECK(flag == 1, "%d", flag);
    OK(MPI_File_set_atomicity(fh, 0));
    OK(MPI_File_get_atomicity(fh, &flag));
    CHECK(flag == 0, "%d", flag);
    OK(MPI_File_close(&fh));
}

/* Writes and reads by all ranks against each other. */
static void independent(void)
{
    enum {
        ROUNDS = 150
    };
    static unsigned char data[BLOCKS * BLOCK];
    MPI_File fh = open_strided();
    for (int i = 0; i < ROUNDS; i++) {
        if ((i + test_rank) % 2) {
            memset(data, 1 + (i * test_nranks + test_rank) % 250, sizeof data);
            OK(MPI_File_write_at(fh, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_File_read_at(fh, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
            check_one_value(data, sizeof data, "read", i);
        }
    }
    OK(MPI_File_close(&fh));
    check_file();
}

/* Strided in memory as well, through nonblocking calls. */
static void nonblocking(void)
{
    enum {
        ROUNDS = 60,
        N = BLOCKS * BLOCK
    };
    static unsigned char mem[3 * N], data[N];
    MPI_Datatype v;
    MPI_File fh = open_strided();
    MPI_Type_vector(N / 8, 8, 24, MPI_BYTE, &v);
    MPI_Type_commit(&v);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request req;
        if ((i + test_rank) % 2) {
            memset(mem, 1 + (i * test_nranks + test_rank) % 250, sizeof mem);
            OK(MPI_File_iwrite_at(fh, 0, mem, 1, v, &req));
        } else {
            OK(MPI_File_iread_at(fh, 0, mem, 1, v, &req));
        }
        OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        for (int j = 0; j < N; j++)
            data[j] = mem[j / 8 * 24 + j % 8];
        check_one_value(data, N, "round", i);
    }
    MPI_Type_free(&v);
    OK(MPI_File_close(&fh));
    check_file();
}

/* All ranks write the same bytes in one collective call: one of them wins all. */
static void collective(void)
{
    enum {
        ROUNDS = 30
    };
    static unsigned char data[BLOCKS * BLOCK];
    MPI_File fh = open_strided();
    for (int i = 0; i < ROUNDS; i++) {
        memset(data, 1 + (i * test_nranks + test_rank) % 250, sizeof data);
        OK(MPI_File_write_at_all(fh, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_read_at_all(fh, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
        check_one_value(data, sizeof data, "collective", i);
        int winner[2] = {data[0], -data[0]}, same[2];
        MPI_Allreduce(winner, same, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK(same[0] == -same[1], "ranks see different winners");
    }
    OK(MPI_File_close(&fh));
    check_file();
}

/* Windows that overlap only partly: in the part that neighbours share, one value. */
static void partial_overlap(void)
{
    enum {
        ROUNDS = 40,
        LEN = 3000,
        STEP = 1000
    };
    make_file(test_file(), (test_nranks + 2) * STEP * 2, 0);
    MPI_File fh = open_file(MPI_MODE_RDWR);
    MPI_Datatype v, t;
    static unsigned char data[LEN];
    MPI_Type_vector(1, 1, 2, MPI_BYTE, &v);
    MPI_Type_create_resized(v, 0, 2, &t); /* every other byte */
    MPI_Type_commit(&t);
    OK(MPI_File_set_view(fh, 0, MPI_BYTE, t, "native", MPI_INFO_NULL));
    OK(MPI_File_set_atomicity(fh, 1));
    for (int i = 0; i < ROUNDS; i++) {
        memset(data, 1 + (i * test_nranks + test_rank) % 250, LEN);
        OK(MPI_File_write_at(fh, test_rank * STEP, data, LEN, MPI_BYTE, MPI_STATUS_IGNORE));
        /* Cells of STEP bytes are covered as a whole by every access that touches them. */
        OK(MPI_File_read_at(fh, test_rank * STEP, data, LEN, MPI_BYTE, MPI_STATUS_IGNORE));
        for (int k = 0; k < LEN / STEP; k++)
            check_one_value(data + k * STEP, STEP, "cell", i);
    }
    MPI_Type_free(&v);
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
}

/* No sync is needed: what was written before a message is seen after it. */
static void visible_at_once(void)
{
    make_file(test_file(), 400, 0);
    MPI_File fh = open_file(MPI_MODE_RDWR);
    int next = (test_rank + 1) % test_nranks,
        before = (test_rank + test_nranks - 1) % test_nranks;
    OK(MPI_File_set_atomicity(fh, 1));
    for (int i = 0; i < 20; i++) {
        int value = 100 * i + test_rank, got = -1;
        OK(MPI_File_write_at(fh, 4 * test_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_read_at(fh, 4 * next, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(got == 100 * i + next, "round %d: %d", i, got);
        OK(MPI_File_read_at(fh, 4 * before, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(got == 100 * i + before, "round %d: %d", i, got);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&fh));
}

static const struct test_case cases[] = {TEST(get_and_set),
                                         TEST(independent),
                                         TEST(nonblocking),
                                         TEST(collective),
                                         TEST(partial_overlap),
                                         TEST(visible_at_once),
                                         {0}};
TEST_MAIN(cases)
