/* Which of two ways to do the same thing is faster here and now: the plain one, unless the
 * other is clearly faster. What a processor minds no rule tells (fbtl/even.h: twice as fast on
 * one machine, a tenth slower on the next). So both ways are tried at first, and once more now
 * and then: several times in a row, for the first uses after a change still pay for what the
 * last way left in the caches, and tell nothing. */
#ifndef BRIO_BASE_TRIAL_H
#define BRIO_BASE_TRIAL_H

#include <stdatomic.h>

#include "base/base.h"

enum {
    BRIO_TRIAL_ROW = 16,                    /* uses one way; half of them tell nothing */
    BRIO_TRIAL_FIRST = 2 * BRIO_TRIAL_ROW,  /* one row each way; */
    BRIO_TRIAL_AGAIN = 32 * BRIO_TRIAL_ROW, /* and then of so many uses one row each way */
};

/* Who pays for a use: it may cost another more than it gains. */
enum brio_payer {
    BRIO_PAYS_DOER,
    BRIO_PAYS_NEXT, /* who goes on with what was done */
    BRIO_PAYERS
};

/* All zero at first. Any thread may use it, and any rank if it is in shared memory. */
struct brio_trial {
    _Atomic uint32_t uses;
    _Atomic uint32_t row; /* 2 x how many of the last went the same way; + 1: the other way */
    _Atomic int64_t cost[BRIO_PAYERS][2]; /* by way, in 2^-16 ns a byte; 0: not known */
};

struct brio_use {
    bool other;    /* than the plain way */
    bool tries;    /* whichever is better */
    int64_t began; /* 0: it tells nothing */
};

/* Says which way to go now. */
struct brio_use brio_trial_begin(struct brio_trial *trial);

/* It is done, for so many bytes. A use that tells nothing need not be ended. */
void brio_trial_end(struct brio_trial *trial, const struct brio_use *use, brio_off bytes);

/* What one use cost one of them. */
void brio_trial_note(struct brio_trial *trial, enum brio_payer payer, bool other, int64_t ns,
                     brio_off bytes);

/* What one knows the other knows, too. */
void brio_trial_copy(struct brio_trial *to, const struct brio_trial *from);

/* Whether the other way is the better one, as far as is known. */
bool brio_trial_prefers(const struct brio_trial *trial);

#endif
