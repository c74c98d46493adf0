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

/* How many uses before this one have gone the same way. */
static uint32_t row_of(struct brio_trial *trial, bool other)
{
    uint32_t row = LOAD(&trial->row);
    row = row % 2 == other ? row / 2 : 0;
    STORE(&trial->row, 2 * (row + 1) + other);
    return row;
}

struct brio_use brio_trial_begin(struct brio_trial *trial)
{
    uint32_t n = atomic_fetch_add_explicit(&trial->uses, 1, memory_order_relaxed);
    bool tries = n < BRIO_TRIAL_FIRST || n % BRIO_TRIAL_AGAIN < 2 * BRIO_TRIAL_ROW;
    bool other = tries ? n / BRIO_TRIAL_ROW % 2 : brio_trial_prefers(trial);
    bool tells = row_of(trial, other) >= BRIO_TRIAL_ROW / 2;
    return (struct brio_use){.other = other, .tries = tries, .began = tells ? brio_now() : 0};
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
    int64_t cost = brio_max(1, brio_min(ns, INT32_MAX) * 65536 / brio_max(1, bytes));
    if (known > 0 && cost > known)
        cost = known + brio_min(cost - known, brio_max(1, known / GROWTH));
    else if (known > 0)
        cost += (known - cost) / 2;
    STORE(&trial->cost[payer][other], cost);
}

void brio_trial_copy(struct brio_trial *to, const struct brio_trial *from)
{
    STORE(&to->uses, LOAD(&from->uses));
    for (int i = 0; i < BRIO_PAYERS; i++)
        for (int way = 0; way < 2; way++)
            STORE(&to->cost[i][way], LOAD(&from->cost[i][way]));
}
