/* A rank that computes until the others have done something without it: they say so by files
 * beside test_file(), for a call of MPI would be help. No clock is looked at, only what it has
 * computed: a program that is stopped, or has little of a core, does not fail by that. */
#ifndef BRIO_TEST_BUSY_H
#define BRIO_TEST_BUSY_H

#include <fcntl.h>
#include <time.h>

#include "check_mpi.h"

static inline void busy_name(char *name, size_t size, int rank)
{
    snprintf(name, size, "%s.%d", test_file(), rank);
}

static inline double busy_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* This rank is done. */
static inline void busy_done(void)
{
    char name[sizeof test_path + 16];
    busy_name(name, sizeof name, test_rank);
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    CHECK(fd >= 0, "%s cannot be made", name);
    close(fd);
}

/* Computes until all other ranks are done, but not for ever. */
static inline void busy_compute(void)
{
    char name[sizeof test_path + 16];
    double begin = busy_seconds();
    volatile double x = 0;
    for (int r = 0; r < test_nranks; r++) {
        busy_name(name, sizeof name, r);
        while (r != test_rank && access(name, F_OK) != 0) {
            if (busy_seconds() - begin > 20) {
                CHECK(0, "rank %d got nothing done while rank %d computed", r, test_rank);
                return;
            }
            for (int i = 0; i < 100000; i++)
                x += i;
        }
        unlink(name);
    }
}

#endif
