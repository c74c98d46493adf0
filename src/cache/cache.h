/* Bytes kept near: a stage of the lane that may hold data back or ahead (paper 001). Not to
 * be confused with fcache, which keeps the layout of a file and no data. */
#ifndef BRIO_CACHE_CACHE_H
#define BRIO_CACHE_CACHE_H

#include <mpi.h>

#include "lane/lane.h"
#include "mod/module.h"

struct brio_cache_env {
    MPI_Comm comm; /* of the file; a module that needs its own makes a duplicate */
    int amode;
    brio_off block_size;
};

struct brio_cache {
    struct brio_module base;
    /* Collective. Wraps `below`; `none` gives it back as it is. */
    BRIO_ERR(*open)
    (const struct brio_cache_env *env, const struct brio_lane *below, const void *conf,
     struct brio_lane *out);
    /* Collective. Everything has been flushed before. */
    BRIO_ERR (*close)(struct brio_lane *lane);
};

extern const struct brio_cache brio_cache_none;

#endif
