/* Lines read one after the other, and the clock. */
#include "fcoll/beacon.h"

#include <stdatomic.h>

#include "base/stats.h"

/* Nanoseconds. A line takes 10-25 from another core's cache, 50-120 if that is a cache which
 * this core does not share. */
enum {
    CLOCK = 25,    /* to ask it */
    HERE = 6,      /* a line that nobody has lit since, or somebody on this core */
    NEAR = 25,     /* less than this in the mean, and they are; */
    FAR = 40,      /* more, and they are far; in between nothing changes */
    MOST = 150,    /* longer, and this rank was not running meanwhile */
    FRESH = 20000, /* since a beacon was lit */
    LOOKS = 8      /* that the mean is of */
};

void brio_beacon_light(struct brio_beacon *mine)
{
    static const int64_t next[BRIO_BEACON_LINES] = {2, 3, 1, BRIO_BEACON_LINES};
    atomic_store_explicit(&mine->line[0].lit, brio_now(), memory_order_relaxed);
    for (int i = 0; i < BRIO_BEACON_LINES; i++)
        atomic_store_explicit(&mine->line[i].next, next[i], memory_order_relaxed);
}

void brio_distance_judge(struct brio_distance *d, int64_t ns)
{
    int64_t line = (ns - CLOCK) / BRIO_BEACON_LINES;
    if (line < HERE)
        return;
    d->line += (brio_min(line, MOST) * 1000 - d->line) / LOOKS;
    if (d->line < NEAR * 1000)
        d->far = false;
    else if (d->line > FAR * 1000)
        d->far = true;
}

void brio_distance_look(struct brio_distance *d, const struct brio_beacon *other)
{
    int64_t at = 0, began = brio_now();
    for (int i = 0; i < BRIO_BEACON_LINES && at >= 0 && at < BRIO_BEACON_LINES; i++)
        at = atomic_load_explicit(&other->line[at].next, memory_order_relaxed);
    int64_t lit = atomic_load_explicit(&other->line[0].lit, memory_order_relaxed);
    if (at == BRIO_BEACON_LINES && began - lit < FRESH)
        brio_distance_judge(d, brio_now() - began);
}
