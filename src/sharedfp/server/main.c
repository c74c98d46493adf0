/* The additional process: started by sharedfp/addproc, it answers its parents until they tell
 * it that it is over. Not a part of the library. */
#include <mpi.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "sharedfp/service.h"

enum {
    SOON = 50,    /* looks without a nap, */
    RARELY = 5000 /* and before the naps become long */
};

/* Waits for a message without keeping a core busy, for the ranks need it: the longer none
 * comes, the longer the naps. */
static void await(MPI_Comm parents, MPI_Status *status)
{
    int there = 0;
    for (int idle = 0;; idle++) {
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, parents, &there, status);
        if (there)
            return;
        if (idle < SOON) {
            sched_yield();
            continue;
        }
        long us = idle < RARELY ? 10 : 1000;
        nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
    }
}

static void serve(MPI_Comm parents)
{
    struct brio_service service = {.nfiles = 0};
    while (!service.over) {
        MPI_Status status;
        struct brio_demand_words words;
        await(parents, &status);
        PMPI_Recv(&words, 2, MPI_INT64_T, status.MPI_SOURCE, status.MPI_TAG, parents, &status);
        int64_t answer = brio_serve(&service, status.MPI_TAG, &words);
        PMPI_Send(&answer, 1, MPI_INT64_T, status.MPI_SOURCE, status.MPI_TAG, parents);
    }
    brio_service_free(&service);
}

int main(int argc, char **argv)
{
    MPI_Comm parents;
    PMPI_Init(&argc, &argv);
    PMPI_Comm_get_parent(&parents);
    prctl(PR_SET_TIMERSLACK, 1000UL); /* or each nap takes 50 microseconds more */
    if (parents != MPI_COMM_NULL) {
        serve(parents);
        PMPI_Comm_disconnect(&parents);
    }
    PMPI_Finalize();
    return 0;
}
