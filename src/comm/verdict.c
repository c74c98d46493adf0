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
 * codes the highest rank is named. */
static int64_t cast_vote(enum brio_err mine, MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return mine ? (int64_t)mine << 32 | rank : 0;
}

void brio_verdict_start(struct brio_verdict *v, MPI_Comm comm)
{
    v->in[0] = cast_vote(v->mine, comm);
    v->in[1] = v->most;
    if (PMPI_Iallreduce(v->in, v->out, 2 + 2 * v->nsame, MPI_INT64_T, MPI_MAX, comm, &v->req) !=
        MPI_SUCCESS) {
        v->req = MPI_REQUEST_NULL;
        v->out[0] = (int64_t)BRIO_EINTERN << 32;
        v->out[1] = v->most;
    }
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
    int done = 1;
    if (v->req != MPI_REQUEST_NULL) {
        if (how == BRIO_BLOCK)
            brio_real_wait(&v->req);
        else
            done = brio_real_test(&v->req);
    }
    if (done)
        *out = judge(v);
    return done;
}

BRIO_ERR brio_verdict_settle(struct brio_verdict *v, MPI_Comm comm)
{
    v->in[0] = cast_vote(v->mine, comm);
    v->in[1] = v->most;
    if (PMPI_Allreduce(v->in, v->out, 2 + 2 * v->nsame, MPI_INT64_T, MPI_MAX, comm) !=
        MPI_SUCCESS)
        return brio_fail(BRIO_EINTERN, "MPI_Allreduce failed");
    return judge(v);
}

BRIO_ERR brio_agree(MPI_Comm comm, enum brio_err mine)
{
    struct brio_verdict v;
    brio_verdict_init(&v, mine);
    return brio_verdict_settle(&v, comm);
}

BRIO_ERR brio_follow(MPI_Comm comm, enum brio_err mine)
{
    struct {
        int err;
        char text[BRIO_ERR_TEXT];
    } word = {.err = (int)mine};
    if (mine)
        brio_err_save(word.text);
    if (PMPI_Bcast(&word, sizeof word, MPI_BYTE, 0, comm) != MPI_SUCCESS)
        return brio_fail(BRIO_EINTERN, "MPI_Bcast failed");
    if (word.err)
        brio_err_restore(word.text);
    return (enum brio_err)word.err;
}
