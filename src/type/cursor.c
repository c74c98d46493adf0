/* Walking a tiled map from any position on, one strided run after the other. */
#include "type/node.h"
#include "type/search.h"

void brio_cursor_init(struct brio_cursor *c, const struct brio_map *map, brio_off pos)
{
    c->map = map;
    c->pos = pos;
    c->depth = -1;
}

/* Finds the frames for c->pos. */
static void place(struct brio_cursor *c)
{
    const struct brio_map *map = c->map;
    const struct brio_node *n = map->root;
    c->tile = c->pos / map->size;
    brio_off p = c->pos - c->tile * map->size, k;
    brio_off base = brio_wrap_mul(c->tile, map->extent);
    for (int d = 0;; d++) {
        struct brio_frame *f = &c->frame[d];
        *f = (struct brio_frame){.node = n, .base = base};
        switch (n->shape) {
        case BRIO_SHAPE_RUN:
            f->index = p / n->len;
            c->into = p - f->index * n->len;
            c->depth = d + 1;
            return;
        case BRIO_SHAPE_FRAGS:
            k = p / n->len;
            f->index = brio_node_find(n, k);
            f->inner = k - brio_node_start(n, f->index);
            c->into = p - k * n->len;
            if (brio_node_is_pieces(n)) {
                c->into = f->inner;
                f->inner = 0;
            }
            c->depth = d + 1;
            return;
        case BRIO_SHAPE_LOOP:
            f->index = p / n->child->size;
            p -= f->index * n->child->size;
            base = brio_wrap_add(base, n->off + f->index * n->stride);
            n = n->child;
            break;
        case BRIO_SHAPE_BLOCKS:
            k = p / n->child->size;
            p -= k * n->child->size;
            f->index = brio_node_find(n, k);
            f->inner = k - brio_node_start(n, f->index);
            base = brio_wrap_add(base, n->at[f->index] + f->inner * n->stride);
            n = n->child;
            break;
        case BRIO_SHAPE_LIST:
            f->index = brio_node_find(n, p);
            p -= n->cum[f->index];
            base = brio_wrap_add(base, n->at[f->index]);
            n = n->kids[f->index];
            break;
        }
    }
}

/* Fills the frames from d + 1 on with the first byte below frame d's current child. */
static void descend(struct brio_cursor *c, int d)
{
    for (;; d++) {
        struct brio_frame *f = &c->frame[d];
        const struct brio_node *n = f->node, *child = n->child;
        brio_off base;
        if (n->shape == BRIO_SHAPE_LOOP)
            base = brio_wrap_add(f->base, n->off + f->index * n->stride);
        else if (n->shape == BRIO_SHAPE_BLOCKS)
            base = brio_wrap_add(f->base, n->at[f->index] + f->inner * n->stride);
        else if (n->shape == BRIO_SHAPE_LIST) {
            base = brio_wrap_add(f->base, n->at[f->index]);
            child = n->kids[f->index];
        } else {
            c->depth = d + 1;
            return;
        }
        c->frame[d + 1] = (struct brio_frame){.node = child, .base = base};
    }
}

/* To the next child of an inner frame; false if there is none. */
static bool step(struct brio_frame *f)
{
    if (f->node->shape == BRIO_SHAPE_BLOCKS) {
        if (++f->inner < brio_node_items(f->node, f->index))
            return true;
        f->inner = 0;
    }
    return ++f->index < f->node->count;
}

/* The leaf is exhausted: on to the next one, in this tile or the next. */
static void advance(struct brio_cursor *c)
{
    for (int d = c->depth - 2; d >= 0; d--)
        if (step(&c->frame[d])) {
            descend(c, d);
            return;
        }
    c->tile++;
    c->frame[0] = (struct brio_frame){.node = c->map->root,
                                      .base = brio_wrap_mul(c->tile, c->map->extent)};
    descend(c, 0);
}

/* At most `max` bytes of out->count pieces, the first of which has c->into bytes passed.
 * Returns how many pieces are finished with it. */
static brio_off cut(struct brio_cursor *c, brio_off max, struct brio_run *out)
{
    if (c->into > 0 || max < out->len) {
        brio_off take = brio_min(out->len - c->into, max);
        bool whole = c->into + take == out->len;
        out->off += c->into;
        out->count = 1;
        c->into = whole ? 0 : c->into + take;
        out->len = out->stride = take;
        return whole;
    }
    if (out->count * out->len > max)
        out->count = max / out->len;
    return out->count;
}

/* How many fragments from i on are pieces of one length at one distance. */
static brio_off like_pieces(const struct brio_node *n, brio_off i, brio_off max,
                            brio_off *stride)
{
    brio_off len = brio_node_items(n, i), k = i + 1;
    *stride = len;
    if (k == n->count || brio_node_items(n, k) != len || max < 2 * len)
        return 1;
    brio_off gap = n->at[k] - n->at[i], room = max - 2 * len;
    for (k++; k < n->count && room >= len; k++, room -= len)
        if (n->at[k] - n->at[k - 1] != gap || brio_node_items(n, k) != len)
            break;
    *stride = gap;
    return k - i;
}

/* The next run of a leaf of fragments; true if that was the last. */
static bool next_frags(struct brio_cursor *c, struct brio_frame *f, brio_off max,
                       struct brio_run *out)
{
    const struct brio_node *n = f->node;
    out->off = f->base + n->at[f->index];
    out->kind = n->kind;
    brio_off items = brio_node_items(n, f->index);
    if (brio_node_is_pieces(n)) {
        out->len = items;
        out->count = 1;
        out->stride = items;
        if (c->into == 0 && max >= items)
            out->count = like_pieces(n, f->index, max, &out->stride);
        f->index += cut(c, max, out);
        return f->index == n->count;
    }
    out->off += f->inner * n->stride;
    out->len = n->len;
    out->stride = n->stride;
    out->count = items - f->inner;
    f->inner += cut(c, max, out);
    if (f->inner < items)
        return false;
    f->inner = 0;
    return ++f->index == n->count;
}

/* The whole tiled map is one run. */
static void next_endless(struct brio_cursor *c, brio_off max, struct brio_run *out)
{
    const struct brio_run *r = &c->map->run;
    brio_off k = c->pos / r->len;
    brio_off into = c->pos - k * r->len;
    out->off = brio_wrap_add(r->off, brio_wrap_mul(k, r->stride));
    out->kind = r->kind;
    if (r->stride == r->len && r->kind == 0) {
        out->off = brio_wrap_add(out->off, into);
        out->len = out->stride = max;
        out->count = 1;
    } else if (into > 0 || max < r->len) {
        out->off = brio_wrap_add(out->off, into);
        out->len = out->stride = brio_min(r->len - into, max);
        out->count = 1;
    } else {
        out->len = r->len;
        out->stride = r->stride;
        out->count = max / r->len;
    }
    c->pos += out->len * out->count;
}

void brio_cursor_next(struct brio_cursor *c, brio_off max, struct brio_run *out)
{
    if (c->map->endless) {
        next_endless(c, max, out);
        return;
    }
    if (c->depth < 0)
        place(c);
    struct brio_frame *f = &c->frame[c->depth - 1];
    const struct brio_node *n = f->node;
    bool done;
    if (n->shape == BRIO_SHAPE_RUN) {
        out->off = f->base + n->off + f->index * n->stride;
        out->len = n->len;
        out->stride = n->stride;
        out->count = n->count - f->index;
        out->kind = n->kind;
        f->index += cut(c, max, out);
        done = f->index == n->count;
    } else
        done = next_frags(c, f, max, out);
    c->pos += out->len * out->count;
    if (done)
        advance(c);
}
