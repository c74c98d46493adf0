/* What node.c and list.c share to make nodes. Not for other rooms. */
#ifndef BRIO_TYPE_BUILD_H
#define BRIO_TYPE_BUILD_H

#include <stdatomic.h>

#include "type/node.h"

struct brio_span {
    brio_off lo, hi;
};

/* True if hi - lo can be counted. */
static inline bool brio_span_fits(struct brio_span s)
{
    brio_off width;
    return !__builtin_sub_overflow(s.hi, s.lo, &width);
}

/* The bounds of `count` copies of `in`, `stride` apart, the first shifted by off; false if
 * they do not fit. */
bool brio_span_copies(struct brio_span in, brio_off off, brio_off count, brio_off stride,
                      struct brio_span *out);

enum brio_err brio_node_too_large(void);
uint64_t brio_mix(uint64_t hash, uint64_t word);
brio_off brio_sat_mul(brio_off a, brio_off b);

BRIO_ERR brio_node_alloc(enum brio_shape shape, struct brio_node **out);
BRIO_ERR brio_node_empty(struct brio_node **out);
BRIO_ERR brio_node_run(struct brio_run run, struct brio_node **out);
struct brio_run brio_node_as_run(const struct brio_node *node);

/* Notes in `node` that `child` hangs below it. */
BRIO_ERR brio_node_deepen(struct brio_node *node, const struct brio_node *child);

/* A new reference to the node without its own offset, which is added to *off. */
BRIO_ERR brio_node_settle(struct brio_node *node, brio_off *off, struct brio_node **out);

/* A new reference to the node shifted by off; borrows node. */
BRIO_ERR brio_node_shift(struct brio_node *node, brio_off off, struct brio_node **out);

#endif
