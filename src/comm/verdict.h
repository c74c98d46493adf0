/* One verdict for all ranks: a collective ends well everywhere or nowhere. */
#ifndef BRIO_COMM_VERDICT_H
#define BRIO_COMM_VERDICT_H

#include "comm/reduce.h"

BRIO_DOOR_BEGIN

enum {
    BRIO_VERDICT_SAME = 5
}; /* values that can be compared in the same reduction */

/* An agreement under way. Neither copied nor moved until it is done. */
struct brio_verdict {
    enum brio_err mine;
    int64_t most; /* in: this rank's; out: the largest of all ranks' */
    int64_t also; /* a second such */
    int nsame;
    const char *what[BRIO_VERDICT_SAME];
    struct brio_reduce reduce;
    char text[BRIO_ERR_TEXT]; /* of mine */
};

/* Begins an agreement about `mine`; the text of a failure is this thread's last. v->most and
 * v->also are 0 and may be set before the start. */
void brio_verdict_init(struct brio_verdict *v, enum brio_err mine);

/* Adds a value that must be equal on all ranks; `what` names it in the complaint. */
void brio_verdict_same(struct brio_verdict *v, const char *what, int64_t value);

/* Collective: one reduction. */
void brio_verdict_start(struct brio_verdict *v, const struct brio_team *team);

/* True when it is over; then *out is BRIO_OK on every rank, or on no rank: a rank with a
 * failure of its own gets it back, the others BRIO_EPEER with a text that names the rank;
 * if values differ, those without a failure of their own get BRIO_ENOTSAME. */
bool brio_verdict_done(struct brio_verdict *v, enum brio_wait how, enum brio_err *out);

/* The pieces, for a reduction that carries more than a verdict: a word whose largest is the
 * worst failure, and what that word says to a rank that did not fail itself. */
int64_t brio_verdict_vote(const struct brio_team *team, enum brio_err mine);
enum brio_err brio_verdict_read(int64_t worst);

/* All in one, blocking: for agreements with nothing to compare. */
BRIO_ERR brio_agree(const struct brio_team *team, enum brio_err mine);

/* Blocking end of an agreement that has values to compare. */
BRIO_ERR brio_verdict_settle(struct brio_verdict *v, const struct brio_team *team);

/* What rank 0 did alone for all: its code and text become everybody's. */
BRIO_ERR brio_follow(const struct brio_team *team, enum brio_err mine);

BRIO_DOOR_END

#endif
