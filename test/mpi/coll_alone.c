/* Short collective accesses that need no owner: each rank sees at once what the others have
 * written, ranks that want owners beside them are served, and of a write that fails every rank
 * is told, also one that only wrote what was there. */
#include <signal.h>
#include <sys/resource.h>

#include "check_mpi.h"
#include "expect.h"

#include "brio/brio.h"

enum {
    BLOCK = 16 << 10,
    SHIFTS = 7,
    TIMES = 200
};

static int buf[BLOCK / 4 + SHIFTS];

static long long counter(MPI_File fh, const char *name)
{
    long long value = -1;
    OK(brio_counter(fh, name, &value));
    return value;
}

static MPI_File open_it(void)
{
    MPI_File fh;
    OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                     MPI_INFO_NULL, &fh));
    return fh;
}

static void dawdle(int chance)
{
    if (rand() % chance == 0)
        usleep((useconds_t)(rand() % 400));
}

static int move_block(MPI_File fh, int write, int block)
{
    MPI_Status status;
    int n, code = write ? MPI_File_write_at_all(fh, (MPI_Offset)block * BLOCK, buf, BLOCK,
                                                MPI_BYTE, &status)
                        : MPI_File_read_at_all(fh, (MPI_Offset)block * BLOCK, buf, BLOCK,
                                               MPI_BYTE, &status);
    MPI_Get_count(&status, MPI_BYTE, &n);
    if (!code)
        CHECK(n == BLOCK, "%d bytes moved", n);
    return code;
}

static void fill(int value)
{
    for (int i = 0; i < BLOCK / 4; i++)
        buf[i] = value;
}

static void check_filled(int value)
{
    for (int i = 0; i < BLOCK / 4; i++)
        if (buf[i] != value) {
            CHECK(0, "word %d is %d, not %d", i, buf[i], value);
            return;
        }
}

/* Each rank writes its block and reads the next one's, some times, now and then late. */
static void each_sees_the_other(void)
{
    MPI_File fh = open_it();
    srand((unsigned)test_rank);
    for (int k = 0; k < TIMES; k++) {
        int next = (test_rank + 1 + k % test_nranks) % test_nranks;
        for (int again = 0; again <= k % 3; again++) {
            dawdle(8);
            fill(3 * k + again);
            OK(move_block(fh, 1, test_rank));
        }
        for (int again = 0; again <= k % 4; again++) {
            dawdle(8);
            fill(-1);
            OK(move_block(fh, 0, next));
            check_filled(3 * k + k % 3);
        }
    }
    OK(MPI_File_close(&fh));
}

/* The file in words, dealt to the ranks one by one. */
static int word_of(int rank, int i)
{
    return 1000 * i + rank;
}

/* Rank 0 has one piece, the others many, and nobody has had many before. */
static void ranks_of_different_kinds(void)
{
    MPI_Datatype word;
    MPI_Status status;
    enum {
        MANY = BLOCK / 4
    };
    MPI_File fh = open_it();
    MPI_Type_create_resized(MPI_INT, 0, 4 * test_nranks, &word);
    MPI_Type_commit(&word);
    OK(MPI_File_set_view(fh, 4 * test_rank, MPI_INT, word, "native", MPI_INFO_NULL));
    for (int i = 0; i < MANY + SHIFTS; i++)
        buf[i] = word_of(test_rank, i);
    OK(MPI_File_write_at(fh, 0, buf, MANY + SHIFTS, MPI_INT, &status));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < TIMES; k++) {
        int write = k / 10 % 2, at = k % SHIFTS, got;
        int n = test_rank > 0 && k % 10 >= 6 ? MANY : 1;
        for (int i = 0; i < n; i++)
            buf[i] = write ? word_of(test_rank, i + at) : -1;
        OK(write ? MPI_File_write_at_all(fh, at, buf, n, MPI_INT, &status)
                 : MPI_File_read_at_all(fh, at, buf, n, MPI_INT, &status));
        MPI_Get_count(&status, MPI_INT, &got);
        CHECK(got == n, "%d of %d words in access %d", got, n, k);
        for (int i = 0; i < n; i++)
            CHECK(buf[i] == word_of(test_rank, i + at), "word %d is %d in access %d", i, buf[i],
                  k);
    }
    if (test_nranks > 2)
        CHECK(counter(fh, "owners") > 0, "no owner has been at work");
    OK(MPI_File_close(&fh));
    MPI_Type_free(&word);
}

/* Of the last rank only. */
static void limit_file(long long bytes)
{
    struct rlimit now;
    getrlimit(RLIMIT_FSIZE, &now);
    now.rlim_cur = bytes < 0 || test_rank < test_nranks - 1 ? now.rlim_max : (rlim_t)bytes;
    setrlimit(RLIMIT_FSIZE, &now);
}

/* While all others write what is there already. */
static void every_rank_is_told(void)
{
    int last = test_rank == test_nranks - 1;
    MPI_File fh = open_it();
    signal(SIGXFSZ, SIG_IGN);
    fill(1);
    for (int k = 0; k < 10; k++)
        OK(move_block(fh, 1, test_rank));
    limit_file((long long)test_nranks * BLOCK);
    for (int k = 0; k < 5; k++) {
        int code = move_block(fh, 1, last ? test_nranks + k : test_rank);
        CHECK(code != MPI_SUCCESS, "rank %d was told of success in write %d", test_rank, k);
        OK(move_block(fh, 1, test_rank));
        OK(move_block(fh, 0, test_rank));
    }
    limit_file(-1);
    OK(move_block(fh, 1, last ? test_nranks : test_rank));
    /* What was there is there no more. */
    OK(MPI_File_set_size(fh, 0));
    limit_file(BLOCK / 2);
    int code = move_block(fh, 1, test_rank);
    CHECK(code != MPI_SUCCESS, "rank %d was told of success behind a cut", test_rank);
    limit_file(-1);
    OK(move_block(fh, 1, test_rank));
    OK(MPI_File_close(&fh));
}

static const struct test_case cases[] = {TEST(each_sees_the_other),
                                         TEST(ranks_of_different_kinds),
                                         TEST(every_rank_is_told),

                                         {0}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int code = test_main_mpi(argc, argv, cases);
    MPI_Finalize();
    return code;
}
