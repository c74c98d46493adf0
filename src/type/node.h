/* The nodes of a map, as map.c and cursor.c see them. Not for other rooms. */
#ifndef BRIO_TYPE_NODE_H
#define BRIO_TYPE_NODE_H

#include "type/map.h"

enum brio_shape {
    BRIO_SHAPE_RUN,    /* leaf: count pieces of len bytes, stride apart */
    BRIO_SHAPE_FRAGS,  /* leaf: count fragments, fragment i is a run of elements at at[i];
                          with len == 1, stride == 1 and kind 0 it is one piece of that
                          many bytes */
    BRIO_SHAPE_LOOP,   /* count copies of child, stride apart; one copy: only a shift */
    BRIO_SHAPE_BLOCKS, /* count blocks, block i is copies of child, stride apart, at at[i] */
    BRIO_SHAPE_LIST    /* count children, kids[i] shifted by at[i] */
};

/* Nodes below a root have off == 0 and size > 0; only a root is ever a mere shift. Two
 * nodes with the same hash and the same fields describe the same bytes. */
struct brio_node {
    enum brio_shape shape;
    int kind;   /* leaves */
    int depth;  /* 1 for a leaf */
    bool rises; /* byte offsets strictly rise in typemap order */
    _Atomic int refs;
    size_t nnodes;
    brio_off off;          /* RUN and LOOP: all is shifted by this */
    brio_off size, lo, hi; /* with off; lo == hi == 0 if size is 0 */
    brio_off npieces;
    uint64_t hash; /* without off */
    brio_off len;  /* leaves: bytes of a piece or element */
    brio_off stride, count;
    brio_off each;           /* FRAGS, BLOCKS: elements or copies per entry; 0: see cum */
    struct brio_node *child; /* LOOP, BLOCKS */
    struct brio_node **kids; /* LIST */
    brio_off *at;            /* FRAGS, BLOCKS, LIST: offset of each entry */
    brio_off *cum;           /* first element, copy or byte of each entry, and the end */
};

/* Arithmetic that wraps where a checked one has no way to say so. */
static inline brio_off brio_wrap_mul(brio_off a, brio_off b)
{
    return (brio_off)((uint64_t)a * (uint64_t)b);
}
static inline brio_off brio_wrap_add(brio_off a, brio_off b)
{
    return (brio_off)((uint64_t)a + (uint64_t)b);
}

/* The first element, copy or byte of entry i; i == count gives the end. */
static inline brio_off brio_node_start(const struct brio_node *n, brio_off i)
{
    return n->each ? i * n->each : n->cum[i];
}

/* Elements or copies of entry i. */
static inline brio_off brio_node_items(const struct brio_node *n, brio_off i)
{
    return n->each ? n->each : n->cum[i + 1] - n->cum[i];
}

/* A FRAGS node whose fragments are single pieces. */
static inline bool brio_node_is_pieces(const struct brio_node *n)
{
    return n->len == 1 && n->stride == 1 && n->kind == 0;
}

/* One piece of plain bytes. */
static inline bool brio_node_is_piece(const struct brio_node *n)
{
    return n->shape == BRIO_SHAPE_RUN && n->count == 1 && n->kind == 0;
}

#endif
