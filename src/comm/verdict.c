/* Agreement by one reduction: the worst error with its rank, and for each value to compare
 * its maximum and the maximum of its complement (which is the complement of the minimum). */
#include "comm/verdict.h"

enum {
    FIRST_SAME = 3 /* word of the first value to compare */
};

_Static_assert(FIRST_SAME + 2 * BRIO_VERDICT_SAME <= BRIO_MEET_WORDS,
               "more than one meeting holds");

void brio_verdict_init(struct brio_verdict *v, enum brio_err mine)
{
    v->mine = mine;
    v->nsame = 0;
    v->most = v->also = 0;
    if (mine)
        brio_err_save(v->text);
}

void brio_verdict_same(struct brio_verdict *v, const char *what, int64_t value)
{
    if (v->nsame == BRIO_VERDICT_SAME)
        return;
    v->what[v->nsame] = what;
    v->reduce.in[FIRST_SAME + 2 * v->nsame] = value;
    v->reduce.in[FIRST_SAME + 1 + 2 * v->nsame] = ~value;
    v->nsame++;
}

/* The code in the upper half, so that the maximum is an error if there is any; of equal
 * codes the highest rank is named. */
int64_t brio_verdict_vote(const struct brio_team *team, enum brio_err mine)
{
    return mine ? (int64_t)mine << 32 | team->rank : 0;
}

enum brio_err brio_verdict_read(int64_t worst)
{
    if (worst == 0)
        return BRIO_OK;
    return brio_fail(BRIO_EPEER, "rank %d failed: %s", (int)(worst & 0xffffffff),
                     brio_err_name((enum brio_err)(worst >> 32)));
}

void brio_verdict_start(struct brio_verdict *v, const struct brio_team *team)
{
    v->reduce.n = FIRST_SAME + 2 * v->nsame;
    v->reduce.in[0] = brio_verdict_vote(team, v->mine);
    v->reduce.in[1] = v->most;
    v->reduce.in[2] = v->also;
    brio_reduce_start(&v->reduce, team);
}

/* What the reduction says, for this rank. */
static enum brio_err judge(struct brio_verdict *v)
{
    const int64_t *out = v->reduce.out;
    if (v->reduce.failed)
        return brio_fail(BRIO_EINTERN, "a reduction of MPI failed");
    v->most = out[1];
    v->also = out[2];
    if (v->mine) {
        brio_err_restore(v->text);
        return v->mine;
    }
    enum brio_err err = brio_verdict_read(out[0]);
    for (int i = 0; i < v->nsame && !err; i++)
        if (out[FIRST_SAME + 2 * i] != ~out[FIRST_SAME + 1 + 2 * i])
            err = brio_fail(BRIO_ENOTSAME, "%s differs between ranks", v->what[i]);
    return err;
}

bool brio_verdict_done(struct brio_verdict *v, enum brio_wait how, enum brio_err *out)
{
    if (!brio_reduce_done(&v->reduce, how))
        return false;
    *out = judge(v);
    return true;
}

BRIO_ERR brio_verdict_settle(struct brio_verdict *v, const struct brio_team *team)
{
    enum brio_err verdict;
    brio_verdict_start(v, team);
    brio_verdict_done(v, BRIO_BLOCK, &verdict);
    return verdict;
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
