/* What the client programs in C and C++ share: the test frame's checks, and the question
 * whether a file is really served by Brio. Plain MPI; no header of Brio's. */
#ifndef BRIO_TEST_CLIENTS_H
#define BRIO_TEST_CLIENTS_H

#include "check_mpi.h"

/* The script that runs us sets BRIO_RUN_MARK exactly when Brio must do the I/O. */
static inline int brio_expected(void)
{
    return getenv("BRIO_RUN_MARK") != NULL;
}

/* Checks that the file is Brio's if it must be, and is not if it must not. */
static inline void check_served(MPI_File fh)
{
    MPI_Info info;
    char version[64] = "";
    int found = 0;
    int err = MPI_File_get_info(fh, &info);
    CHECK(err == MPI_SUCCESS, "MPI_File_get_info: %d", err);
    if (err != MPI_SUCCESS)
        return;
    MPI_Info_get(info, "brio_version", (int)sizeof version - 1, version, &found);
    MPI_Info_free(&info);
    CHECK(found == brio_expected(), "brio_version is %s, expected it %s",
          found ? version : "absent", brio_expected() ? "there" : "absent");
}

/* Where rank's share of n things begins; shares differ by one at most, and may be empty. */
static inline long share_begin(long n, int rank, int nranks)
{
    return n * rank / nranks;
}

/* Ends a program: the same verdict on all ranks, said by rank 0. */
static inline int clients_end(const char *what)
{
    int bad = test_failed > 0, any;
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (test_rank == 0)
        printf("%s %s on %d ranks\n", any ? "FAIL" : "ok", what, test_nranks);
    MPI_Finalize();
    return any;
}

static inline void clients_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_nranks);
}

#endif
