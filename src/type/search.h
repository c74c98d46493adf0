/* Finding the entry of a node that holds a position. Not for other rooms. */
#ifndef BRIO_TYPE_SEARCH_H
#define BRIO_TYPE_SEARCH_H

#include "type/node.h"

/* The entry that holds element, copy or byte x (0 <= x < end). */
static inline brio_off brio_node_find(const struct brio_node *n, brio_off x)
{
    if (n->each)
        return x / n->each;
    brio_off low = 0, high = n->count;
    while (high - low > 1) {
        brio_off mid = low + (high - low) / 2;
        if (n->cum[mid] <= x)
            low = mid;
        else
            high = mid;
    }
    return low;
}

#endif
