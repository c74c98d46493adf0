/* Communicators of all ranks, on each of which so many nodes are pretended: Brio asks once for
 * each communicator where its ranks are. */
#ifndef BRIO_TEST_NODES_COMM_H
#define BRIO_TEST_NODES_COMM_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NODES = 3 /* at most */
};

static MPI_Comm nodes_comms[NODES + 1];
static int nodes_made[NODES + 1];

static inline MPI_Comm nodes_comm(int nodes)
{
    char text[12];
    if (!nodes_made[nodes]) {
        snprintf(text, sizeof text, "%d", nodes);
        setenv("BRIO_NODES", text, 1);
        MPI_Comm_dup(MPI_COMM_WORLD, &nodes_comms[nodes]);
        nodes_made[nodes] = 1;
    }
    return nodes_comms[nodes];
}

static inline void nodes_forget(void)
{
    for (int i = 0; i <= NODES; i++)
        if (nodes_made[i])
            MPI_Comm_free(&nodes_comms[i]);
}

#endif
