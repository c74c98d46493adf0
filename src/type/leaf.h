/* The types that are not made of others: what their members are, in memory and in
 * external32. Not for other rooms. */
#ifndef BRIO_TYPE_LEAF_H
#define BRIO_TYPE_LEAF_H

#include <mpi.h>

#include "type/flatten.h"

/* `count` elements side by side. */
struct brio_member {
    unsigned char kind;      /* enum brio_kind */
    unsigned char mem, file; /* bytes of one element in memory and in external32 */
    unsigned char count;
    unsigned char at; /* where the first one is in memory */
};

/* A value, a complex number, or a pair; unused members have count 0. */
struct brio_leaf {
    struct brio_member member[2];
    int marker; /* -1: MPI_LB, 1: MPI_UB; then there are no members */
};

/* `type` must be named or F90 parametric. */
BRIO_ERR brio_leaf_get(MPI_Datatype type, struct brio_leaf *out);

/* Data bytes in memory. */
int brio_leaf_mem_size(const struct brio_leaf *leaf);

/* Data bytes in external32. */
brio_off brio_leaf_file_size(const struct brio_leaf *leaf);

/* Its node in memory: plain bytes, or (typed) elements with their kinds. */
BRIO_ERR brio_leaf_node(const struct brio_leaf *leaf, bool typed, struct brio_node **out);

#endif
