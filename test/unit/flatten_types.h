/* Random MPI datatypes of every combiner, for test/unit/flatten.c. */
#ifndef BRIO_TEST_UNIT_FLATTEN_TYPES_H
#define BRIO_TEST_UNIT_FLATTEN_TYPES_H

#include <mpi.h>
#include <stdint.h>

enum {
    TEST_TYPE_SIZE = 4096,    /* data bytes of a type at most */
    TEST_TYPE_REACH = 1 << 17 /* three items stay within this far from the buffer */
};

/* What a random type may be made of. */
struct test_taste {
    int bytes_only;    /* all leaves are MPI_BYTE */
    int elements_only; /* no displacements in bytes: the type scales with its leaves */
    int empties;       /* parts without any bytes: there the MPIs disagree about bounds */
};

/* Where random numbers come from: 0 .. n-1. */
void test_type_random_from(int64_t (*below)(int64_t n));

/* A type of at most `depth` constructors on top of each other, not committed. */
MPI_Datatype test_type_random(struct test_taste taste, int depth);

/* Neither named nor F90 parametric. */
int test_type_derived(MPI_Datatype type);

/* Frees the type if it is one that can be freed. */
void test_type_free(MPI_Datatype *type);

/* Prints how the type was made. */
void test_type_show(MPI_Datatype type, int depth);

#endif
