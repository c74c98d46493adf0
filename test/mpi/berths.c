/* Ranks that share cores spread over them, bound ones stay, and a rank's affinity is always
 * what it was. Where a rank is, and that it moves, is made up here: nothing depends on the
 * system. */
#define _GNU_SOURCE
#include <sched.h>

#include "expect.h"

#include "brio/brio.h"

enum {
    BLOCK = 64,
    NBLOCKS = 100,
    BYTES = BLOCK * NBLOCKS,
    ACCESSES = 40
};

static struct {
    int core;        /* this rank's */
    int calls;       /* that set its affinity */
    cpu_set_t last;  /* that was set */
    cpu_set_t shown; /* what it is told to be */
} made_up;

#pragma GCC visibility push(default)

int sched_getcpu(void)
{
    return made_up.core;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask)
{
    (void)pid;
    memcpy(mask, &made_up.shown, size < sizeof made_up.shown ? size : sizeof made_up.shown);
    return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask)
{
    (void)pid;
    (void)size;
    made_up.calls++;
    made_up.last = *mask;
    for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(mask) == 1; c++)
        if (CPU_ISSET((size_t)c, mask))
            made_up.core = c;
    return 0;
}

#pragma GCC visibility pop

static int ncores(void)
{
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* All ranks on core 0; they may go to all that there are, or only to this one. */
static void crowd(int bound)
{
    made_up.core = 0;
    made_up.calls = 0;
    CPU_ZERO(&made_up.shown);
    for (int c = 0; c < (bound ? 1 : ncores()); c++)
        CPU_SET((size_t)c, &made_up.shown);
}

/* Blocks in turn, written and read again and again; the ranks' moves together. */
static long long work(const char *may_move)
{
    static unsigned char out[BYTES], in[BYTES];
    long long mine = -1, moves;
    MPI_Datatype vector;
    MPI_Info info;
    MPI_File fh;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_move_ranks", may_move);
    OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh));
    MPI_Info_free(&info);
    MPI_Type_vector(NBLOCKS, BLOCK, BLOCK * test_nranks, MPI_BYTE, &vector);
    MPI_Type_commit(&vector);
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * BLOCK, MPI_BYTE, vector, "native",
                         MPI_INFO_NULL));
    MPI_Type_free(&vector);
    for (int n = 0; n < ACCESSES; n++) {
        for (int i = 0; i < BYTES; i++)
            out[i] = (unsigned char)(test_rank * 31 + i * 7 + n);
        OK(MPI_File_write_at_all(fh, 0, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at_all(fh, 0, in, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(memcmp(in, out, BYTES) == 0, "access %d: other bytes", n);
        usleep(1000); /* a rank moves once in a millisecond */
    }
    OK(brio_counter(fh, "rank.moves", &mine));
    OK(MPI_File_close(&fh));
    MPI_Allreduce(&mine, &moves, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return moves;
}

/* Ranks on the fullest core less those on the emptiest. */
static int difference(void)
{
    int most = 0, least = test_nranks;
    for (int c = 0; c < ncores(); c++) {
        int here = made_up.core == c, count;
        MPI_Allreduce(&here, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        most = count > most ? count : most;
        least = count < least ? count : least;
    }
    return most - least;
}

static void crowded_ranks_spread(void)
{
    if (test_nranks <= ncores() || ncores() < 2)
        SKIP("every rank has a core, or there is one only");
    crowd(0);
    long long moves = work("true");
    CHECK(difference() < 2, "a core has %d ranks more than another", difference());
    CHECK(moves >= test_nranks - (test_nranks + ncores() - 1) / ncores(), "%lld moves", moves);
    CHECK(made_up.calls == 0 || CPU_EQUAL(&made_up.last, &made_up.shown),
          "the affinity is not what it was");
}

static void bound_ranks_stay(void)
{
    crowd(1);
    CHECK(work("true") == 0 && made_up.calls == 0, "%d calls", made_up.calls);
}

static void nobody_moves_if_told_so(void)
{
    crowd(0);
    CHECK(work("false") == 0 && made_up.calls == 0, "%d calls", made_up.calls);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        TEST(crowded_ranks_spread), TEST(bound_ranks_stay), TEST(nobody_moves_if_told_so), {0}};
    MPI_Init(&argc, &argv);
    int code = test_main_mpi(argc, argv, cases);
    MPI_Finalize();
    return code;
}
