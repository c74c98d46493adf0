/* The last to arrive clears the other set of words, which nobody reads any more, and opens
 * the next epoch. */
#include "comm/meet.h"

#include <stdatomic.h>

static void raise_to(_Atomic int64_t *most, int64_t value)
{
    int64_t seen = atomic_load_explicit(most, memory_order_relaxed);
    while (value > seen && !atomic_compare_exchange_weak(most, &seen, value))
        ;
}

void brio_meet_init(struct brio_meet *meet)
{
    for (int i = 0; i < 2 * BRIO_MEET_WORDS; i++)
        atomic_store(&meet->most[i % 2][i / 2], INT64_MIN);
    atomic_store(&meet->arrived, 0);
    atomic_store(&meet->over.rung, 0);
    atomic_store(&meet->over.sleepers, 0);
}

void brio_meet_enter(const struct brio_team *team, const int64_t *words, int n, uint32_t *epoch)
{
    struct brio_meet *meet = team->meet;
    uint32_t now = brio_bell_heard(&meet->over);
    *epoch = now;
    for (int i = 0; i < n; i++)
        raise_to(&meet->most[now & 1][i], words[i]);
    if (atomic_fetch_add(&meet->arrived, 1) + 1 < (uint32_t)team->nranks)
        return;
    for (int i = 0; i < BRIO_MEET_WORDS; i++)
        atomic_store_explicit(&meet->most[~now & 1][i], INT64_MIN, memory_order_relaxed);
    atomic_store(&meet->arrived, 0);
    brio_bell_ring(&meet->over);
}

bool brio_meet_over(const struct brio_team *team, uint32_t epoch, enum brio_wait how,
                    int64_t *most, int n)
{
    struct brio_meet *meet = team->meet;
    int round = 0;
    while (brio_bell_heard(&meet->over) == epoch) {
        if (how == BRIO_POLL)
            return false;
        brio_bell_wait(team, &meet->over, epoch, &round);
    }
    for (int i = 0; i < n; i++)
        most[i] = atomic_load_explicit(&meet->most[epoch & 1][i], memory_order_relaxed);
    return true;
}
