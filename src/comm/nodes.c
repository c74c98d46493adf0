/* The nodes of a communicator, asked once and kept on it as an attribute. */
#include "comm/nodes.h"

#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "comm/verdict.h"

static int keyval = MPI_KEYVAL_INVALID;
static pthread_mutex_t keyval_lock = PTHREAD_MUTEX_INITIALIZER;

void brio_nodes_unref(struct brio_nodes *nodes)
{
    if (nodes && atomic_fetch_sub(&nodes->refs, 1) == 1) {
        free(nodes->node_of);
        free(nodes->host_of);
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

/* FNV-1a of the name up to its first dot, unless it is an address in numbers. */
uint64_t brio_nodes_hash(const char *name, size_t len)
{
    uint64_t hash = 0xcbf29ce484222325u;
    bool letters = false;
    for (size_t i = 0; i < len && !letters; i++)
        letters = isalpha((unsigned char)name[i]);
    for (size_t i = 0; i < len && !(letters && name[i] == '.'); i++)
        hash = (hash ^ (unsigned)tolower((unsigned char)name[i])) * 0x100000001b3u;
    return hash;
}

/* Where one rank is. */
struct where {
    uint64_t host;
    int64_t leader; /* the lowest rank that shares its node */
};

/* BRIO_NODES=n in the environment pretends n nodes of consecutive ranks: for tests on one
 * machine. */
static bool pretend(int rank, int nranks, struct where *out)
{
    const char *text = getenv("BRIO_NODES");
    int n = text ? atoi(text) : 0, per = n > 1 ? (nranks + n - 1) / n : 0;
    if (per == 0)
        return false;
    char name[32];
    snprintf(name, sizeof name, "node%d", rank / per);
    *out =
        (struct where){.host = brio_nodes_hash(name, strlen(name)), .leader = rank / per * per};
    return true;
}

static uint64_t own_host(void)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int len = 0;
    if (PMPI_Get_processor_name(name, &len) != MPI_SUCCESS || len < 0)
        len = 0;
    return brio_nodes_hash(name, (size_t)len);
}

static int find_leader(MPI_Comm comm, int rank)
{
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
static void number_nodes(struct brio_nodes *nodes, const struct where *where, int *size)
{
    for (int r = 0; r < nodes->nranks; r++) {
        int leader = (int)where[r].leader;
        int node = leader == r ? nodes->nnodes++ : nodes->node_of[leader];
        nodes->node_of[r] = node;
        nodes->host_of[node] = where[leader].host;
        if (++size[node] > nodes->max_per_node)
            nodes->max_per_node = size[node];
    }
}

static BRIO_ERR ask(MPI_Comm comm, struct brio_nodes **out)
{
    struct brio_nodes *nodes = NULL;
    struct where mine, *where = NULL;
    int rank, nranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &nranks);
    size_t n = (size_t)nranks;
    if (!pretend(rank, nranks, &mine))
        mine = (struct where){.host = own_host(), .leader = find_leader(comm, rank)};
    enum brio_err err = brio_calloc(1, sizeof *nodes, (void **)&nodes);
    if (!err) {
        *nodes = (struct brio_nodes){.nranks = nranks, .rank = rank, .refs = 1};
        err = brio_calloc(2 * n, sizeof *nodes->node_of, (void **)&nodes->node_of);
    }
    if (!err)
        err = brio_calloc(n, sizeof *nodes->host_of, (void **)&nodes->host_of);
    if (!err)
        err = brio_calloc(n, sizeof *where, (void **)&where);
    /* A rank without memory cannot receive: all give up together, before the gather. */
    err = brio_agree(&(struct brio_team){.comm = comm, .rank = rank, .nranks = nranks}, err);
    if (err) {
        brio_nodes_unref(nodes);
        free(where);
        return err;
    }
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, where, sizeof mine, MPI_BYTE, comm);
    number_nodes(nodes, where, nodes->node_of + nranks);
    free(where);
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
