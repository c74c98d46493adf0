/* Agreement by one reduction: the worst error with its rank, and for each value to compare
 * its maximum and the maximum of its complement (which is the complement of the minimum). */
#include "comm/verdict.h"

#include "comm/real.h"

void brio_verdict_init(struct brio_verdict *v, enum brio_err mine)
{
    v->mine = mine;
    v->nsame = 0;
    v->most = 0;
    v->req = MPI_REQUEST_NULL;
    if (mine)
        brio_err_save(v->text);
}

void brio_verdict_same(struct brio_verdict *v, const char *what, int64_t value)
{
    if (v->nsame == BRIO_VERDICT_SAME)
        return;
    v->what[v->nsame] = what;
    v->in[2 + 2 * v->nsame] = value;
    v->in[3 + 2 * v->nsame] = ~value;
    v->nsame++;
}

/* The code in the upper half, so that the maximum is an error if there is any; of equal
 * codes the highest rank is named. Returns the number of words. */
static int fill_in(struct brio_verdict *v, const struct brio_team *team)
{
    v->team = team;
    v->in[0] = v->mine ? (int64_t)v->mine << 32 | team->rank : 0;
    v->in[1] = v->most;
    return 2 + 2 * v->nsame;
}

/* MPI itself failed: no rank can know what the others did. */
static void give_up(struct brio_verdict *v)
{
    v->req = MPI_REQUEST_NULL;
    v->nsame = 0;
    v->out[0] = (int64_t)BRIO_EINTERN << 32;
    v->out[1] = v->most;
}

void brio_verdict_start(struct brio_verdict *v, const struct brio_team *team)
{
    int n = fill_in(v, team);
    if (team->meet)
        brio_meet_enter(team, v->in, n, &v->epoch);
    else if (PMPI_Iallreduce(v->in, v->out, n, MPI_INT64_T, MPI_MAX, team->comm, &v->req) !=
             MPI_SUCCESS)
        give_up(v);
}

/* What the reduction says, for this rank. */
static enum brio_err judge(struct brio_verdict *v)
{
    v->most = v->out[1];
    if (v->mine) {
        brio_err_restore(v->text);
        return v->mine;
    }
    if (v->out[0]) {
        enum brio_err theirs = (enum brio_err)(v->out[0] >> 32);
        return brio_fail(BRIO_EPEER, "rank %d failed: %s", (int)(v->out[0] & 0xffffffff),
                         brio_err_name(theirs));
    }
    for (int i = 0; i < v->nsame; i++)
        if (v->out[2 + 2 * i] != ~v->out[3 + 2 * i])
            return brio_fail(BRIO_ENOTSAME, "%s differs between ranks", v->what[i]);
    return BRIO_OK;
}

bool brio_verdict_done(struct brio_verdict *v, enum brio_wait how, enum brio_err *out)
{
    bool done = true;
    if (v->team->meet)
        done = brio_meet_over(v->team, v->epoch, how, v->out, 2 + 2 * v->nsame);
    else if (v->req != MPI_REQUEST_NULL && how == BRIO_BLOCK)
        brio_real_wait(&v->req);
    else if (v->req != MPI_REQUEST_NULL)
        done = brio_real_test(&v->req);
    if (done)
        *out = judge(v);
    return done;
}

BRIO_ERR brio_verdict_settle(struct brio_verdict *v, const struct brio_team *team)
{
    enum brio_err verdict;
    if (team->meet) {
        brio_verdict_start(v, team);
        brio_verdict_done(v, BRIO_BLOCK, &verdict);
        return verdict;
    }
    int n = fill_in(v, team);
    if (PMPI_Allreduce(v->in, v->out, n, MPI_INT64_T, MPI_MAX, team->comm) != MPI_SUCCESS)
        give_up(v);
    return judge(v);
}

BRIO_ERR brio_agree(const struct brio_team *team, enum brio_err mine)
{
    struct brio_verdict v;
    brio_verdict_init(&v, mine);
    return brio_verdict_settle(&v, team);
}

BRIO_ERR brio_follow(const struct brio_team *team, enum brio_err mine)
{
    struct {
        int err;
        char text[BRIO_ERR_TEXT];
    } word = {.err = (int)mine};
    if (mine)
        brio_err_save(word.text);
    if (PMPI_Bcast(&word, sizeof word, MPI_BYTE, 0, team->comm) != MPI_SUCCESS)
        return brio_fail(BRIO_EINTERN, "MPI_Bcast failed");
    if (word.err)
        brio_err_restore(word.text);
    return (enum brio_err)word.err;
}
