/* The test frame for programs on several ranks: a case fails if it fails on any rank; rank
 * 0 prints. main calls MPI_Init (or MPI_Init_thread) and MPI_Finalize itself, around
 * test_main_mpi. The file that a case works on is test_file(): in BRIO_TEST_DIR (default
 * the current directory), the same name on all ranks, removed before the case. */
#ifndef BRIO_TEST_CHECK_MPI_H
#define BRIO_TEST_CHECK_MPI_H

#include <mpi.h>
#include <unistd.h>

#include "check.h"

static int test_rank, test_nranks;
static char test_path[512];

static inline const char *test_file(void)
{
    return test_path;
}

static inline void test_name_file(const char *prog, const char *name)
{
    const char *dir = getenv("BRIO_TEST_DIR");
    const char *slash = strrchr(prog, '/');
    long pid = (long)getpid();
    MPI_Bcast(&pid, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    snprintf(test_path, sizeof test_path, "%s/%s.%s.%ld.dat", dir ? dir : ".",
             slash ? slash + 1 : prog, name, pid);
    if (test_rank == 0)
        unlink(test_path);
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline int test_main_mpi(int argc, char **argv, const struct test_case *cases)
{
    int ran = 0, bad = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_nranks);
    for (; cases->name; cases++) {
        if (!test_wanted(argc, argv, cases->name))
            continue;
        test_failed = test_skipped = 0;
        test_name_file(argv[0], cases->name);
        cases->run();
        int mine[2] = {test_failed > 0, test_skipped}, all[2];
        MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        ran += !all[1];
        bad += all[0];
        if (test_rank == 0) {
            printf("%s %s\n", all[0] ? "FAIL" : all[1] ? "skip" : "ok", cases->name);
            fflush(stdout);
            unlink(test_path);
        }
    }
    return bad ? 1 : ran ? 0 : 77;
}

/* The whole of main, for tests that need all threads to be able to call MPI. */
static inline int test_main_threads(int argc, char **argv, const struct test_case *cases)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    int code = level == MPI_THREAD_MULTIPLE ? test_main_mpi(argc, argv, cases) : 77;
    if (code == 77)
        fprintf(stderr, "skipped: the MPI does not grant MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return code;
}

#endif
