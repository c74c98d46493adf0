/* The bytes of cached pages: between frames and the file. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cache/coherent.h"
#include "comm/verdict.h"

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

/* ---- Writing back ----------------------------------------------------------------------- */

enum {
    TOGETHER = 4 << 20 /* bytes that leave in one piece */
};

/* A page to be written. */
struct leaf {
    brio_off page;
    struct brio_held_frame f;
};

static int by_page(const void *a, const void *b)
{
    const struct leaf *x = a, *y = b;
    return x->page < y->page ? -1 : x->page > y->page;
}

/* The dirty pages of the whole crew in file order. */
static BRIO_ERR list_dirty(struct brio_coherent *c, struct leaf **out, size_t *n)
{
    int members = c->crew->team.nranks;
    size_t most = 0;
    for (int m = 0; m < members; m++)
        most += brio_bay_frames(c, m)->used;
    void *mem;
    enum brio_err err = brio_calloc(most, sizeof(struct leaf), &mem);
    if (err)
        return err;
    *out = mem;
    *n = 0;
    for (int m = 0; m < members; m++) {
        struct brio_frames *frames = brio_bay_frames(c, m);
        for (uint32_t i = 0; i < frames->used; i++) {
            struct brio_cached *frame = brio_cached_at(frames, i);
            if (atomic_load(&frame->used) > 0 && frame->dirty.n > 0)
                (*out)[(*n)++] =
                    (struct leaf){.page = frame->page,
                                  .f = {.frame = frame, .bytes = brio_bay_bytes(c, m, i)}};
        }
    }
    qsort(*out, *n, sizeof **out, by_page);
    return BRIO_OK;
}

/* How many pages from leaf i on are one piece in the file, each wholly dirty but for the
 * beginning of the first and the end of the last. */
static size_t count_neighbours(const struct brio_coherent *c, const struct leaf *leaf, size_t i,
                               size_t end)
{
    size_t j = i + 1;
    while (j < end && leaf[j].page == leaf[j - 1].page + 1 &&
           (brio_off)(j - i + 1) * c->page <= TOGETHER) {
        const struct brio_dirty *before = &leaf[j - 1].f.frame->dirty;
        const struct brio_dirty *here = &leaf[j].f.frame->dirty;
        if (before->n != 1 || before->run[0].hi != c->page || here->n != 1 ||
            here->run[0].lo != 0)
            break;
        j++;
    }
    return j - i;
}

/* Leaves [i, i + n) as one write, by way of the buffer. */
static BRIO_ERR write_together(struct brio_coherent *c, const struct leaf *leaf, size_t n,
                               char *buffer)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        struct brio_dirty_run run = leaf[i].f.frame->dirty.run[0];
        memcpy(buffer + bytes, leaf[i].f.bytes + run.lo, run.hi - run.lo);
        bytes += run.hi - run.lo;
    }
    brio_off off = leaf[0].page * c->page + leaf[0].f.frame->dirty.run[0].lo;
    struct brio_io io = brio_io_flat(BRIO_WRITE, off, buffer, (brio_off)bytes, c->flat);
    struct brio_result r = brio_lane_access(&c->below, &io);
    for (size_t i = 0; i < n && !r.err; i++)
        leaf[i].f.frame->dirty.n = 0;
    return r.err;
}

BRIO_ERR brio_coherent_write_back(struct brio_coherent *c)
{
    const struct brio_team *team = &c->crew->team;
    struct leaf *leaf = NULL;
    size_t n = 0;
    enum brio_err err = list_dirty(c, &leaf, &n);
    if (team->nranks > 1) /* everybody has listed them before anybody cleans one */
        err = brio_agree(team, err);
    if (err) {
        free(leaf);
        return err;
    }
    size_t members = (size_t)team->nranks, me = (size_t)team->rank;
    size_t end = n * (me + 1) / members;
    char *buffer = malloc(TOGETHER);
    for (size_t i = n * me / members; i < end;) {
        size_t together = buffer ? count_neighbours(c, leaf, i, end) : 1;
        enum brio_err failed = together > 1 ? write_together(c, leaf + i, together, buffer)
                                            : brio_coherent_clean(c, leaf[i].f);
        if (!err)
            err = failed;
        i += together;
    }
    free(buffer);
    free(leaf);
    return err;
}
