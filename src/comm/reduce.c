/* One reduction, two ways. */
#include "comm/reduce.h"

#include "comm/courier_parts.h"
#include "comm/porter.h"
#include "comm/real.h"

/* A rank that waits inside of MPI keeps MPICH's one lock nearly all the time, and its porter
 * from it: others that ask it something were served six times as slowly. */
static void finish(struct brio_reduce *r)
{
    int round = 0;
    if (brio_porter_looks())
        while (!brio_real_test(&r->req))
            brio_courier_rest(&round);
    else
        brio_real_wait(&r->req);
}

void brio_reduce_start(struct brio_reduce *r, const struct brio_team *team)
{
    r->team = team;
    r->req = MPI_REQUEST_NULL;
    r->failed = false;
    if (team->meet)
        brio_meet_enter(team, r->in, r->n, &r->epoch);
    else /* MPI_Allreduce would not match that of a rank that must not wait inside of MPI */
        r->failed =
            PMPI_Iallreduce(r->in, r->out, r->n, MPI_INT64_T, MPI_MAX, team->comm, &r->req);
}

bool brio_reduce_done(struct brio_reduce *r, enum brio_wait how)
{
    return brio_reduce_head(r, how, r->n);
}

bool brio_reduce_head(struct brio_reduce *r, enum brio_wait how, int n)
{
    if (r->team->meet)
        return brio_meet_over(r->team, r->epoch, how, r->out, n);
    if (r->failed || r->req == MPI_REQUEST_NULL)
        return true;
    if (how == BRIO_POLL)
        return brio_real_test(&r->req);
    finish(r);
    return true;
}
