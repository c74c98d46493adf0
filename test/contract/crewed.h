/* A team with its crew, made as core makes them, with nodes pretended: for what needs ranks
 * but no file. */
#ifndef BRIO_TEST_CREWED_H
#define BRIO_TEST_CREWED_H

#include "check_mpi.h"
#include "comm/crew.h"
#include "comm/nodes.h"
#include "comm/verdict.h"

struct crewed {
    struct brio_team team;
    struct brio_crew crew;
    struct brio_page_ref page;
};

/* Collective. */
static inline int crewed_open(struct crewed *t, int nodes)
{
    char text[16];
    struct brio_nodes *found;
    struct brio_page_slot *slot = NULL;
    snprintf(text, sizeof text, "%d", nodes);
    setenv("BRIO_NODES", text, 1);
    memset(t, 0, sizeof *t);
    MPI_Comm_dup(MPI_COMM_WORLD, &t->team.comm);
    t->team.rank = test_rank;
    t->team.nranks = test_nranks;
    enum brio_err err = brio_nodes_of(t->team.comm, &found);
    if (!err && test_rank == 0)
        err = brio_page_take(&t->page, &slot);
    MPI_Bcast(&t->page, sizeof t->page, MPI_BYTE, 0, t->team.comm);
    if (!err && found->nnodes == 1)
        err = brio_page_attach(&t->page, &slot);
    if (!err && found->nnodes == 1)
        t->team.meet = &slot->meet;
    MPI_Barrier(t->team.comm);
    if (!err)
        err = brio_crew_open(&t->crew, &t->team, found->node_of, &t->page, slot);
    CHECK(!err, "%s", brio_err_text());
    brio_nodes_unref(found);
    return !err;
}

static inline void crewed_close(struct crewed *t)
{
    MPI_Barrier(t->team.comm);
    brio_crew_close(&t->crew);
    if (test_rank == 0)
        brio_page_give(&t->page);
    MPI_Comm_free(&t->team.comm);
}

#endif
