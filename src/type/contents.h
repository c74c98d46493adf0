/* The arguments a datatype was built with, as MPI gives them back: three streams of numbers
 * that are read in the order of the constructor's arguments, whether it was the int or the
 * large-count form. Not for other rooms. */
#ifndef BRIO_TYPE_CONTENTS_H
#define BRIO_TYPE_CONTENTS_H

#include <mpi.h>

#include "base/base.h"

struct brio_contents {
    int combiner;
    size_t nints, naddrs, ncounts, ntypes;
    int *ints;
    MPI_Aint *addrs;
    MPI_Count *counts; /* large-count constructors */
    MPI_Datatype *types;
    size_t next_int, next_addr, next_count; /* what has been read */
};

/* Of a named or F90 type only the combiner and the integers are there. */
BRIO_ERR brio_contents_get(MPI_Datatype type, struct brio_contents *out);

/* Gives the types back to MPI, too. */
void brio_contents_free(struct brio_contents *c);

/* Never the type of a program's variable that is freed: named, or F90 parametric. */
bool brio_combiner_is_leaf(int combiner);
BRIO_ERR brio_combiner_of(MPI_Datatype type, int *out);

/* The next number: one that is an int in both forms; an int or a count; an address, a count
 * or, in MPI-1's constructors, an int. */
int brio_contents_int(struct brio_contents *c);
brio_off brio_contents_count(struct brio_contents *c);
brio_off brio_contents_addr(struct brio_contents *c);

#endif
