/* A file view: what an offset in etypes means in bytes. */
#ifndef BRIO_CORE_VIEW_H
#define BRIO_CORE_VIEW_H

#include <mpi.h>

#include "type/datarep.h"
#include "type/map.h"

struct brio_view {
    brio_off disp;
    MPI_Datatype etype, filetype; /* our own duplicates, or named types */
    const struct brio_datarep *rep;
    brio_off etype_size;  /* data bytes of an etype in the file */
    struct brio_map *map; /* the filetype in the file */
};

/* Whether data bytes [pos, pos + bytes) of the view are within what a file can hold. */
bool brio_view_holds(const struct brio_view *view, brio_off pos, brio_off bytes);

/* The position of `bytes' data bytes from etype `at' of the view on, or an error if any of them
 * is beyond what a file can hold. */
BRIO_ERR brio_view_place(const struct brio_view *view, brio_off at, brio_off bytes,
                         brio_off *pos);

struct brio_file;

/* The view a file has when it is opened: bytes. Not collective. */
BRIO_ERR brio_view_default(struct brio_view *out);
void brio_view_free(struct brio_view *view);

/* The number of whole or begun etypes of the view below byte `size` of the file: where the
 * end of the file is, for MPI_SEEK_END. */
brio_off brio_view_end(const struct brio_view *view, brio_off size);

#endif
