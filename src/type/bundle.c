/* Finding bundles: a tile, or the child of a loop, that is a leaf of a few pieces. */
#include "type/bundle.h"

#include "type/node.h"

enum {
    WORTH_IT = 8
}; /* turns */

/* Puts the pieces of a leaf into the bundle, shifted by off. */
static bool take_pieces(const struct brio_node *n, brio_off off, struct brio_bundle *b)
{
    if (n->count > BRIO_BUNDLE_PIECES || n->kind != 0)
        return false;
    if (n->shape == BRIO_SHAPE_FRAGS && !brio_node_is_pieces(n))
        return false;
    if (n->shape != BRIO_SHAPE_FRAGS && n->shape != BRIO_SHAPE_RUN)
        return false;
    bool run = n->shape == BRIO_SHAPE_RUN;
    b->npieces = (int)n->count;
    for (brio_off i = 0; i < n->count; i++) {
        b->at[i] = off + (run ? n->off + i * n->stride : n->at[i]);
        b->start[i] = run ? i * n->len : brio_node_start(n, i);
        b->len[i] = run ? n->len : brio_node_items(n, i);
    }
    b->size = n->size;
    return true;
}

bool brio_bundle_find(const struct brio_map *map, brio_off pos, brio_off bytes,
                      struct brio_bundle *b)
{
    const struct brio_node *root = map->root;
    bool loop = root->shape == BRIO_SHAPE_LOOP;
    const struct brio_node *leaf = loop ? root->child : root;
    if (map->endless || bytes / WORTH_IT < leaf->size ||
        !take_pieces(leaf, loop ? root->off : 0, b))
        return false;
    /* Turns are numbered through all tiles; those of one tile are `per` and contiguous. */
    brio_off per = loop ? root->count : 1, whole;
    brio_off first = pos / b->size + (pos % b->size != 0), last = (pos + bytes) / b->size;
    b->stride = loop ? root->stride : map->extent;
    if (loop && !(brio_mul(per, root->stride, &whole) && whole == map->extent)) {
        brio_off tile_end = first / per * per + per;
        if (tile_end - first < WORTH_IT && last > tile_end) {
            first = tile_end;
            tile_end += per;
        }
        last = brio_min(last, tile_end);
    } else if (loop)
        per = 1; /* the loop goes on from tile to tile */
    if (last - first < WORTH_IT)
        return false;
    brio_off shift = per == 1 ? brio_wrap_mul(first, b->stride)
                              : brio_wrap_add(brio_wrap_mul(first / per, map->extent),
                                              brio_wrap_mul(first % per, b->stride));
    for (int i = 0; i < b->npieces; i++)
        b->at[i] = brio_wrap_add(b->at[i], shift);
    b->pos = first * b->size;
    b->turns = last - first;
    return true;
}
