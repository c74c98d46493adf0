/* One crew per node where its ranks can map their leader's page, else one per rank. */
#include "comm/crew.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "comm/verdict.h"

/* One crew for all: what the file has already. */
static void take_all(struct brio_crew *crew, const struct brio_team *all,
                     const struct brio_page_ref *page, struct brio_page_slot *slot)
{
    crew->team = *all;
    crew->page = *page;
    crew->slot = slot;
    crew->ncrews = 1;
}

/* Collective over the node: true if all of it can map its leader's page. */
static bool share_page(struct brio_crew *crew)
{
    struct brio_page_ref ref = {.slot = 0};
    enum brio_err err = BRIO_OK;
    if (crew->team.rank == 0)
        err = brio_page_take(&ref, &crew->slot);
    PMPI_Bcast(&ref, sizeof ref, MPI_BYTE, 0, crew->team.comm);
    crew->page = ref;
    if (!err && crew->team.rank != 0)
        err = brio_page_attach(&ref, &crew->slot);
    return brio_agree(&crew->team, err) == BRIO_OK;
}

/* Alone: a page slot that nobody else sees. */
static BRIO_ERR go_alone(struct brio_crew *crew)
{
    if (crew->team.rank == 0 && crew->page.slot)
        brio_page_give(&crew->page);
    crew->team = (struct brio_team){.comm = MPI_COMM_SELF, .nranks = 1};
    return brio_page_take(&crew->page, &crew->slot);
}

/* Leaders by rank -> crews numbered in the order of their leaders. */
static void number_crews(struct brio_crew *crew, int nranks, int rank)
{
    for (int r = 0; r < nranks; r++) {
        int leader = crew->crew_of[r];
        if (leader == r)
            crew->leader[crew->ncrews] = r;
        crew->crew_of[r] = leader == r ? crew->ncrews++ : crew->crew_of[leader];
    }
    crew->mine = crew->crew_of[rank];
}

BRIO_ERR brio_crew_open(struct brio_crew *crew, const struct brio_team *all, const int *node_of,
                        const struct brio_page_ref *page, struct brio_page_slot *slot)
{
    size_t n = (size_t)all->nranks;
    memset(crew, 0, sizeof *crew);
    enum brio_err err = brio_calloc(2 * n, sizeof(int), (void **)&crew->crew_of);
    err = brio_agree(all, err);
    if (err) {
        free(crew->crew_of);
        crew->crew_of = NULL;
        return err;
    }
    crew->leader = crew->crew_of + n;
    if (all->meet) {
        take_all(crew, all, page, slot);
        brio_region_init(&crew->region, &crew->team, slot, page);
        return BRIO_OK;
    }
    crew->paged = true;
    MPI_Comm node = MPI_COMM_NULL;
    PMPI_Comm_split(all->comm, node_of[all->rank], all->rank, &node);
    crew->team.comm = node;
    PMPI_Comm_rank(node, &crew->team.rank);
    PMPI_Comm_size(node, &crew->team.nranks);
    int leader = all->rank;
    PMPI_Bcast(&leader, 1, MPI_INT, 0, node);
    if (share_page(crew)) {
        crew->split = true;
    } else {
        leader = all->rank;
        err = go_alone(crew);
        PMPI_Comm_free(&node);
    }
    err = brio_agree(all, err);
    if (err)
        return err;
    crew->team.meet = &crew->slot->meet;
    PMPI_Allgather(&leader, 1, MPI_INT, crew->crew_of, 1, MPI_INT, all->comm);
    number_crews(crew, all->nranks, all->rank);
    brio_region_init(&crew->region, &crew->team, crew->slot, &crew->page);
    return BRIO_OK;
}

BRIO_ERR brio_crew_alone(struct brio_crew *crew, const struct brio_team *all)
{
    size_t n = (size_t)all->nranks;
    memset(crew, 0, sizeof *crew);
    enum brio_err err = brio_calloc(2 * n, sizeof(int), (void **)&crew->crew_of);
    if (!err)
        err = go_alone(crew);
    if (err) {
        free(crew->crew_of);
        crew->crew_of = NULL;
        return err;
    }
    crew->paged = true;
    crew->leader = crew->crew_of + n;
    for (int r = 0; r < all->nranks; r++)
        crew->crew_of[r] = r;
    crew->team.meet = &crew->slot->meet;
    number_crews(crew, all->nranks, all->rank);
    brio_region_init(&crew->region, &crew->team, crew->slot, &crew->page);
    return BRIO_OK;
}

void brio_crew_close(struct brio_crew *crew)
{
    brio_region_close(&crew->region);
    if (crew->paged && crew->team.rank == 0 && crew->page.slot)
        brio_page_give(&crew->page);
    if (crew->split)
        PMPI_Comm_free(&crew->team.comm);
    free(crew->crew_of);
    memset(crew, 0, sizeof *crew);
    crew->region.fd = -1;
}
