/* Runs in a sorted array. Writes mostly go on where the last one ended, so a search begins at
 * the end and most additions move nothing. */
#include "cache/dirty.h"

#include <string.h>

void brio_dirty_init(struct brio_dirty *d, uint32_t max)
{
    d->n = 0;
    d->max = max;
}

/* The first run that ends at or behind `at`; d->n if there is none. */
static uint32_t find(const struct brio_dirty *d, uint32_t at)
{
    uint32_t from = 0, to = d->n;
    if (to > 0 && d->run[to - 1].hi < at)
        return to;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (d->run[mid].hi < at)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

/* Runs [i, j) become `with` runs, whose contents the caller sets. False if that is too many. */
static bool replace(struct brio_dirty *d, uint32_t i, uint32_t j, uint32_t with)
{
    uint32_t n = d->n - (j - i) + with;
    if (n > d->max)
        return false;
    memmove(&d->run[i + with], &d->run[j], (d->n - j) * sizeof d->run[0]);
    d->n = n;
    return true;
}

bool brio_dirty_add(struct brio_dirty *d, uint32_t lo, uint32_t hi)
{
    uint32_t i = find(d, lo), j = i;
    while (j < d->n && d->run[j].lo <= hi)
        j++;
    if (j > i) {
        lo = lo < d->run[i].lo ? lo : d->run[i].lo;
        hi = hi > d->run[j - 1].hi ? hi : d->run[j - 1].hi;
    }
    if (!replace(d, i, j, 1))
        return false;
    d->run[i] = (struct brio_dirty_run){lo, hi};
    return true;
}

bool brio_dirty_cut(struct brio_dirty *d, uint32_t lo, uint32_t hi)
{
    uint32_t i = find(d, lo), j, with = 0;
    struct brio_dirty_run left[2];
    if (lo >= hi)
        return true;
    if (i < d->n && d->run[i].hi == lo) /* touches only */
        i++;
    for (j = i; j < d->n && d->run[j].lo < hi; j++) {
        if (d->run[j].lo < lo)
            left[with++] = (struct brio_dirty_run){d->run[j].lo, lo};
        if (d->run[j].hi > hi)
            left[with++] = (struct brio_dirty_run){hi, d->run[j].hi};
    }
    if (!replace(d, i, j, with))
        return false;
    memcpy(&d->run[i], left, with * sizeof left[0]);
    return true;
}

bool brio_dirty_covers(const struct brio_dirty *d, uint32_t lo, uint32_t hi)
{
    uint32_t i = find(d, hi);
    return i < d->n && d->run[i].lo <= lo;
}
