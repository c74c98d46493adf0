/* Circles are found by their group of ranks. Threads may open files of one group at the same
 * time and keep what they make in another order here than there, so ranks compare what they
 * have found; if it differs, they make something new. */
#include "sharedfp/circle.h"

#include <stdlib.h>

enum {
    MOST_KEPT = 64 /* each costs MPI a communicator and more */
};

static struct brio_circle *look(struct brio_circles *all, MPI_Comm comm)
{
    struct brio_circle *c = all->newest;
    for (; c; c = c->older) {
        int same;
        PMPI_Comm_compare(comm, c->team.comm, &same);
        if (same == MPI_CONGRUENT)
            break;
    }
    return c;
}

/* A number for a file, or -1. */
static int take(struct brio_circle *c)
{
    for (int i = 0; i < BRIO_CIRCLE_FILES && !c->refused; i++)
        if (!c->taken[i]) {
            c->taken[i] = true;
            return i;
        }
    return -1;
}

BRIO_ERR brio_circle_find(struct brio_circles *all, const struct brio_team *team,
                          enum brio_err mine, struct brio_circle **out, int *file)
{
    struct brio_verdict v;
    pthread_mutex_lock(&all->lock);
    struct brio_circle *c = look(all, team->comm);
    int mark = c && team->rank == 0 ? take(c) : -1;
    pthread_mutex_unlock(&all->lock);
    brio_verdict_init(&v, mine);
    v.most = mark + 1;
    brio_verdict_same(&v, "what the ranks keep", c ? c->id : 0);
    enum brio_err err = brio_verdict_settle(&v, team);
    if (err && mark >= 0)
        brio_circle_leave(all, c, mark);
    if (err == BRIO_ENOTSAME) {
        *out = NULL;
        return BRIO_OK;
    }
    if (err)
        return err;
    *out = c && (v.most > 0 || c->refused) ? c : NULL;
    *file = (int)v.most - 1;
    return BRIO_OK;
}

BRIO_ERR brio_circle_init(struct brio_circle *c, const struct brio_team *team)
{
    *c = (struct brio_circle){.team = {.comm = MPI_COMM_NULL}};
    if (PMPI_Comm_dup(team->comm, &c->team.comm) != MPI_SUCCESS)
        return brio_fail(BRIO_EUNSUPOP, "the communicator cannot be duplicated");
    c->team.rank = team->rank;
    c->team.nranks = team->nranks;
    return BRIO_OK;
}

BRIO_ERR brio_circle_made(struct brio_circles *all, struct brio_circle *c, enum brio_err mine)
{
    struct brio_verdict v;
    brio_verdict_init(&v, mine);
    pthread_mutex_lock(&all->lock);
    v.most = c->team.rank == 0 ? ++all->last_id : 0;
    v.also = all->n;
    pthread_mutex_unlock(&all->lock);
    enum brio_err err = brio_verdict_settle(&v, &c->team);
    if (err == BRIO_EPEER)
        err = BRIO_EUNSUPOP;
    c->id = v.most;
    c->refused = err;
    c->kept = v.also < MOST_KEPT;
    c->taken[0] = true;
    if (!c->kept)
        return err;
    pthread_mutex_lock(&all->lock);
    c->older = all->newest;
    all->newest = c;
    all->n++;
    pthread_mutex_unlock(&all->lock);
    return err;
}

void brio_circle_leave(struct brio_circles *all, struct brio_circle *c, int file)
{
    pthread_mutex_lock(&all->lock);
    c->taken[file] = false;
    pthread_mutex_unlock(&all->lock);
}

struct brio_circle *brio_circles_take(struct brio_circles *all)
{
    pthread_mutex_lock(&all->lock);
    struct brio_circle **at = &all->newest;
    while (*at && (*at)->older)
        at = &(*at)->older;
    struct brio_circle *c = *at;
    *at = NULL;
    all->n -= c != NULL;
    pthread_mutex_unlock(&all->lock);
    return c;
}

void brio_circle_free(struct brio_circle *c)
{
    if (c->team.comm != MPI_COMM_NULL)
        PMPI_Comm_free(&c->team.comm);
    free(c);
}
