/* What a way costs soon is what short tries took, and grows a little with each that took
 * longer: so it follows a machine that changes, and a rank that had to wait counts for little.
 */
#include "base/trial.h"

#include "base/stats.h"

#define LOAD(at)         atomic_load_explicit(at, memory_order_relaxed)
#define STORE(at, value) atomic_store_explicit(at, value, memory_order_relaxed)

enum {
    GROWTH = 8, /* at most by one so-manieth */
    CLEARLY = 8 /* likewise faster */
};

bool brio_trial_prefers(const struct brio_trial *trial)
{
    int64_t plain = 0, other = 0;
    for (int i = 0; i < BRIO_PAYERS; i++) {
        int64_t a = LOAD(&trial->cost[i][false]), b = LOAD(&trial->cost[i][true]);
        if (a > 0 && b > 0) {
            plain += a;
            other += b;
        }
    }
    return other < plain - plain / CLEARLY;
}

/* Tries are in an order that goes with nothing that comes back regularly. */
struct brio_use brio_trial_begin(struct brio_trial *trial)
{
    uint32_t n = atomic_fetch_add_explicit(&trial->uses, 1, memory_order_relaxed);
    bool first = n < BRIO_TRIAL_FIRST, again = n % BRIO_TRIAL_AGAIN < 2;
    if (!first && !again)
        return (struct brio_use){.other = brio_trial_prefers(trial)};
    return (struct brio_use){.other = __builtin_parity(n) != 0, .began = brio_now()};
}

void brio_trial_end(struct brio_trial *trial, const struct brio_use *use, brio_off bytes)
{
    if (use->began > 0)
        brio_trial_note(trial, BRIO_PAYS_DOER, use->other, brio_now() - use->began, bytes);
}

void brio_trial_note(struct brio_trial *trial, enum brio_payer payer, bool other, int64_t ns,
                     brio_off bytes)
{
    int64_t known = LOAD(&trial->cost[payer][other]);
    int64_t cost = brio_max(1, (brio_min(ns, INT32_MAX) << 16) / brio_max(1, bytes));
    if (known > 0 && cost > known)
        cost = known + brio_min(cost - known, brio_max(1, known / GROWTH));
    else if (known > 0)
        cost += (known - cost) / 2;
    STORE(&trial->cost[payer][other], cost);
}
