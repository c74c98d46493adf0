/* The last to arrive clears the other set of words, which nobody reads any more, and opens
 * the next epoch. */
#include "comm/meet.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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
    atomic_store(&meet->epoch, 0);
}

void brio_meet_enter(const struct brio_team *team, const int64_t *words, int n, uint32_t *epoch)
{
    struct brio_meet *meet = team->meet;
    uint32_t now = atomic_load(&meet->epoch);
    *epoch = now;
    for (int i = 0; i < n; i++)
        raise_to(&meet->most[now & 1][i], words[i]);
    if (atomic_fetch_add(&meet->arrived, 1) + 1 < (uint32_t)team->nranks)
        return;
    for (int i = 0; i < BRIO_MEET_WORDS; i++)
        atomic_store_explicit(&meet->most[~now & 1][i], INT64_MIN, memory_order_relaxed);
    atomic_store(&meet->arrived, 0);
    atomic_store(&meet->epoch, now + 1);
    brio_rouse(&meet->epoch);
}

bool brio_meet_over(const struct brio_team *team, uint32_t epoch, enum brio_wait how,
                    int64_t *most, int n)
{
    struct brio_meet *meet = team->meet;
    int round = 0;
    while (atomic_load(&meet->epoch) == epoch) {
        if (how == BRIO_POLL)
            return false;
        brio_doze(team, &meet->epoch, epoch, &round);
    }
    for (int i = 0; i < n; i++)
        most[i] = atomic_load_explicit(&meet->most[epoch & 1][i], memory_order_relaxed);
    return true;
}

/* With a core for each rank the others are at work and soon there: looking for a few
 * microseconds is cheaper than going to sleep. With fewer it would only keep them from it. */
void brio_look_closely(const struct brio_team *team, _Atomic uint32_t *word, uint32_t seen)
{
    static _Atomic long cores;
    if (cores == 0)
        cores = sysconf(_SC_NPROCESSORS_ONLN);
    for (int i = 0; i < 2000 && team->nranks <= cores; i++) {
        if (atomic_load_explicit(word, memory_order_relaxed) != seen)
            return;
        atomic_signal_fence(memory_order_seq_cst);
    }
}

void brio_doze(const struct brio_team *team, _Atomic uint32_t *word, uint32_t seen, int *round)
{
    enum {
        YIELDS = 8,
        FIRST_NAP = 200000, /* nanoseconds */
        LONGEST = 2000000
    };
    if (++*round <= YIELDS) {
        brio_look_closely(team, word, seen);
        sched_yield();
        return;
    }
    int flag;
    PMPI_Iprobe(MPI_ANY_SOURCE, 0, team->comm, &flag, MPI_STATUS_IGNORE);
    long nap = brio_min((long)FIRST_NAP * (*round - YIELDS), LONGEST);
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &(struct timespec){.tv_nsec = nap}, NULL, 0);
}

void brio_sleep_on(_Atomic uint32_t *word, uint32_t seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
}

void brio_rouse(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
