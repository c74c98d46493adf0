/* From the hints, the nodes and the communicator. */
#include "fcoll/seats.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fcoll/config_list.h"
#include "mod/hint.h"

/* A grid's ranks are in the order of its rows: those of one row differ in the last coordinate
 * only. */
static void order_ranks(struct brio_seats *seats, const struct brio_team *team,
                        const struct brio_coll_conf *conf)
{
    enum {
        MANY = 16
    };
    int kind = MPI_UNDEFINED, ndims = 0, dims[MANY], periods[MANY], coords[MANY];
    seats->ordered = conf->groups == BRIO_GROUPS_RANKS ? BRIO_ORDER_RANKS : BRIO_ORDER_DATA;
    if (conf->groups != BRIO_GROUPS_AUTO && conf->groups != BRIO_GROUPS_GRID)
        return;
    PMPI_Topo_test(team->comm, &kind);
    if (kind == MPI_CART && PMPI_Cartdim_get(team->comm, &ndims) == MPI_SUCCESS && ndims > 1 &&
        ndims <= MANY &&
        PMPI_Cart_get(team->comm, ndims, dims, periods, coords) == MPI_SUCCESS) {
        seats->row = dims[ndims - 1];
        seats->ordered = BRIO_ORDER_RANKS;
    }
}

static void warn_of_list(const char *list, const struct brio_nodes *nodes, bool leaves_none)
{
    size_t len;
    const char *stranger = brio_config_list_stranger(list, nodes, &len);
    if (stranger)
        brio_warn_once("cb_config_list: no rank runs on \"%.*s\"", (int)len, stranger);
    if (leaves_none)
        brio_warn_once("cb_config_list: \"%s\" leaves no rank, and is not used", list);
}

/* Owners as cb_config_list has them, if it says anything. */
static BRIO_ERR take_list(struct brio_seats *seats, const struct brio_coll_env *env,
                          const char *list)
{
    const struct brio_nodes *nodes = env->nodes;
    int *ranks = NULL, n = 0;
    if (!*list)
        return BRIO_OK;
    enum brio_err err = brio_calloc((size_t)nodes->nranks, sizeof *ranks, (void **)&ranks);
    if (!err)
        err = brio_config_list_ranks(list, nodes, ranks, &n);
    if (!err && n > 0) {
        memcpy(seats->spread, ranks, (size_t)n * sizeof *ranks);
        seats->owners = seats->owners > 0 && seats->owners < n ? seats->owners : n;
        seats->listed = true;
    }
    if (!err && env->team->rank == 0)
        warn_of_list(list, nodes, n < 0);
    free(ranks);
    return err;
}

BRIO_ERR brio_seats_open(struct brio_seats *seats, const struct brio_coll_env *env,
                         const struct brio_coll_conf *conf, bool grouped)
{
    int nranks = env->team->nranks;
    enum brio_err err =
        brio_calloc((size_t)nranks, sizeof *seats->spread, (void **)&seats->spread);
    seats->owners = (int)brio_min(conf->nodes, nranks);
    if (grouped)
        order_ranks(seats, env->team, conf);
    if (!err)
        err = brio_spread(env->crew, nranks, seats->spread);
    return err ? err : take_list(seats, env, conf->config_list);
}

void brio_seats_close(struct brio_seats *seats)
{
    free(seats->spread);
}
