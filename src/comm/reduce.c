/* One reduction, two ways. */
#include "comm/reduce.h"

#include "comm/real.h"

void brio_reduce_start(struct brio_reduce *r, const struct brio_team *team, enum brio_wait how)
{
    r->team = team;
    r->req = MPI_REQUEST_NULL;
    r->failed = false;
    if (team->meet)
        brio_meet_enter(team, r->in, r->n, &r->epoch);
    else if (how == BRIO_BLOCK)
        r->failed = PMPI_Allreduce(r->in, r->out, r->n, MPI_INT64_T, MPI_MAX, team->comm);
    else
        r->failed =
            PMPI_Iallreduce(r->in, r->out, r->n, MPI_INT64_T, MPI_MAX, team->comm, &r->req);
}

bool brio_reduce_done(struct brio_reduce *r, enum brio_wait how)
{
    if (r->team->meet)
        return brio_meet_over(r->team, r->epoch, how, r->out, r->n);
    if (r->failed || r->req == MPI_REQUEST_NULL)
        return true;
    if (how == BRIO_POLL)
        return brio_real_test(&r->req);
    brio_real_wait(&r->req);
    return true;
}
