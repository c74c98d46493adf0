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
    int core;       /* this rank's */
    int calls;      /* that set its affinity */
    cpu_set_t own;  /* what was set last */
    cpu_set_t ours; /* what the system allows */
} made_up;

#pragma GCC visibility push(default)

int sched_getcpu(void)
{
    return made_up.core;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask)
{
    cpu_set_t both;
    (void)pid;
    CPU_AND(&both, &made_up.own, &made_up.ours);
    memcpy(mask, &both, size < sizeof both ? size : sizeof both);
    return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask)
{
    (void)pid;
    (void)size;
    made_up.calls++;
    made_up.own = *mask;
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

/* The first n cores; less than 0: all there can be. */
static cpu_set_t cores(int n)
{
    cpu_set_t set;
    memset(&set, n < 0 ? 0xff : 0, sizeof set);
    for (int c = 0; c < n; c++)
        CPU_SET((size_t)c, &set);
    return set;
}

/* All ranks on core 0. */
static void crowd(int own, int ours)
{
    made_up.core = 0;
    made_up.calls = 0;
    made_up.own = cores(own);
    made_up.ours = cores(ours);
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

/* `own': what each rank had asked for before, and has to have again. */
static void spread(int own, int ours)
{
    cpu_set_t before = cores(own);
    crowd(own, ours);
    long long moves = work("true");
    CHECK(difference() < 2, "a core has %d ranks more than another", difference());
    CHECK(moves >= test_nranks - (test_nranks + ncores() - 1) / ncores(), "%lld moves", moves);
    CHECK(CPU_EQUAL(&made_up.own, &before), "the affinity is not what it was");
}

static void crowded_ranks_spread(void)
{
    if (test_nranks <= ncores() || ncores() < 2)
        SKIP("every rank has a core, or there is one only");
    spread(-1, ncores());
    spread(ncores(), CPU_SETSIZE);
}

static void bound_ranks_stay(void)
{
    crowd(1, ncores());
    CHECK(work("true") == 0 && made_up.calls == 0, "%d calls", made_up.calls);
}

static void nobody_moves_if_told_so(void)
{
    crowd(-1, ncores());
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
