/* Windows over the touched bytes of a domain. */
#include "fcoll/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "type/cut.h"

/* The server of byte `off` of a domain of stripes; *end is where its stripe ends. */
static brio_off server_of(const struct brio_owner *owner, brio_off off, brio_off *end)
{
    struct brio_part part;
    if (!owner->places.ops) {
        *end = off - off % owner->stripe + owner->stripe;
        return off / owner->stripe;
    }
    owner->places.ops->map(owner->places.self, off, BRIO_OFF_MAX - off, &part);
    *end = off + part.len;
    return part.server;
}

/* Where a window that begins at lo ends at the latest. */
static brio_off window_end(const struct brio_owner *owner, brio_off lo, brio_off size,
                           brio_off align)
{
    brio_off hi = lo + size;
    brio_off even = align > 0 ? hi - hi % align : hi;
    if (even > lo)
        hi = even;
    if (owner->stripe > 0) {
        (void)server_of(owner, lo, &even);
        hi = brio_min(hi, even);
    }
    return hi;
}

/* The first byte at or behind `off` that is in the domain. */
static brio_off next_own(const struct brio_owner *owner, brio_off off)
{
    brio_off end;
    while (owner->stripe > 0 && off < owner->hi &&
           server_of(owner, off, &end) % owner->of != owner->index)
        off = end;
    return off;
}

static BRIO_ERR add_window(struct brio_owner *owner, size_t *room, brio_off lo, brio_off hi)
{
    if (owner->nwindows == *room) {
        size_t more = *room ? 2 * *room : 16;
        void *p = realloc(owner->windows, more * sizeof *owner->windows);
        if (!p)
            return brio_fail(BRIO_ENOMEM, "no memory for %zu windows", more);
        owner->windows = p;
        *room = more;
    }
    owner->windows[owner->nwindows++] = (struct brio_window){.lo = lo, .hi = hi};
    return BRIO_OK;
}

BRIO_ERR brio_windows_segment(struct brio_map *const *sources, int n, struct brio_owner *owner)
{
    size_t room = 0;
    brio_off most = 0;
    enum brio_err err = BRIO_OK;
    for (int r = 0; r < n; r++)
        most = brio_max(most, sources[r] ? sources[r]->size : 0);
    for (brio_off pos = 0; pos < most && !err; pos += owner->segment)
        err = add_window(owner, &room, 0, 0);
    return err;
}

BRIO_ERR brio_windows_make(const struct brio_map *touched, brio_off size, brio_off align,
                           struct brio_owner *owner)
{
    size_t room = 0;
    brio_off pos = 0;
    while (pos < touched->size) {
        brio_off at = brio_map_offset(touched, pos);
        brio_off lo = next_own(owner, at);
        if (lo > at) {
            pos = brio_cut_below(touched, lo);
            continue;
        }
        pos = brio_cut_below(touched, window_end(owner, lo, size, align));
        enum brio_err err = add_window(owner, &room, lo, brio_map_offset(touched, pos - 1) + 1);
        if (err)
            return err;
    }
    return BRIO_OK;
}

void brio_window_part(const struct brio_owner *owner, size_t k, const struct brio_map *map,
                      brio_off *from, brio_off *to)
{
    if (owner->segment > 0) {
        *from = brio_min((brio_off)k * owner->segment, map->size);
        *to = brio_min(*from + owner->segment, map->size);
    } else {
        *from = brio_cut_below(map, owner->windows[k].lo);
        *to = brio_cut_below(map, owner->windows[k].hi);
    }
}

void brio_plan_part(const struct brio_plan *plan, int a, size_t k, brio_off *from, brio_off *to)
{
    *from = *to = 0;
    if (plan->owners[a].mine)
        brio_window_part(&plan->owners[a], k, plan->mine, from, to);
}

brio_off brio_plan_placed(const struct brio_plan *plan)
{
    brio_off bytes = 0, from, to;
    for (int a = 0; a < plan->nowners; a++)
        for (size_t k = 0; k < plan->owners[a].nwindows; k++) {
            brio_plan_part(plan, a, k, &from, &to);
            bytes += to - from;
        }
    return bytes;
}

brio_off brio_plan_share(const struct brio_plan *plan, const struct brio_crew *crew, int which,
                         int end, size_t k, int *nsources)
{
    brio_off bytes = 0;
    int n = 0;
    for (int r = 0; r < end; r++) {
        brio_off from, to;
        if (!plan->sources[r] || crew->crew_of[r] != which)
            continue;
        brio_window_part(&plan->owners[plan->own], k, plan->sources[r], &from, &to);
        bytes += to - from;
        n += to > from;
    }
    if (nsources)
        *nsources = n;
    return bytes;
}

void brio_plan_boxes(const struct brio_plan *plan, const struct brio_crew *crew, size_t k,
                     brio_off *box_at, struct brio_boxes *boxes)
{
    memset(boxes, 0, (size_t)crew->ncrews * sizeof *boxes);
    for (int r = 0; r < plan->nranks; r++) {
        struct brio_boxes *box = &boxes[crew->crew_of[r]];
        brio_off from = 0, to = 0;
        if (plan->sources[r])
            brio_window_part(&plan->owners[plan->own], k, plan->sources[r], &from, &to);
        box_at[r] = box->bytes;
        box->bytes += to - from;
        box->nsources += to > from;
    }
}

brio_off brio_plan_largest(const struct brio_plan *plan, const struct brio_crew *crew,
                           int which)
{
    brio_off most = 0;
    for (size_t k = 0; k < plan->owners[plan->own].nwindows; k++)
        most = brio_max(most, brio_plan_share(plan, crew, which, plan->nranks, k, NULL));
    return most;
}

void brio_plan_free(struct brio_plan *plan)
{
    if (!plan)
        return;
    for (int r = 0; plan->sources && r < plan->nranks; r++)
        brio_map_unref(plan->sources[r]);
    free(plan->sources);
    for (int a = 0; a < plan->nowners; a++)
        free(plan->owners[a].windows);
    free(plan->owners);
    brio_map_unref(plan->touched);
    brio_map_unref(plan->mine);
    free(plan);
}
