/* The map itself: made from a root node, and asked by arithmetic where a position lies,
 * how many bytes lie below an offset, and what a stretch of positions touches. Walking is
 * in cursor.c. */
#include "type/map.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "type/build.h"
#include "type/search.h"

/* ---- Making ------------------------------------------------------------------------- */

/* Notes whether the tiles go on as one run. */
static void look_for_run(struct brio_map *map)
{
    const struct brio_node *root = map->root;
    brio_off whole;
    if (root->shape != BRIO_SHAPE_RUN || root->size == 0)
        return;
    map->run = brio_node_as_run(root);
    if (root->count == 1) {
        map->run.stride = map->extent;
        map->endless = true;
    } else
        map->endless = brio_mul(root->count, root->stride, &whole) && whole == map->extent;
}

BRIO_ERR brio_map_new(struct brio_node *root, brio_off lb, brio_off extent,
                      struct brio_map **out)
{
    void *p;
    enum brio_err err = brio_calloc(1, sizeof **out, &p);
    if (err) {
        brio_node_unref(root);
        return err;
    }
    struct brio_map *map = p;
    map->root = root;
    map->size = root->size;
    map->lb = lb;
    map->extent = extent;
    map->lo = root->lo;
    map->hi = root->hi;
    map->npieces = root->npieces;
    map->nnodes = root->nnodes;
    map->contiguous = brio_node_is_piece(root) && root->lo == 0 && root->size == extent;
    map->monotone = root->size == 0 || (root->rises && root->hi - root->lo <= extent);
    look_for_run(map);
    uint64_t hash = brio_mix(root->hash, (uint64_t)root->off);
    hash = brio_mix(hash, (uint64_t)lb);
    map->hash = brio_mix(hash, (uint64_t)extent);
    map->refs = 1;
    *out = map;
    return BRIO_OK;
}

BRIO_ERR brio_map_bytes(brio_off size, struct brio_map **out)
{
    struct brio_node *root;
    enum brio_err err = brio_node_bytes(size, 0, &root);
    return err ? err : brio_map_new(root, 0, size, out);
}

struct brio_map *brio_map_ref(const struct brio_map *map)
{
    struct brio_map *m = (struct brio_map *)map;
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

void brio_map_unref(const struct brio_map *map)
{
    struct brio_map *m = (struct brio_map *)map;
    if (!m || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) > 1)
        return;
    brio_node_unref(m->root);
    free(m);
}

/* ---- Where a position lies ---------------------------------------------------------- */

/* base + i * step, held inside the range. */
static brio_off reach(brio_off base, brio_off i, brio_off step)
{
    brio_off far;
    if (!brio_mul(i, step, &far))
        return step < 0 ? -BRIO_OFF_MAX : BRIO_OFF_MAX;
    if (!brio_add(base, far, &far))
        return base < 0 ? -BRIO_OFF_MAX : BRIO_OFF_MAX;
    return far;
}

/* The offset of data byte p of one node. Cannot overflow: lo and hi of the node fit. */
static brio_off offset_in(const struct brio_node *n, brio_off p)
{
    brio_off base = 0;
    for (;;) {
        brio_off i, k;
        switch (n->shape) {
        case BRIO_SHAPE_RUN:
            k = p / n->len;
            return base + n->off + k * n->stride + (p - k * n->len);
        case BRIO_SHAPE_FRAGS:
            k = p / n->len;
            i = brio_node_find(n, k);
            return base + n->at[i] + (k - brio_node_start(n, i)) * n->stride + (p - k * n->len);
        case BRIO_SHAPE_LOOP:
            k = p / n->child->size;
            base += n->off + k * n->stride;
            p -= k * n->child->size;
            n = n->child;
            break;
        case BRIO_SHAPE_BLOCKS:
            k = p / n->child->size;
            i = brio_node_find(n, k);
            base += n->at[i] + (k - brio_node_start(n, i)) * n->stride;
            p -= k * n->child->size;
            n = n->child;
            break;
        case BRIO_SHAPE_LIST:
            i = brio_node_find(n, p);
            base += n->at[i];
            p -= n->cum[i];
            n = n->kids[i];
            break;
        }
    }
}

brio_off brio_map_offset(const struct brio_map *map, brio_off pos)
{
    if (map->contiguous)
        return pos;
    brio_off tile = pos / map->size;
    return reach(offset_in(map->root, pos - tile * map->size), tile, map->extent);
}

/* ---- How many bytes lie below an offset --------------------------------------------- */

/* Copies of something that begins at `lo` in each and are `stride` apart: which of `count`
 * copies is the last to begin below x; -1 if none. */
static brio_off last_below(brio_off x, brio_off lo, brio_off stride, brio_off count)
{
    if (x <= lo)
        return -1;
    return count == 1 ? 0 : brio_min((x - lo - 1) / stride, count - 1);
}

/* The last entry that begins below x; -1 if none. */
static brio_off last_entry(const struct brio_node *n, brio_off x)
{
    brio_off low = 0, high = n->count;
    while (low < high) {
        brio_off mid = low + (high - low) / 2;
        brio_off lo = n->shape == BRIO_SHAPE_FRAGS ? 0
                      : n->kids                    ? n->kids[mid]->lo
                                                   : n->child->lo;
        if (n->at[mid] + lo < x)
            low = mid + 1;
        else
            high = mid;
    }
    return low - 1;
}

/* Data bytes of a rising node at offsets below x. */
static brio_off below_in(const struct brio_node *n, brio_off x)
{
    brio_off sum = 0, i, k;
    for (;;) {
        if (x <= n->lo)
            return sum;
        if (x >= n->hi)
            return sum + n->size;
        switch (n->shape) {
        case BRIO_SHAPE_RUN:
            k = last_below(x, n->off, n->stride, n->count);
            return sum + k * n->len + brio_min(n->len, x - n->off - k * n->stride);
        case BRIO_SHAPE_FRAGS:
            i = last_entry(n, x);
            x -= n->at[i];
            k = last_below(x, 0, n->stride, brio_node_items(n, i));
            return sum + (brio_node_start(n, i) + k) * n->len +
                   brio_min(n->len, x - k * n->stride);
        case BRIO_SHAPE_LOOP:
            x -= n->off;
            k = last_below(x, n->child->lo, n->stride, n->count);
            sum += k * n->child->size;
            x -= k * n->stride;
            n = n->child;
            break;
        case BRIO_SHAPE_BLOCKS:
            i = last_entry(n, x);
            x -= n->at[i];
            k = last_below(x, n->child->lo, n->stride, brio_node_items(n, i));
            sum += (brio_node_start(n, i) + k) * n->child->size;
            x -= k * n->stride;
            n = n->child;
            break;
        case BRIO_SHAPE_LIST:
            i = last_entry(n, x);
            x -= n->at[i];
            sum += n->cum[i];
            n = n->kids[i];
            break;
        }
    }
}

brio_off brio_map_below(const struct brio_map *map, brio_off off)
{
    if (map->contiguous)
        return brio_max(off, 0);
    if (map->size == 0 || off <= map->lo)
        return 0;
    /* Unsigned: with a negative lo the distance may need 64 bits. */
    brio_off tile = (brio_off)(((uint64_t)off - (uint64_t)map->lo) / (uint64_t)map->extent);
    return tile * map->size + below_in(map->root, off - tile * map->extent);
}

/* ---- What a stretch of positions touches -------------------------------------------- */

static void widen(struct brio_span *s, brio_off lo, brio_off hi)
{
    s->lo = brio_min(s->lo, lo);
    s->hi = brio_max(s->hi, hi);
}

static void touch(const struct brio_node *n, brio_off base, brio_off from, brio_off to,
                  struct brio_span *s);

/* Copies `stride` apart of a child with bounds lo, hi and `size` data bytes; positions
 * [from, to) of them all; `child` is NULL for a plain piece at 0. */
static void touch_copies(const struct brio_node *child, brio_off size, brio_off stride,
                         struct brio_frame at, brio_off to, struct brio_span *s)
{
    brio_off from = at.index, base = at.base;
    brio_off first = from / size, last = (to - 1) / size;
    brio_off lo = child ? child->lo : 0, hi = child ? child->hi : size;
    for (int end = 0; end < 2; end++) {
        brio_off k = end ? last : first;
        brio_off a = brio_max(from - k * size, 0), b = brio_min(to - k * size, size);
        if (a < b) {
            brio_off o = reach(base, k, stride);
            if (child)
                touch(child, o, a, b, s);
            else
                widen(s, reach(o, 1, a), reach(o, 1, b));
        }
    }
    if (last - first > 1) {
        brio_off a = reach(base, first + 1, stride), b = reach(base, last - 1, stride);
        widen(s, reach(brio_min(a, b), 1, lo), reach(brio_max(a, b), 1, hi));
    }
}

/* Entries of a FRAGS or BLOCKS node, one after the other. */
static void touch_entries(const struct brio_node *n, brio_off base, brio_off from, brio_off to,
                          struct brio_span *s)
{
    brio_off size = n->child ? n->child->size : n->len;
    for (brio_off i = brio_node_find(n, from / size); i < n->count; i++) {
        brio_off start = brio_node_start(n, i) * size;
        brio_off end = brio_node_start(n, i + 1) * size;
        if (start >= to)
            return;
        struct brio_frame at = {.base = reach(base, 1, n->at[i]),
                                .index = brio_max(from - start, 0)};
        touch_copies(n->child, size, n->stride, at, brio_min(to, end) - start, s);
    }
}

/* Widens s by what positions [from, to) of the node, at base, touch. */
static void touch(const struct brio_node *n, brio_off base, brio_off from, brio_off to,
                  struct brio_span *s)
{
    if (from == 0 && to == n->size) {
        widen(s, reach(base, 1, n->lo), reach(base, 1, n->hi));
        return;
    }
    struct brio_frame at = {.base = reach(base, 1, n->off), .index = from};
    switch (n->shape) {
    case BRIO_SHAPE_RUN:
        touch_copies(NULL, n->len, n->stride, at, to, s);
        return;
    case BRIO_SHAPE_LOOP:
        touch_copies(n->child, n->child->size, n->stride, at, to, s);
        return;
    case BRIO_SHAPE_FRAGS:
    case BRIO_SHAPE_BLOCKS:
        touch_entries(n, base, from, to, s);
        return;
    case BRIO_SHAPE_LIST:
        for (brio_off i = brio_node_find(n, from); i < n->count && n->cum[i] < to; i++)
            touch(n->kids[i], reach(base, 1, n->at[i]), brio_max(from - n->cum[i], 0),
                  brio_min(to, n->cum[i + 1]) - n->cum[i], s);
        return;
    }
}

void brio_map_bounds(const struct brio_map *map, brio_off pos, brio_off bytes, brio_off *lo,
                     brio_off *hi)
{
    if (map->monotone) {
        *lo = brio_map_offset(map, pos);
        *hi = reach(brio_map_offset(map, pos + bytes - 1), 1, 1);
        return;
    }
    struct brio_span s = {BRIO_OFF_MAX, -BRIO_OFF_MAX};
    struct brio_frame at = {.base = 0, .index = pos};
    touch_copies(map->root, map->size, map->extent, at, pos + bytes, &s);
    *lo = s.lo;
    *hi = s.hi;
}

bool brio_map_is_piece(const struct brio_map *map, brio_off pos, brio_off bytes, brio_off *off)
{
    brio_off first = brio_map_offset(map, pos);
    if (map->monotone) {
        /* Strictly rising: as far apart in the file as in the data means no gap. */
        if (!map->contiguous && brio_map_offset(map, pos + bytes - 1) - first != bytes - 1)
            return false;
        *off = first;
        return true;
    }
    struct brio_cursor c;
    struct brio_run run;
    brio_cursor_init(&c, map, pos);
    for (brio_off done = 0; done < bytes; done += run.len * run.count) {
        brio_cursor_next(&c, bytes - done, &run);
        if (run.off != first + done || (run.count > 1 && run.stride != run.len))
            return false;
    }
    *off = first;
    return true;
}
