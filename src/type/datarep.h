/* Data representations: native and internal (the memory image), external32 (Brio's own:
 * big-endian, the standard's sizes), and the user's (MPI_Register_datarep). */
#ifndef BRIO_TYPE_DATAREP_H
#define BRIO_TYPE_DATAREP_H

#include <mpi.h>

#include "type/map.h"

struct brio_datarep; /* lives until the process ends: MPI knows no way to unregister */

/* By name; BRIO_EUNSUPREP if there is none. Thread-safe. */
BRIO_ERR brio_datarep_find(const char *name, const struct brio_datarep **out);
const char *brio_datarep_name(const struct brio_datarep *rep);

/* True if file bytes are memory bytes: nothing below is then needed for data. */
bool brio_datarep_is_native(const struct brio_datarep *rep);

/* The user's functions, in their int-count and large-count forms. Exactly one of
 * read/read_c may be set, likewise write; both NULL means no conversion that way (the
 * standard's MPI_CONVERSION_FN_NULL). `extent` is required. */
typedef int brio_conv_fn(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                         MPI_Offset position, void *extra);
typedef int brio_conv_fn_c(void *userbuf, MPI_Datatype type, MPI_Count count, void *filebuf,
                           MPI_Offset position, void *extra);
typedef int brio_extent_fn(MPI_Datatype type, MPI_Aint *extent, void *extra);

struct brio_datarep_fns {
    brio_conv_fn *read, *write;
    brio_conv_fn_c *read_c, *write_c;
    brio_extent_fn *extent;
    void *extra;
};

/* BRIO_EARG: no extent function, or a name that is empty or too long; BRIO_EDUPREP. */
BRIO_ERR brio_datarep_register(const char *name, const struct brio_datarep_fns *fns);

/* MPI_File_get_type_extent. */
BRIO_ERR brio_datarep_extent(const struct brio_datarep *rep, MPI_Datatype type, brio_off *out);

/* A filetype (or etype) as a map over file bytes in this representation. */
BRIO_ERR brio_datarep_map(const struct brio_datarep *rep, MPI_Datatype type,
                          struct brio_map **out);

/* File bytes that one item of a memory type becomes. */
BRIO_ERR brio_datarep_size(const struct brio_datarep *rep, MPI_Datatype type, brio_off *out);

/* `count` items at buf -> count * size file bytes at filebuf, and back. For decode, *bytes
 * is how many file bytes there really are (end of file): only what they cover is written
 * to buf, and *bytes becomes how many data bytes in memory that is. A user's function is
 * only ever called for whole elements; its count and position are of elements, the named
 * types in the type's signature, as the standard has it. */
BRIO_ERR brio_datarep_encode(const struct brio_datarep *rep, const void *buf, MPI_Datatype type,
                             brio_off count, void *filebuf);
BRIO_ERR brio_datarep_decode(const struct brio_datarep *rep, void *buf, MPI_Datatype type,
                             brio_off count, const void *filebuf, brio_off *bytes);

#endif
