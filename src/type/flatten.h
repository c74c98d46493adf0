/* From an MPI datatype to a map, by its envelope and contents: every combiner, and on MPI-4
 * also types built with the large-count constructors. Kept on the type as an attribute, so
 * a type is decoded once, however often it is used; named types are kept for ever. Memory
 * and time do not grow with the number of blocks of a regular type. */
#ifndef BRIO_TYPE_FLATTEN_H
#define BRIO_TYPE_FLATTEN_H

#include <mpi.h>

#include "type/map.h"

/* How leaves are measured. NULL means native memory layout, and pieces carry kind 0. */
struct brio_sizer {
    /* File size of one element of the named type `leaf` (also its extent in the file). */
    BRIO_ERR (*size)(void *self, MPI_Datatype leaf, brio_off *out);
    void *self;
    /* Pieces stay single elements, of kind 1 + the element's data bytes in memory. */
    bool counted;
};

/* The map of one item of `type` (committed or not), in memory. *out is a reference that the
 * caller gives back with brio_map_unref. Thread-safe. */
BRIO_ERR brio_flatten(MPI_Datatype type, struct brio_map **out);

/* The same for a file in another representation: leaves have the sizer's sizes; strides
 * counted in elements scale with them, strides in bytes do not (MPI: portable datatypes).
 * Not kept on the type. */
BRIO_ERR brio_flatten_sized(MPI_Datatype type, const struct brio_sizer *sizer,
                            struct brio_map **out);

/* The same in memory, but every piece carries the kind of its elements (below) and its
 * length is that of one element: for conversion. Pair types come as their two members.
 * Kept on the type like the plain map. */
BRIO_ERR brio_flatten_typed(MPI_Datatype type, struct brio_map **out);

/* What an element is, for external32. */
enum brio_kind {
    BRIO_KIND_NONE = 0,
    BRIO_KIND_BYTE,     /* uninterpreted: byte, packed, chars, 1-byte logical */
    BRIO_KIND_INT,      /* signed, file size by MPI's table */
    BRIO_KIND_UINT,     /* unsigned */
    BRIO_KIND_FLOAT,    /* IEEE binary16/32/64/128, the same in memory but for the byte order */
    BRIO_KIND_EXTENDED, /* x87 extended in memory, binary128 in the file */
    BRIO_KIND_LOGICAL,  /* Fortran LOGICAL, C and C++ bool */
    BRIO_KIND_COUNT
};

/* A kind in a typed map tells the element's memory size and file size too. */
static inline int brio_kind_make(enum brio_kind kind, int mem_size, int file_size)
{
    return (int)kind | mem_size << 8 | file_size << 16;
}
static inline enum brio_kind brio_kind_of(int tag)
{
    return (enum brio_kind)(tag & 0xff);
}
static inline int brio_kind_mem_size(int tag)
{
    return tag >> 8 & 0xff;
}
static inline int brio_kind_file_size(int tag)
{
    return tag >> 16 & 0xff;
}

/* Frees what is kept for the process; called when MPI is being finalized. */
void brio_flatten_finalize(void);

/* True if the type is named or F90 parametric: it is never freed or duplicated. */
bool brio_type_is_named(MPI_Datatype type);

/* True if the type is usable in communication (committed). */
bool brio_type_committed(MPI_Datatype type);

#endif
