/* A shift towards the beginning, over bytes that are saved meanwhile. */
#include "fbtl/even.h"

#include <string.h>

#include "base/stats.h"

enum {
    LONG = 1 << 20, /* bytes of an access: a shorter one may be in the cache, and would lose */
    PART = 256 << 10, /* stays in a core's own cache */
    HALF = BRIO_LINE / 2,
    PAGE = 4096,
    FROM_DISK = 200000 /* nanoseconds of a part that tells nothing */
};

static bool is_open(const struct brio_even_trial *trial)
{
    return atomic_load_explicit(&trial->samples, memory_order_relaxed) < BRIO_EVEN_SAMPLES;
}

/* While it is open each way in turn; then evenly only if that is clearly faster. */
static bool goes_evenly(const struct brio_even_trial *trial)
{
    if (is_open(trial))
        return atomic_load_explicit(&trial->samples, memory_order_relaxed) % 2;
    return 4 * atomic_load_explicit(&trial->least[true], memory_order_relaxed) <
           3 * atomic_load_explicit(&trial->least[false], memory_order_relaxed);
}

static void note(struct brio_even_trial *trial, bool evenly, int64_t ns)
{
    int64_t least = atomic_load_explicit(&trial->least[evenly], memory_order_relaxed);
    if (ns >= FROM_DISK)
        return;
    if (least == 0 || ns < least)
        atomic_store_explicit(&trial->least[evenly], ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&trial->samples, 1, memory_order_relaxed);
}

void brio_even_begin(struct brio_even *e, const struct brio_even_trial *trial,
                     struct iovec *piece, brio_off off, brio_off room)
{
    brio_off beside = (brio_off)(((uintptr_t)piece->iov_base - (uintptr_t)off) % BRIO_LINE);
    bool evenly = goes_evenly(trial);
    *e = (struct brio_even){.shift = 0};
    if (beside % HALF == 0 || room + (brio_off)piece->iov_len < LONG ||
        (!evenly && !is_open(trial)))
        return;
    if (evenly && room < beside) { /* first as much as leads to a whole page */
        piece->iov_len = (size_t)(2 * PAGE - off % PAGE);
        return;
    }
    piece->iov_len = (size_t)brio_min((brio_off)piece->iov_len, PART);
    if (is_open(trial) && piece->iov_len == PART)
        e->began = brio_now();
    if (!evenly)
        return;
    e->shift = beside;
    piece->iov_base = (char *)piece->iov_base - beside;
    memcpy(e->before, piece->iov_base, (size_t)beside);
}

void brio_even_end(const struct brio_even *e, struct brio_even_trial *trial,
                   const struct iovec *piece, brio_off n)
{
    char *at = piece->iov_base;
    if (e->shift > 0) {
        if (n > 0)
            memmove(at + e->shift, at, (size_t)n);
        memcpy(at, e->before, (size_t)e->shift);
    }
    if (e->began > 0 && n == PART)
        note(trial, e->shift > 0, brio_now() - e->began);
}
