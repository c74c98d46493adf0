/* The nodes of a communicator, asked once and kept on it as an attribute. */
#include "comm/nodes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "comm/verdict.h"

static int keyval = MPI_KEYVAL_INVALID;
static pthread_mutex_t keyval_lock = PTHREAD_MUTEX_INITIALIZER;

void brio_nodes_unref(struct brio_nodes *nodes)
{
    if (nodes && atomic_fetch_sub(&nodes->refs, 1) == 1) {
        free(nodes->node_of);
        free(nodes);
    }
}

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    brio_nodes_unref(value);
    return MPI_SUCCESS;
}

/* MPI_KEYVAL_INVALID if MPI has none to give: then nothing is kept. */
static int get_keyval(void)
{
    pthread_mutex_lock(&keyval_lock);
    if (keyval == MPI_KEYVAL_INVALID &&
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL) != MPI_SUCCESS)
        keyval = MPI_KEYVAL_INVALID;
    int key = keyval;
    pthread_mutex_unlock(&keyval_lock);
    return key;
}

/* The lowest rank that shares this rank's node names the node. BRIO_NODES=n in the
 * environment pretends n nodes of consecutive ranks: for tests on one machine. */
static int find_leader(MPI_Comm comm, int rank, int nranks)
{
    const char *pretend = getenv("BRIO_NODES");
    int n = pretend ? atoi(pretend) : 0;
    if (n > 1) {
        int per = (nranks + n - 1) / n;
        return rank / per * per;
    }
    MPI_Comm node;
    int leader = rank;
    if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node))
        return rank;
    PMPI_Bcast(&leader, 1, MPI_INT, 0, node);
    PMPI_Comm_free(&node);
    return leader;
}

/* Leaders by rank -> node numbers in the order of their leaders. `size` has room for one
 * count per node and is zero. */
static void number_nodes(struct brio_nodes *nodes, int *size)
{
    for (int r = 0; r < nodes->nranks; r++) {
        int leader = nodes->node_of[r];
        int node = leader == r ? nodes->nnodes++ : nodes->node_of[leader];
        nodes->node_of[r] = node;
        if (++size[node] > nodes->max_per_node)
            nodes->max_per_node = size[node];
    }
}

static BRIO_ERR ask(MPI_Comm comm, struct brio_nodes **out)
{
    struct brio_nodes *nodes = NULL;
    int *leaders = NULL;
    int rank, nranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &nranks);
    int leader = find_leader(comm, rank, nranks);
    enum brio_err err = brio_calloc(1, sizeof *nodes, (void **)&nodes);
    if (!err)
        err = brio_calloc(2 * (size_t)nranks, sizeof *leaders, (void **)&leaders);
    /* A rank without memory cannot receive: all give up together, before the gather. */
    err = brio_agree(&(struct brio_team){.comm = comm, .rank = rank, .nranks = nranks}, err);
    if (err) {
        free(nodes);
        free(leaders);
        return err;
    }
    PMPI_Allgather(&leader, 1, MPI_INT, leaders, 1, MPI_INT, comm);
    *nodes = (struct brio_nodes){.nranks = nranks, .rank = rank, .node_of = leaders, .refs = 1};
    number_nodes(nodes, leaders + nranks);
    *out = nodes;
    return BRIO_OK;
}

BRIO_ERR brio_nodes_of(MPI_Comm comm, struct brio_nodes **out)
{
    int key = get_keyval();
    struct brio_nodes *nodes = NULL;
    int found = 0;
    if (key != MPI_KEYVAL_INVALID)
        PMPI_Comm_get_attr(comm, key, &nodes, &found);
    if (!found) {
        enum brio_err err = ask(comm, &nodes);
        if (err)
            return err;
        if (key != MPI_KEYVAL_INVALID && PMPI_Comm_set_attr(comm, key, nodes) == MPI_SUCCESS)
            found = 1;
    }
    if (found)
        atomic_fetch_add(&nodes->refs, 1); /* one for the communicator, one for the caller */
    *out = nodes;
    return BRIO_OK;
}
