/* Which bytes of a page were written and are not yet in the file: sorted runs that neither
 * overlap nor touch. Pure, and without pointers: it may lie in shared memory. */
#ifndef BRIO_CACHE_DIRTY_H
#define BRIO_CACHE_DIRTY_H

#include "base/base.h"

/* Bytes [lo, hi) of the page. */
struct brio_dirty_run {
    uint32_t lo, hi;
};

struct brio_dirty {
    uint32_t n, max;
    struct brio_dirty_run run[];
};

/* Memory for at most `max` runs (max > 0). */
static inline size_t brio_dirty_room(uint32_t max)
{
    return sizeof(struct brio_dirty) + max * sizeof(struct brio_dirty_run);
}

void brio_dirty_init(struct brio_dirty *d, uint32_t max);

/* [lo, hi), not empty, is dirty too. False, and nothing has changed, if there is no room for
 * another run: the page must be written out first. */
bool brio_dirty_add(struct brio_dirty *d, uint32_t lo, uint32_t hi);

/* [lo, hi) is clean again. False, and nothing has changed, if there is no room. */
bool brio_dirty_cut(struct brio_dirty *d, uint32_t lo, uint32_t hi);

/* All of [lo, hi), not empty, is dirty. */
bool brio_dirty_covers(const struct brio_dirty *d, uint32_t lo, uint32_t hi);

#endif
