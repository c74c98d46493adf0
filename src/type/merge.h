/* The union of several patterns: which bytes of a file are touched at all. Regular patterns
 * that interleave are compared period by period, not piece by piece. Pure. */
#ifndef BRIO_TYPE_MERGE_H
#define BRIO_TYPE_MERGE_H

#include "type/map.h"

/* n maps of one tile each (type/cut.h), monotone; empty ones are allowed. *out is one tile,
 * monotone. BRIO_ENOMEM also if the union is too ragged to be worth describing: more than
 * max_pieces pieces and periods had to be looked at. */
BRIO_ERR brio_merge(size_t n, struct brio_map *const *maps, brio_off max_pieces,
                    struct brio_map **out);

#endif
