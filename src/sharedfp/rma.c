/* The shared pointer in a window of rank 0's, moved by MPI_Fetch_and_op: no lock, no side
 * file, any file system, any number of nodes. Latham's list of waiting ranks (paper 000) is
 * what MPI-2 needed for it. Windows are MPI's to give: Open MPI 4.1 has none between nodes
 * that are joined by TCP alone, and then another module serves. On one node the window is
 * memory that all ranks reach, and the processor adds: MPICH would wait for rank 0's next
 * call of MPI. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "comm/verdict.h"
#include "sharedfp/attend.h"
#include "sharedfp/sharedfp.h"

struct rma {
    MPI_Win win;
    int64_t *mem;            /* rank 0's own */
    _Atomic int64_t *direct; /* the same as all ranks see it; NULL if they do not */
    bool home;
    struct brio_attended attended;
};

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (facts->nnodes == 1)
        return brio_answer(45, "a window of MPI is dearer to make than a page that all map");
    return brio_answer(45, "%d nodes have no memory in common but windows of MPI",
                       facts->nnodes);
}

/* Collective. One rank's failure is everybody's, but a window that only some ranks have
 * cannot be freed. */
static BRIO_ERR make_window(struct rma *rma, const struct brio_sharedfp_env *env)
{
    const bool shared = env->nnodes == 1;
    const MPI_Aint bytes = rma->home ? (MPI_Aint)sizeof(int64_t) : 0;
    MPI_Aint size;
    int unit = sizeof(int64_t);
    if ((shared ? PMPI_Win_allocate_shared : PMPI_Win_allocate)(
            bytes, unit, MPI_INFO_NULL, env->comm, &rma->mem, &rma->win) != MPI_SUCCESS)
        return brio_fail(BRIO_EUNSUPOP, "this MPI has no windows between these ranks");
    PMPI_Win_set_errhandler(rma->win, MPI_ERRORS_RETURN);
    if (shared && PMPI_Win_shared_query(rma->win, 0, &size, &unit, &rma->direct) != MPI_SUCCESS)
        return brio_fail(BRIO_EUNSUPOP, "MPI_Win_shared_query failed");
    if (rma->home)
        *rma->mem = env->start;
    if (PMPI_Win_lock_all(MPI_MODE_NOCHECK, rma->win) != MPI_SUCCESS)
        return brio_fail(BRIO_EUNSUPOP, "MPI_Win_lock_all failed");
    PMPI_Win_sync(rma->win);
    return BRIO_OK;
}

static BRIO_ERR open_pointer(const struct brio_sharedfp_env *env, const void *conf, void **self)
{
    struct brio_team team = {.comm = env->comm};
    struct rma *rma = NULL;
    (void)conf;
    PMPI_Comm_rank(env->comm, &team.rank);
    PMPI_Comm_size(env->comm, &team.nranks);
    enum brio_err err = brio_agree(&team, brio_calloc(1, sizeof *rma, (void **)&rma));
    if (!err) {
        rma->home = team.rank == 0;
        err = brio_agree(&team, make_window(rma, env));
        if (err == BRIO_EPEER)
            err = BRIO_EUNSUPOP;
    }
    if (err) {
        free(rma);
        return err;
    }
    rma->attended.comm = env->comm;
    rma->attended.value = rma->mem;
    if (rma->home && !rma->direct && team.nranks > 1)
        brio_attend(&rma->attended);
    *self = rma;
    return BRIO_OK;
}

static BRIO_ERR fetch(struct rma *rma, brio_off n, MPI_Op op, brio_off *old)
{
    int64_t operand = n, before = 0;
    int err = PMPI_Fetch_and_op(&operand, &before, MPI_INT64_T, 0, 0, op, rma->win);
    if (err == MPI_SUCCESS)
        err = PMPI_Win_flush(0, rma->win);
    if (err != MPI_SUCCESS)
        return brio_fail(BRIO_EINTERN, "MPI_Fetch_and_op on the shared pointer failed");
    *old = before;
    return BRIO_OK;
}

static BRIO_ERR add(void *self, brio_off n, brio_off *old)
{
    struct rma *rma = self;
    if (!rma->direct)
        return fetch(rma, n, n ? MPI_SUM : MPI_NO_OP, old);
    *old = atomic_fetch_add(rma->direct, n);
    return BRIO_OK;
}

static BRIO_ERR set(void *self, brio_off value)
{
    struct rma *rma = self;
    brio_off old;
    if (!rma->direct)
        return fetch(rma, value, MPI_REPLACE, &old);
    atomic_store(rma->direct, value);
    return BRIO_OK;
}

static void close_pointer(void *self)
{
    struct rma *rma = self;
    PMPI_Win_unlock_all(rma->win);
    if (rma->home)
        brio_attend_end(&rma->attended);
    PMPI_Win_free(&rma->win);
    free(rma);
}

const struct brio_sharedfp brio_sharedfp_rma = {
    .base = {.name = "rma",
             .about = "number in a window of rank 0, moved by one-sided additions",
             .query = query},
    .open = open_pointer,
    .add = add,
    .set = set,
    .close = close_pointer,
};
