/* The shared file pointer: one number, in etypes of the view, that all ranks of an open
 * share. Modules never move file data of their own accord. */
#ifndef BRIO_SHAREDFP_SHAREDFP_H
#define BRIO_SHAREDFP_SHAREDFP_H

#include <mpi.h>

#include "comm/page.h"
#include "mod/module.h"

struct brio_sharedfp_env {
    MPI_Comm comm;
    const char *path;
    brio_off start;              /* where the pointer stands first */
    struct brio_page_slot *slot; /* memory of rank 0 that all ranks map, or NULL */
};

struct brio_sharedfp {
    struct brio_module base;
    /* Collective; cheap, for most files never use the pointer, and nothing of it is to be
     * seen in the user's directory until they do. Returns the same on all ranks;
     * BRIO_EUNSUPOP: it cannot serve after all, and another module may be tried. */
    BRIO_ERR (*open)(const struct brio_sharedfp_env *env, const void *conf, void **self);
    /* Fetch and add, by one rank on its own: *old is the value before. n == 0 reads. */
    BRIO_ERR (*add)(void *self, brio_off n, brio_off *old);
    /* By one rank, while no other uses the pointer (between two agreements). */
    BRIO_ERR (*set)(void *self, brio_off value);
    /* Collective. */
    void (*close)(void *self);
};

extern const struct brio_sharedfp brio_sharedfp_addproc;
extern const struct brio_sharedfp brio_sharedfp_lockedfile;
extern const struct brio_sharedfp brio_sharedfp_rma;
extern const struct brio_sharedfp brio_sharedfp_sm;

#endif
