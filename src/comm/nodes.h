/* Where the ranks are: nodes as MPI reports them (or as BRIO_NODES pretends). */
#ifndef BRIO_COMM_NODES_H
#define BRIO_COMM_NODES_H

#include <mpi.h>

#include "base/base.h"

struct brio_nodes {
    int nranks, rank;
    int nnodes;
    int max_per_node;
    int *node_of;      /* by rank: 0 .. nnodes-1, numbered by their lowest rank */
    uint64_t *host_of; /* by node: brio_nodes_hash of its name */
    _Atomic int refs;
};

/* Collective over comm. The answer is kept on the communicator, so that the second open on
 * it asks nothing. Give it back with brio_nodes_unref. */
BRIO_ERR brio_nodes_of(MPI_Comm comm, struct brio_nodes **out);
void brio_nodes_unref(struct brio_nodes *nodes);

/* A number for the name of a host; "io3" and "IO3.cluster.org" are the same one. The i-th of
 * pretended nodes is called "node<i>". */
uint64_t brio_nodes_hash(const char *name, size_t len);

#endif
