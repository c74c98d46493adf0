/* Where owners failed rides on the verdict: the owners share as many words as there are. */
#include "fcoll/ending.h"

#include "comm/verdict.h"
#include "type/cut.h"

enum {
    WORST, /* failure */
    BAD,   /* ~ of the first byte that an owner has not moved */
    BAD_WORDS = BRIO_MEET_WORDS - BAD
};

void brio_ending_agree(struct brio_reduce *reduce, const struct brio_rounds *r)
{
    reduce->n = BAD + (int)brio_min(r->plan->nowners, BAD_WORDS);
    reduce->in[WORST] = brio_verdict_vote(r->team, r->err);
    for (int i = BAD; i < reduce->n; i++)
        reduce->in[i] = r->bad < 0 ? ~r->bad : INT64_MIN;
    if (r->plan->own >= 0)
        reduce->in[BAD + r->plan->own % BAD_WORDS] = ~r->bad;
    brio_reduce_start(reduce, r->team);
}

/* The data bytes of this rank that are certain although an owner failed. */
static brio_off count_moved(const struct brio_reduce *reduce, const struct brio_rounds *r)
{
    const struct brio_plan *plan = r->plan;
    brio_off moved = r->moved;
    for (int a = 0; a < plan->nowners; a++) {
        brio_off bad = ~reduce->out[BAD + a % BAD_WORDS];
        brio_off from = brio_cut_below(plan->mine, bad);
        if (plan->owners[a].mine && from < brio_cut_below(plan->mine, plan->owners[a].hi))
            moved = brio_min(moved, from);
    }
    return moved;
}

struct brio_result brio_ending_judge(const struct brio_reduce *reduce,
                                     const struct brio_rounds *r)
{
    struct brio_result out = {.err = BRIO_OK, .bytes = r->moved};
    if (reduce->failed) {
        out.err = brio_fail(BRIO_EINTERN, "a reduction of MPI failed");
        out.bytes = 0;
    } else if (reduce->out[WORST]) {
        out.bytes = count_moved(reduce, r);
        out.err = brio_verdict_read(reduce->out[WORST]);
    }
    if (r->err) {
        brio_err_restore(r->text);
        out.err = r->err;
    }
    return out;
}
