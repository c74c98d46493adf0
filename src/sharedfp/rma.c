/* The shared pointer in a window of rank 0's, moved by MPI_Fetch_and_op: no lock, no side
 * file, any file system, any number of nodes. Latham's list of waiting ranks (paper 000) is
 * what MPI-2 needed for it. Windows are MPI's to give: Open MPI 4.1 has none between nodes
 * that are joined by TCP alone, and then another module serves. On one node the window is
 * memory that all ranks reach, and the processor adds: MPICH would wait for rank 0's next
 * call of MPI. A window costs more than the rest of an open: the first file of a group of ranks
 * makes one, for all that follow. */
#include "sharedfp/rma.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sharedfp/attend.h"
#include "sharedfp/circle.h"
#include "sharedfp/sharedfp.h"

enum {
    APART = 8 /* numbers from one file's pointer to the next: a cache line */
};

struct window {
    struct brio_circle circle; /* first */
    MPI_Win win;
    int64_t *mem;            /* rank 0's own */
    _Atomic int64_t *direct; /* the same as all ranks see it; NULL if they do not */
};

struct rma {
    struct window *window;
    int file;
    struct brio_attended attended;
};

static struct brio_circles windows = {.lock = PTHREAD_MUTEX_INITIALIZER};

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
static BRIO_ERR make_window(struct window *w, bool shared)
{
    const MPI_Comm comm = w->circle.team.comm;
    const MPI_Aint bytes =
        w->circle.team.rank == 0 ? (MPI_Aint)sizeof(int64_t) * APART * BRIO_CIRCLE_FILES : 0;
    MPI_Aint size;
    int unit = sizeof(int64_t);
    if ((shared ? PMPI_Win_allocate_shared : PMPI_Win_allocate)(
            bytes, unit, MPI_INFO_NULL, comm, &w->mem, &w->win) != MPI_SUCCESS)
        return brio_fail(BRIO_EUNSUPOP, "this MPI has no windows between these ranks");
    PMPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    if (shared && PMPI_Win_shared_query(w->win, 0, &size, &unit, &w->direct) != MPI_SUCCESS)
        return brio_fail(BRIO_EUNSUPOP, "MPI_Win_shared_query failed");
    if (PMPI_Win_lock_all(MPI_MODE_NOCHECK, w->win) != MPI_SUCCESS)
        return brio_fail(BRIO_EUNSUPOP, "MPI_Win_lock_all failed");
    return BRIO_OK;
}

static void end_window(struct window *w)
{
    if (!w->circle.refused) {
        PMPI_Win_unlock_all(w->win);
        PMPI_Win_free(&w->win);
    }
    brio_circle_free(&w->circle);
}

/* Collective. */
static BRIO_ERR new_window(const struct brio_sharedfp_env *env, struct window **out)
{
    struct window *w = NULL;
    enum brio_err err = brio_agree(env->team, brio_calloc(1, sizeof *w, (void **)&w));
    if (!err)
        err = brio_agree(env->team, brio_circle_init(&w->circle, env->team));
    if (err) {
        if (w)
            brio_circle_free(&w->circle);
        return err;
    }
    err = brio_circle_made(&windows, &w->circle, make_window(w, env->nnodes == 1));
    if (err && !w->circle.kept)
        end_window(w);
    if (!err)
        *out = w;
    return err;
}

/* Collective. A window, and the number of this file in it. */
static BRIO_ERR need_window(const struct brio_sharedfp_env *env, enum brio_err mine,
                            struct window **out, int *file)
{
    struct brio_circle *known;
    enum brio_err err = brio_circle_find(&windows, env->team, mine, &known, file);
    if (err)
        return err;
    if (known && known->refused)
        return brio_fail(BRIO_EUNSUPOP, "this MPI has no windows between these ranks");
    if (known) {
        *out = (struct window *)known;
        return BRIO_OK;
    }
    *file = 0;
    return new_window(env, out);
}

static BRIO_ERR fetch(struct rma *rma, brio_off n, MPI_Op op, brio_off *old)
{
    int64_t operand = n, before = 0;
    MPI_Win win = rma->window->win;
    int err = PMPI_Fetch_and_op(&operand, &before, MPI_INT64_T, 0, APART * rma->file, op, win);
    if (err == MPI_SUCCESS)
        err = PMPI_Win_flush(0, win);
    if (err != MPI_SUCCESS)
        return brio_fail(BRIO_EINTERN, "MPI_Fetch_and_op on the shared pointer failed");
    *old = before;
    return BRIO_OK;
}

static BRIO_ERR add(void *self, brio_off n, brio_off *old)
{
    struct rma *rma = self;
    if (!rma->window->direct)
        return fetch(rma, n, n ? MPI_SUM : MPI_NO_OP, old);
    *old = atomic_fetch_add(&rma->window->direct[APART * rma->file], n);
    return BRIO_OK;
}

static BRIO_ERR set(void *self, brio_off value)
{
    struct rma *rma = self;
    brio_off old;
    if (!rma->window->direct)
        return fetch(rma, value, MPI_REPLACE, &old);
    atomic_store(&rma->window->direct[APART * rma->file], value);
    return BRIO_OK;
}

/* On rank 0. Nobody uses the pointer before the open is agreed on. */
static void begin(struct rma *rma, brio_off start)
{
    struct window *w = rma->window;
    w->mem[APART * rma->file] = start;
    PMPI_Win_sync(w->win);
    if (w->direct || w->circle.team.nranks == 1)
        return;
    rma->attended.comm = w->circle.team.comm;
    rma->attended.value = &w->mem[APART * rma->file];
    brio_attend(&rma->attended);
}

static BRIO_ERR open_pointer(const struct brio_sharedfp_env *env, const void *conf, void **self)
{
    struct rma *rma = NULL;
    struct window *window = NULL;
    int file = 0;
    (void)conf;
    enum brio_err err = brio_calloc(1, sizeof *rma, (void **)&rma);
    err = need_window(env, err, &window, &file);
    if (err) {
        free(rma);
        return err;
    }
    rma->window = window;
    rma->file = file;
    if (env->team->rank == 0)
        begin(rma, env->start);
    *self = rma;
    return BRIO_OK;
}

static void close_pointer(void *self, bool used)
{
    struct rma *rma = self;
    struct window *w = rma->window;
    (void)used;
    if (rma->attended.value)
        brio_attend_end(&rma->attended);
    if (w->circle.kept)
        brio_circle_leave(&windows, &w->circle, rma->file);
    else
        end_window(w);
    free(rma);
}

void brio_rma_finalize(void)
{
    struct brio_circle *c;
    while ((c = brio_circles_take(&windows)))
        end_window((struct window *)c);
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
