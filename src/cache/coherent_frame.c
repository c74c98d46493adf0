/* The bytes of cached pages: between frames and the file. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cache/coherent.h"

struct brio_held_frame brio_coherent_frame(const struct brio_coherent *c, int rank,
                                           uint32_t frame)
{
    int member = c->member_of[rank];
    struct brio_held_frame f = {.frame = brio_cached_at(brio_bay_frames(c, member), frame),
                                .bytes = brio_bay_bytes(c, member, frame)};
    uint64_t now = atomic_fetch_add(&brio_bay_at(c, 0)->clock, 1) + 1;
    atomic_store_explicit(&f.frame->used, now, memory_order_relaxed);
    return f;
}

void brio_coherent_grow(struct brio_coherent *c, brio_off size)
{
    _Atomic brio_off *known = &brio_bay_at(c, 0)->size;
    brio_off seen = atomic_load(known);
    while (size > seen && !atomic_compare_exchange_weak(known, &seen, size))
        ;
}

/* Bytes [from, to) of the page that are not dirty come from `fresh`. */
static void fill(struct brio_held_frame f, const char *fresh, uint32_t size)
{
    const struct brio_dirty *dirty = &f.frame->dirty;
    uint32_t at = 0;
    for (uint32_t i = 0; i < dirty->n; i++) {
        memcpy(f.bytes + at, fresh + at, dirty->run[i].lo - at);
        at = dirty->run[i].hi;
    }
    memcpy(f.bytes + at, fresh + at, size - at);
}

BRIO_ERR brio_coherent_load(struct brio_coherent *c, struct brio_held_frame f, uint32_t lo,
                            uint32_t hi)
{
    void *fresh = NULL;
    brio_off off = f.frame->page * c->page;
    if (f.frame->whole || brio_dirty_covers(&f.frame->dirty, lo, hi))
        return BRIO_OK;
    enum brio_err err = BRIO_OK;
    char *to = f.bytes;
    if (f.frame->dirty.n > 0) {
        err = brio_calloc(1, (size_t)c->page, &fresh);
        to = fresh;
    }
    if (err)
        return err;
    struct brio_io io = brio_io_flat(BRIO_READ, off, to, c->page, c->flat);
    struct brio_result r = brio_lane_access(&c->below, &io);
    if (!r.err) {
        memset(to + r.bytes, 0, (size_t)(c->page - r.bytes));
        if (fresh)
            fill(f, fresh, (uint32_t)c->page);
        f.frame->whole = true;
        if (r.bytes > 0)
            brio_coherent_grow(c, off + r.bytes);
    }
    free(fresh);
    return r.err;
}

BRIO_ERR brio_coherent_dirty(struct brio_coherent *c, struct brio_held_frame f, uint32_t lo,
                             uint32_t hi)
{
    if (brio_dirty_add(&f.frame->dirty, lo, hi))
        return BRIO_OK;
    enum brio_err err = brio_coherent_clean(c, f);
    if (!err)
        brio_dirty_add(&f.frame->dirty, lo, hi);
    return err;
}

BRIO_ERR brio_coherent_clean(struct brio_coherent *c, struct brio_held_frame f)
{
    struct brio_dirty *dirty = &f.frame->dirty;
    while (dirty->n > 0) { /* from the end: what is gone needs no moving */
        struct brio_dirty_run run = dirty->run[dirty->n - 1];
        struct brio_io io = brio_io_flat(BRIO_WRITE, f.frame->page * c->page + run.lo,
                                         f.bytes + run.lo, run.hi - run.lo, c->flat);
        struct brio_result r = brio_lane_access(&c->below, &io);
        if (r.err)
            return r.err;
        dirty->n--;
    }
    return BRIO_OK;
}
