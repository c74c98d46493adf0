/* Nodes in depth-first order: shape, its numbers, its arrays, its children. */
#include "type/wire.h"

#include <stdlib.h>

#include "base/mem.h"
#include "type/node.h"

enum {
    MAP_WORDS = 2, /* lb, extent */
    NODE_WORDS = 6 /* shape, off, len, stride, count, each */
};

static size_t size_of(const struct brio_node *n)
{
    size_t words = NODE_WORDS;
    if (n->at)
        words += (size_t)n->count;
    if (!n->each && n->cum && n->shape != BRIO_SHAPE_LIST)
        words += (size_t)n->count;
    if (n->shape == BRIO_SHAPE_LIST)
        for (brio_off i = 0; i < n->count; i++)
            words += size_of(n->kids[i]);
    else if (n->child)
        words += size_of(n->child);
    return words;
}

size_t brio_wire_size(const struct brio_map *map)
{
    return MAP_WORDS + size_of(map->root);
}

static int64_t *put(const struct brio_node *n, int64_t *at)
{
    const int64_t head[NODE_WORDS] = {n->shape, n->off, n->len, n->stride, n->count, n->each};
    for (int i = 0; i < NODE_WORDS; i++)
        *at++ = head[i];
    if (n->at)
        for (brio_off i = 0; i < n->count; i++)
            *at++ = n->at[i];
    if (!n->each && n->cum && n->shape != BRIO_SHAPE_LIST)
        for (brio_off i = 0; i < n->count; i++)
            *at++ = brio_node_items(n, i);
    if (n->shape == BRIO_SHAPE_LIST)
        for (brio_off i = 0; i < n->count; i++)
            at = put(n->kids[i], at);
    else if (n->child)
        at = put(n->child, at);
    return at;
}

int64_t *brio_wire_put(const struct brio_map *map, int64_t *at)
{
    *at++ = map->lb;
    *at++ = map->extent;
    return put(map->root, at);
}

struct reader {
    const int64_t *at;
    size_t left;
    int depth;
};

static BRIO_ERR get(struct reader *r, struct brio_node **out);

static const int64_t *take(struct reader *r, int64_t n)
{
    const int64_t *at = r->at;
    if (n < 0 || (uint64_t)n > r->left)
        return NULL;
    r->at += n;
    r->left -= (size_t)n;
    return at;
}

static BRIO_ERR broken(void)
{
    return brio_fail(BRIO_EINTERN, "a map that arrived is damaged");
}

static BRIO_ERR get_list(struct reader *r, int64_t count, struct brio_node **out)
{
    struct brio_node **kids;
    const int64_t *at = take(r, count);
    if (!at)
        return broken();
    enum brio_err err = brio_calloc((size_t)count, sizeof *kids, (void **)&kids);
    size_t n = 0;
    while (!err && n < (size_t)count) {
        err = get(r, &kids[n]);
        n += !err;
    }
    if (!err) {
        err = brio_node_list(n, kids, at, out);
    } else {
        while (n > 0)
            brio_node_unref(kids[--n]);
    }
    free(kids);
    return err;
}

/* Fragments and blocks: where each is and how many copies it has. */
static BRIO_ERR get_blocks(struct reader *r, const int64_t *head, struct brio_node **out)
{
    int64_t shape = head[0], stride = head[3], count = head[4], each = head[5];
    struct brio_node *child;
    brio_off *same = NULL;
    const int64_t *at = take(r, count), *items = each ? at : take(r, count);
    if (!at || !items)
        return broken();
    enum brio_err err =
        shape == BRIO_SHAPE_FRAGS ? brio_node_bytes(head[2], 0, &child) : get(r, &child);
    if (err)
        return err;
    if (each) {
        err = brio_calloc((size_t)count, sizeof *same, (void **)&same);
        if (err) {
            brio_node_unref(child);
            return err;
        }
        for (int64_t i = 0; i < count; i++)
            same[i] = each;
        items = same;
    }
    err = brio_node_blocks(child, stride, (size_t)count, items, at, out);
    free(same);
    return err;
}

static BRIO_ERR get_loop(struct reader *r, const int64_t *head, struct brio_node **out)
{
    struct brio_node *child, *loop;
    enum brio_err err =
        head[0] == BRIO_SHAPE_RUN ? brio_node_bytes(head[2], 0, &child) : get(r, &child);
    if (!err)
        err = brio_node_loop(child, head[4], head[3], &loop);
    return err ? err : brio_node_list(1, &loop, &head[1], out);
}

static BRIO_ERR get(struct reader *r, struct brio_node **out)
{
    const int64_t *head = take(r, NODE_WORDS);
    if (!head || head[4] < 0 || ++r->depth > 2 * BRIO_MAP_DEPTH)
        return broken();
    enum brio_err err;
    switch (head[0]) {
    case BRIO_SHAPE_RUN:
    case BRIO_SHAPE_LOOP:
        err = get_loop(r, head, out);
        break;
    case BRIO_SHAPE_FRAGS:
    case BRIO_SHAPE_BLOCKS:
        err = get_blocks(r, head, out);
        break;
    case BRIO_SHAPE_LIST:
        err = get_list(r, head[4], out);
        break;
    default:
        err = broken();
    }
    r->depth--;
    return err;
}

BRIO_ERR brio_wire_get(const int64_t *at, size_t room, size_t *used, struct brio_map **out)
{
    struct reader r = {.at = at, .left = room};
    struct brio_node *root;
    const int64_t *head = take(&r, MAP_WORDS);
    if (!head)
        return broken();
    enum brio_err err = get(&r, &root);
    if (!err)
        err = brio_map_new(root, head[0], head[1], out);
    if (!err)
        *used = room - r.left;
    return err;
}
