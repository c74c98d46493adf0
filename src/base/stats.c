/* Threads and their shards, the names of the counters, and the clock of the phases. */
#include "base/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/trace.h"

_Thread_local unsigned brio_stats_thread = BRIO_SHARDS;

/* The first threads of the process get a shard each; the others have the last one together. */
static void enlist(void)
{
    static _Atomic unsigned threads;
    unsigned n = atomic_load(&threads);
    while (n < BRIO_SHARDS - 1 && !atomic_compare_exchange_weak(&threads, &n, n + 1))
        ;
    brio_stats_thread = n;
}

void brio_count_late(struct brio_stats *s, int counter, int64_t n)
{
    if (brio_stats_thread == BRIO_SHARDS)
        enlist();
    if (brio_stats_owns())
        brio_counter_add(&s->shard[brio_stats_thread].n[counter], n);
    else /* others add to it, too */
        atomic_fetch_add_explicit(&s->shard[BRIO_SHARDS - 1].n[counter], n,
                                  memory_order_relaxed);
}

BRIO_ERR brio_stats_new(struct brio_stats **out)
{
    struct brio_stats *s = aligned_alloc(64, sizeof *s);
    if (!s)
        return brio_fail(BRIO_ENOMEM, "no memory for %zu bytes", sizeof *s);
    memset(s, 0, sizeof *s);
    *out = s;
    return BRIO_OK;
}

void brio_stats_free(struct brio_stats *s)
{
    if (s)
        brio_trace_free(s->trace);
    free(s);
}

int64_t brio_stats_get(const struct brio_stats *s, int counter)
{
    int64_t sum = 0;
    for (int i = 0; i < BRIO_SHARDS; i++)
        sum += atomic_load_explicit(&s->shard[i].n[counter], memory_order_relaxed);
    return sum;
}

/* Names of counters before BRIO_N_SIZES; those of a pair are the first one's. */
static const char *const names[BRIO_N_SIZES] = {
    [BRIO_N_INDEPENDENT] = "independent",
    [BRIO_N_COLLECTIVE] = "collective",
    [BRIO_N_SHARED] = "shared",
    [BRIO_N_ORDERED] = "ordered",
    [BRIO_N_NONBLOCKING] = "nonblocking",
    [BRIO_N_BYTES] = "bytes",
    [BRIO_N_FAILED] = "failed",
    [BRIO_N_VIEWS] = "views",
    [BRIO_N_SYNCS] = "syncs",
    [BRIO_N_PHASE + BRIO_PHASE_PLAN] = "ns.plan",
    [BRIO_N_PHASE + BRIO_PHASE_EXCHANGE] = "ns.exchange",
    [BRIO_N_PHASE + BRIO_PHASE_FILE] = "ns.file",
    [BRIO_N_PHASE + BRIO_PHASE_WAIT] = "ns.wait",
    [BRIO_N_PLAN_HITS] = "plan.hits",
    [BRIO_N_PLAN_MISSES] = "plan.misses",
    [BRIO_N_PLAN_CPU] = "cpu.plan",
    [BRIO_N_DIRECT] = "direct",
    [BRIO_N_OWNERS] = "owners",
    [BRIO_N_OWNED] = "owned",
    [BRIO_N_WINDOWS] = "windows",
    [BRIO_N_MOVES] = "rank.moves",
    [BRIO_N_COPIED] = "copied",
    [BRIO_N_MESSAGES] = "messages",
    [BRIO_N_MESSAGE_BYTES] = "message_bytes",
    [BRIO_N_CALLS] = "calls",
    [BRIO_N_CALL_BYTES] = "call_bytes",
    [BRIO_N_CALL_ALIGNED] = "calls_aligned",
    [BRIO_N_MAPPED] = "mapped",
    [BRIO_N_MAPPED_BYTES] = "mapped_bytes",
    [BRIO_N_HOLES] = "holes",
    [BRIO_N_LOCKS] = "locks",
    [BRIO_N_LOCK_NS] = "ns.lock",
};

static bool is_pair(int counter)
{
    return counter < BRIO_N_VIEWS || (counter >= BRIO_N_CALLS && counter < BRIO_N_MAPPED);
}

const char *brio_counter_name(int counter, char out[32])
{
    static const char *const dirs[] = {"read", "write"};
    if (counter < 0 || counter >= BRIO_COUNTERS)
        return NULL;
    if (counter >= BRIO_N_SIZES) {
        int at = counter - BRIO_N_SIZES;
        snprintf(out, 32, "sizes.%s.%d", dirs[at % 2], at / 2);
        return out;
    }
    if (!is_pair(counter)) {
        if (!names[counter])
            return NULL;
        snprintf(out, 32, "%s", names[counter]);
        return out;
    }
    int dir = !names[counter];
    snprintf(out, 32, "%s.%s", dirs[dir], names[counter - dir]);
    return out;
}

int brio_counter_named(const char *name)
{
    char own[32];
    for (int i = 0; i < BRIO_COUNTERS; i++)
        if (brio_counter_name(i, own) && strcmp(own, name) == 0)
            return i;
    return -1;
}

/* Of this thread. */
static int64_t cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void brio_phase_turn(struct brio_stats *s, enum brio_phase next)
{
    int64_t now = brio_now();
    if (s->phase != BRIO_PHASE_NONE)
        brio_count(s, BRIO_N_PHASE + (int)s->phase, s->weight * (now - s->since));
    s->since = now;
    if (s->phase == BRIO_PHASE_PLAN)
        brio_count(s, BRIO_N_PLAN_CPU, s->weight * (cpu_now() - s->cpu_since));
    if (next == BRIO_PHASE_PLAN)
        s->cpu_since = cpu_now();
}

void brio_phase_pause(struct brio_stats *s)
{
    if (s)
        s->paused = brio_phase(s, BRIO_PHASE_NONE);
}

void brio_phase_resume(struct brio_stats *s)
{
    if (s)
        brio_phase(s, s->paused);
}
