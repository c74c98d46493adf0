/* Collective access. A module is `start` and `step`: blocking, nonblocking and split
 * collectives are the same code, driven differently. */
#ifndef BRIO_FCOLL_FCOLL_H
#define BRIO_FCOLL_FCOLL_H

#include <mpi.h>

#include "lane/lane.h"
#include "mod/module.h"

struct brio_coll_env {
    MPI_Comm comm;               /* Brio's own; one collective at a time runs on it */
    const struct brio_lane *lane; /* to the file, for this rank */
};

struct brio_fcoll {
    struct brio_module base;
    /* Collective, at every set_view. */
    BRIO_ERR (*open)(const struct brio_coll_env *env, const void *conf, void **self);
    /* Collective. `mine` is what this rank already knows to be wrong: it takes part with
     * nothing to move, and the verdict tells the others. The io, and what it points to,
     * stay valid until the operation is done. A failure here is local and only for want of
     * memory: it, too, must reach the verdict, so *op is always set. */
    void (*start)(void *self, const struct brio_io *io, enum brio_err mine, void **op);
    /* Advances; *done when it is over, and then `op` is gone and *out holds this rank's
     * count and the verdict: BRIO_OK on all ranks or on none. */
    void (*step)(void *self, void *op, enum brio_wait how, bool *done,
                 struct brio_result *out);
    void (*close)(void *self);
};

extern const struct brio_fcoll brio_fcoll_individual;

#endif
