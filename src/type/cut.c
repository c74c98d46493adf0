/* Cutting nodes: at most a begun part in front, a middle of whole ones, and a begun part at
 * the end, level by level. */
#include "type/cut.h"

#include <stdlib.h>

#include "base/mem.h"
#include "type/build.h"
#include "type/search.h"

static BRIO_ERR cut_node(struct brio_node *n, brio_off p, brio_off q, struct brio_node **out);

/* Up to three parts that become a list. */
struct parts {
    struct brio_node *node[3];
    brio_off off[3];
    size_t n;
};

static BRIO_ERR join(struct parts *parts, enum brio_err err, struct brio_node **out)
{
    if (!err)
        return brio_node_list(parts->n, parts->node, parts->off, out);
    while (parts->n > 0)
        brio_node_unref(parts->node[--parts->n]);
    return err;
}

static BRIO_ERR add(struct parts *parts, brio_off off, struct brio_node *child, brio_off p,
                    brio_off q)
{
    struct brio_node *part;
    enum brio_err err = cut_node(child, p, q, &part);
    if (err)
        return err;
    parts->off[parts->n] = off;
    parts->node[parts->n++] = part;
    return BRIO_OK;
}

/* `child` `stride` apart, the first at `off`: bytes [p, q) of them all. */
static BRIO_ERR cut_copies(struct brio_node *child, brio_off off, brio_off stride, brio_off p,
                           brio_off q, struct brio_node **out)
{
    struct parts parts = {.n = 0};
    enum brio_err err = BRIO_OK;
    brio_off size = child->size, i = p / size, j = q / size;
    brio_off head = p - i * size, tail = q - j * size;
    if (i == j)
        return join(&parts, add(&parts, off + i * stride, child, head, tail), out);
    if (head > 0) {
        err = add(&parts, off + i * stride, child, head, size);
        i++;
    }
    if (!err && j > i) {
        struct brio_node *middle;
        err = brio_node_loop(brio_node_ref(child), j - i, stride, &middle);
        if (!err) {
            parts.off[parts.n] = off + i * stride;
            parts.node[parts.n++] = middle;
        }
    }
    if (!err && tail > 0)
        err = add(&parts, off + j * stride, child, 0, tail);
    return join(&parts, err, out);
}

/* Whole entries [i, j) of a node of fragments, blocks or kids. */
static BRIO_ERR take_entries(struct brio_node *n, struct brio_node *child, brio_off i,
                             brio_off j, struct brio_node **out)
{
    size_t count = (size_t)(j - i);
    if (n->shape == BRIO_SHAPE_LIST) {
        for (brio_off k = i; k < j; k++)
            brio_node_ref(n->kids[k]);
        return brio_node_list(count, n->kids + i, n->at + i, out);
    }
    brio_off *len;
    enum brio_err err = brio_calloc(count, sizeof *len, (void **)&len);
    if (err)
        return err;
    for (size_t k = 0; k < count; k++)
        len[k] = brio_node_items(n, i + (brio_off)k);
    err = brio_node_blocks(brio_node_ref(child), n->stride, count, len, n->at + i, out);
    free(len);
    return err;
}

/* Bytes [p, q) of entry i. */
static BRIO_ERR cut_entry(struct brio_node *n, struct brio_node *child, brio_off i, brio_off p,
                          brio_off q, struct brio_node **out)
{
    if (n->shape != BRIO_SHAPE_LIST)
        return cut_copies(child, n->at[i], n->stride, p, q, out);
    struct parts parts = {.n = 0};
    return join(&parts, add(&parts, n->at[i], n->kids[i], p, q), out);
}

/* Fragments, blocks and lists: entries found by their first byte. */
static BRIO_ERR cut_entries(struct brio_node *n, struct brio_node *child, brio_off p,
                            brio_off q, struct brio_node **out)
{
    struct parts parts = {.n = 0};
    enum brio_err err = BRIO_OK;
    brio_off unit = n->shape == BRIO_SHAPE_LIST ? 1 : child->size;
    brio_off i = brio_node_find(n, p / unit), j = brio_node_find(n, (q - 1) / unit);
    brio_off begin = brio_node_start(n, i) * unit, end = brio_node_start(n, j) * unit;
    brio_off last = brio_node_start(n, j + 1) * unit;
    if (i == j)
        return cut_entry(n, child, i, p - begin, q - begin, out);
    if (p > begin) {
        brio_off next = brio_node_start(n, i + 1) * unit;
        err = cut_entry(n, child, i, p - begin, next - begin, &parts.node[0]);
        parts.n = !err;
        i++;
    }
    brio_off stop = q == last ? j + 1 : j;
    if (!err && stop > i) {
        err = take_entries(n, child, i, stop, &parts.node[parts.n]);
        parts.n += !err;
    }
    if (!err && stop == j) {
        err = cut_entry(n, child, j, 0, q - end, &parts.node[parts.n]);
        parts.n += !err;
    }
    return join(&parts, err, out);
}

/* Bytes [p, q) of a node, p < q. Borrows it. */
static BRIO_ERR cut_node(struct brio_node *n, brio_off p, brio_off q, struct brio_node **out)
{
    if (p == 0 && q == n->size) {
        *out = brio_node_ref(n);
        return BRIO_OK;
    }
    struct brio_node *child = n->child, *bytes = NULL;
    enum brio_err err = BRIO_OK;
    if (n->shape == BRIO_SHAPE_RUN && n->count == 1) {
        struct brio_node *piece;
        err = brio_node_bytes(q - p, 0, &piece);
        return err ? err
                   : join(&(struct parts){.node = {piece}, .off = {n->off + p}, .n = 1},
                          BRIO_OK, out);
    }
    if (n->shape == BRIO_SHAPE_RUN || n->shape == BRIO_SHAPE_FRAGS) {
        err = brio_node_bytes(n->len, 0, &bytes);
        child = bytes;
    }
    if (err)
        return err;
    if (n->shape == BRIO_SHAPE_RUN || n->shape == BRIO_SHAPE_LOOP)
        err = cut_copies(child, n->off, n->stride, p, q, out);
    else
        err = cut_entries(n, child, p, q, out);
    brio_node_unref(bytes);
    return err;
}

BRIO_ERR brio_map_cut(const struct brio_map *map, brio_off base, brio_off pos, brio_off bytes,
                      struct brio_map **out)
{
    struct brio_node *part = NULL, *placed = NULL;
    if (bytes == 0)
        return brio_map_bytes(0, out);
    brio_off tile = pos / map->size;
    brio_off p = pos - tile * map->size;
    enum brio_err err = cut_copies(map->root, 0, map->extent, p, p + bytes, &part);
    if (!err)
        err = brio_node_list(1, &part, &(brio_off){base + tile * map->extent}, &placed);
    if (err)
        return err;
    return brio_map_new(placed, 0, placed->hi - placed->lo, out);
}
