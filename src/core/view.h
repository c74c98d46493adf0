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

#endif
