/* Counters of one open file on one rank: what was asked for, what was done for it, and where
 * the time went. Always on, so they must cost next to nothing: a rank adds to a shard that no
 * other thread writes, and reads no clock for a small access but now and then. Every room may
 * add; NULL is a file that is not counted. */
#ifndef BRIO_BASE_STATS_H
#define BRIO_BASE_STATS_H

#include <stdatomic.h>
#include <time.h>

#include "base/base.h"

enum {
    BRIO_SIZES = 34,  /* classes of sizes: none, then 1, 2-3, 4-7, ... and 4 GiB or more */
    BRIO_SHARDS = 8,  /* the last one is for all threads that have none of their own */
    BRIO_SAMPLE = 61, /* of so many small accesses one is timed; prime, to fall in step with
                         no program */
    BRIO_LARGE = 256 << 10 /* bytes of an access that is timed always */
};

/* Time of a rank during its accesses, by what it is spent on. */
enum brio_phase {
    BRIO_PHASE_NONE,     /* outside */
    BRIO_PHASE_PLAN,     /* a plan is made, memory for it is had */
    BRIO_PHASE_EXCHANGE, /* data goes between ranks */
    BRIO_PHASE_FILE,     /* data goes between memory and the file */
    BRIO_PHASE_WAIT,     /* for other ranks */
    BRIO_PHASES
};

/* Each has a name in stats.c, by which it is known outside. */
enum brio_counter {
    /* Data accesses of the program; of each group, reads and then writes, as enum brio_dir. */
    BRIO_N_INDEPENDENT,
    BRIO_N_COLLECTIVE = BRIO_N_INDEPENDENT + 2,
    BRIO_N_SHARED = BRIO_N_COLLECTIVE + 2,
    BRIO_N_ORDERED = BRIO_N_SHARED + 2,
    BRIO_N_NONBLOCKING = BRIO_N_ORDERED + 2, /* of the above, or the two halves of a split */
    BRIO_N_BYTES = BRIO_N_NONBLOCKING + 2,   /* data bytes moved for the program */
    BRIO_N_FAILED = BRIO_N_BYTES + 2,
    BRIO_N_VIEWS = BRIO_N_FAILED + 2, /* changes of the view */
    BRIO_N_SYNCS,
    /* Nanoseconds by phase; BRIO_N_PHASE itself is nothing. */
    BRIO_N_PHASE,
    /* Collective accesses. */
    BRIO_N_PLAN_HITS = BRIO_N_PHASE + BRIO_PHASES, /* a plan of before was used again */
    BRIO_N_PLAN_MISSES,                            /* one was made */
    BRIO_N_PLAN_CPU, /* nanoseconds of processor time that went into it; less than the phase
                        took where ranks share cores, or sleep */
    BRIO_N_DIRECT,   /* each rank accessed its own bytes */
    BRIO_N_OWNERS,   /* aggregators of the accesses with a plan, added up */
    BRIO_N_OWNED,    /* accesses in which this rank was one */
    BRIO_N_WINDOWS,  /* buffers of the file that this rank accessed for others */
    BRIO_N_MOVES,    /* of this rank to another core */
    BRIO_N_COPIED,   /* bytes from memory to memory */
    BRIO_N_MESSAGES, /* of data, sent */
    BRIO_N_MESSAGE_BYTES, /* in them */
    /* The file; reads and then writes. */
    BRIO_N_CALLS,                                /* system calls that moved data */
    BRIO_N_CALL_BYTES = BRIO_N_CALLS + 2,        /* by them */
    BRIO_N_CALL_ALIGNED = BRIO_N_CALL_BYTES + 2, /* of them, those of whole blocks */
    BRIO_N_MAPPED = BRIO_N_CALL_ALIGNED + 2,     /* windows written through a mapping */
    BRIO_N_MAPPED_BYTES,
    BRIO_N_HOLES,   /* bytes of windows that nobody asked for */
    BRIO_N_LOCKS,   /* requests for a lock of the file system */
    BRIO_N_LOCK_NS, /* and how long they took */
    /* Accesses by the program, by the class of their size; of each class, reads and then
     * writes. */
    BRIO_N_SIZES,
    BRIO_COUNTERS = BRIO_N_SIZES + 2 * BRIO_SIZES
};

struct brio_shard {
    _Atomic int64_t n[BRIO_COUNTERS];
    _Atomic uint32_t tick; /* small accesses: the first ones, and then those since one was
                              timed; about: nothing is added up from it */
} __attribute__((aligned(64)));

struct brio_trace;

struct brio_stats {
    struct brio_shard shard[BRIO_SHARDS];
    struct brio_trace *trace; /* a record of every access (trace.h), or NULL: none */
    /* The collective access under way; one thread at a time drives it. */
    enum brio_phase phase, paused;
    int64_t since;
    int64_t cpu_since; /* while a plan is made */
    int weight;        /* how many accesses its times stand for; 0: it is not timed */
};

/* Which shard is this thread's own; none if it has not asked yet, or came too late for one. */
extern _Thread_local unsigned brio_stats_thread __attribute__((tls_model("initial-exec")));

BRIO_ERR brio_stats_new(struct brio_stats **out);
void brio_stats_free(struct brio_stats *s);

/* The sum over all threads. */
int64_t brio_stats_get(const struct brio_stats *s, int counter);

/* "write.collective", "ns.file", "sizes.read.12", ... or NULL where there is no counter; and
 * back, -1 if there is none of that name. */
const char *brio_counter_name(int counter, char out[32]);
int brio_counter_named(const char *name);

/* Nanoseconds on a clock that only goes forward. */
static inline int64_t brio_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline bool brio_stats_owns(void)
{
    return __builtin_expect(brio_stats_thread < BRIO_SHARDS - 1, 1);
}

/* To a counter that no other thread writes. */
static inline void brio_counter_add(_Atomic int64_t *at, int64_t n)
{
    atomic_store_explicit(at, atomic_load_explicit(at, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* The same for a thread that has no shard, or none yet. */
void brio_count_late(struct brio_stats *s, int counter, int64_t n);

static inline void brio_count(struct brio_stats *s, int counter, int64_t n)
{
    if (!s)
        return;
    if (brio_stats_owns())
        brio_counter_add(&s->shard[brio_stats_thread].n[counter], n);
    else
        brio_count_late(s, counter, n);
}

/* A system call that moved bytes; block is a power of two. */
static inline void brio_count_call(struct brio_stats *s, enum brio_dir dir, brio_off off,
                                   brio_off bytes, brio_off block)
{
    bool aligned = ((off | bytes) & (block - 1)) == 0;
    if (!s)
        return;
    if (brio_stats_owns()) {
        _Atomic int64_t *own = &s->shard[brio_stats_thread].n[dir];
        brio_counter_add(&own[BRIO_N_CALLS], 1);
        brio_counter_add(&own[BRIO_N_CALL_BYTES], bytes);
        brio_counter_add(&own[BRIO_N_CALL_ALIGNED], aligned);
        return;
    }
    brio_count_late(s, BRIO_N_CALLS + (int)dir, 1);
    brio_count_late(s, BRIO_N_CALL_BYTES + (int)dir, bytes);
    brio_count_late(s, BRIO_N_CALL_ALIGNED + (int)dir, aligned);
}

static inline int brio_size_class(brio_off bytes)
{
    int bits = bytes > 0 ? 64 - __builtin_clzll((unsigned long long)bytes) : 0;
    return bits < BRIO_SIZES ? bits : BRIO_SIZES - 1;
}

/* An access of the program of this kind (BRIO_N_INDEPENDENT, ...), which moved so much. */
static inline void brio_count_access(struct brio_stats *s, int kind, enum brio_dir dir,
                                     brio_off bytes)
{
    int size = BRIO_N_SIZES + 2 * brio_size_class(bytes);
    if (brio_stats_owns()) {
        _Atomic int64_t *own = &s->shard[brio_stats_thread].n[dir];
        brio_counter_add(&own[kind], 1);
        brio_counter_add(&own[BRIO_N_BYTES], bytes);
        brio_counter_add(&own[size], 1);
        return;
    }
    brio_count_late(s, kind + (int)dir, 1);
    brio_count_late(s, BRIO_N_BYTES + (int)dir, bytes);
    brio_count_late(s, size + (int)dir, 1);
}

/* How many accesses this one stands for if it is timed; 0 if it is not. The first ones count
 * for themselves alone, as they are slower than the rest. */
static inline int brio_sample(struct brio_stats *s, brio_off bytes)
{
    if (bytes >= BRIO_LARGE || s->trace)
        return 1;
    unsigned me = brio_stats_owns() ? brio_stats_thread : BRIO_SHARDS - 1;
    _Atomic uint32_t *at = &s->shard[me].tick;
    uint32_t tick = atomic_load_explicit(at, memory_order_relaxed) + 1;
    bool timed = __builtin_expect(tick >= 2 * BRIO_SAMPLE, 0);
    atomic_store_explicit(at, timed ? BRIO_SAMPLE : tick, memory_order_relaxed);
    return timed ? BRIO_SAMPLE : tick <= BRIO_SAMPLE;
}

/* A collective access of so many bytes begins. */
static inline void brio_phase_begin(struct brio_stats *s, brio_off bytes)
{
    s->weight = brio_sample(s, bytes);
}

/* Its phase ends, and is timed. */
void brio_phase_turn(struct brio_stats *s, enum brio_phase next);

/* The collective access under way goes over to another phase; returns the one before. */
static inline enum brio_phase brio_phase(struct brio_stats *s, enum brio_phase next)
{
    if (!s)
        return BRIO_PHASE_NONE;
    enum brio_phase before = s->phase;
    if (s->weight && before != next)
        brio_phase_turn(s, next);
    s->phase = next;
    return before;
}

/* Nobody drives it for a while. */
void brio_phase_pause(struct brio_stats *s);
void brio_phase_resume(struct brio_stats *s);

#endif
