/* What a process that has nothing to do takes of a core. */
#ifndef BRIO_TEST_IDLE_H
#define BRIO_TEST_IDLE_H

#include <sys/resource.h>
#include <time.h>

static inline double idle_seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Sleeps for a while, some times. The least of them: what MPI has still to do after a barrier
 * does not count, nor what other programs take of the caches. */
static inline double idle_share(void)
{
    double least = 1;
    for (int i = 0; i < 8 && least > 0.004; i++) {
        struct rusage before, after;
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        getrusage(RUSAGE_SELF, &before);
        nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
        getrusage(RUSAGE_SELF, &after);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double cpu = idle_seconds(after.ru_utime) + idle_seconds(after.ru_stime) -
                     idle_seconds(before.ru_utime) - idle_seconds(before.ru_stime);
        double share = cpu / ((double)(end.tv_sec - begin.tv_sec) +
                              1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
        least = share < least ? share : least;
    }
    return least;
}

/* A core's share that waiting may take; a sanitizer's own work comes on top. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IDLE_SHARE 0.05
#else
#define IDLE_SHARE 0.01
#endif

#endif
