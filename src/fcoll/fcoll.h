/* Collective access. A module is `start` and `step`: blocking, nonblocking and split
 * collectives are the same code, driven differently. Core keeps the operations of a file in
 * the order they were begun, which is the same on all ranks, and runs one after the other. */
#ifndef BRIO_FCOLL_FCOLL_H
#define BRIO_FCOLL_FCOLL_H

#include "base/stats.h"
#include "comm/crew.h"
#include "fcache/fcache.h"
#include "lane/lane.h"
#include "mod/module.h"

struct brio_plan;

struct brio_nodes;

struct brio_coll_env {
    const struct brio_team *team;   /* one collective at a time runs on it */
    const struct brio_lane *lane;   /* to the file, for this rank */
    struct brio_crew *crew;         /* those of them that share memory with this rank */
    const struct brio_nodes *nodes; /* where all of them are */
    brio_off block_size;            /* of the file system */
    brio_off stripe;                /* of the file, 0 if it has none */
    struct brio_places places;      /* which server has what */
    brio_off k_write, k_read;       /* bytes of an access that is fast, 0 if not known */
    bool local;                     /* one page cache for all ranks */
    bool atomic;                    /* an access must be one access of one rank */
    bool dry;                       /* plans are made, and no data is moved */
    struct brio_stats *stats;       /* NULL: not counted */
};

/* What became of the last collective access. */
struct brio_coll_last {
    const struct brio_plan *plan; /* NULL: each rank accessed its own bytes */
    const char *why;              /* in words; never NULL */
};

struct brio_fcoll {
    struct brio_module base;
    /* Collective, at every set_view. */
    BRIO_ERR(*open)
    (const struct brio_fcoll *me, const struct brio_coll_env *env, const void *conf,
     void **self);
    /* Collective; one operation at a time. `mine` is what this rank already knows to be
     * wrong (its text is this thread's last): it takes part with nothing to move, and the
     * verdict tells the others. The io, and what it points to, stay valid until the
     * operation is done. With BRIO_BLOCK the caller is going to wait for it at once. Fails
     * never: want of memory, too, must reach the verdict. */
    void (*start)(void *self, const struct brio_io *io, enum brio_err mine, enum brio_wait how);
    /* Advances it; *done when it is over, and then *out holds this rank's count and the
     * verdict: BRIO_OK on all ranks or on none. */
    void (*step)(void *self, enum brio_wait how, bool *done, struct brio_result *out);
    /* Local, between two accesses. */
    void (*last)(const void *self, struct brio_coll_last *out);
    void (*close)(void *self);
};

extern const struct brio_fcoll brio_fcoll_individual;

#endif
