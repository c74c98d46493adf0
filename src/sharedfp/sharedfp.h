/* The shared file pointer: one number, in etypes of the view, that all ranks of an open
 * share. Modules never move file data of their own accord. */
#ifndef BRIO_SHAREDFP_SHAREDFP_H
#define BRIO_SHAREDFP_SHAREDFP_H

#include <mpi.h>

#include "comm/page.h"
#include "mod/module.h"
#include "sharedfp/log.h"

struct brio_sharedfp_env {
    const struct brio_team *team; /* its communicator is the file's own; outlives close */
    const char *path;
    int nnodes;                  /* that the ranks are on */
    bool local;                  /* the file system is this kernel's: locks are answered */
    brio_off start;              /* where the pointer stands first */
    struct brio_page_slot *slot; /* memory of rank 0 that all ranks map, or NULL */
};

/* The door of a module that has no number: each rank keeps what it writes in a log of its own,
 * and core moves it to the file at every collective call of the shared pointer, at sync, at a
 * change of the view and at close. Only for files that are not read. Places are bytes of the
 * view's data. */
struct brio_sharedlog {
    /* By all ranks alike, while the logs are empty: the view that records are for. */
    void (*view)(void *self, brio_off disp, const struct brio_map *map);
    /* By one rank on its own. Waits while another thread is between order and settled. */
    BRIO_ERR (*append)(void *self, const struct brio_map *mem, const void *buf, brio_off bytes);
    /* Collective; the same on all ranks. Gives all records their places, and says whether
     * there are any. Unless it fails or there are none, `settled' must follow, on the same
     * thread. */
    BRIO_ERR (*order)(void *self, bool *any);
    /* Collective. The next part of this rank's, empty when there is none, and whether any rank
     * has another behind it. May fail on one rank alone. */
    BRIO_ERR (*next)(void *self, struct brio_log_part *out, bool *more);
    /* Collective, after order: all parts are in the file (`err' is BRIO_OK) or the logs stay as
     * they are. Returns the same on all ranks. */
    BRIO_ERR (*settled)(void *self, enum brio_err err);
    /* Where the pointer stands when the logs are empty; and moves it, by all ranks alike. */
    brio_off (*position)(void *self);
    void (*move)(void *self, brio_off at);
};

struct brio_sharedfp {
    struct brio_module base;
    const struct brio_sharedlog *log; /* NULL: the pointer is a number */
    /* Collective; one agreement at most, for most files never use the pointer; what is dear is
     * kept for the next file. Nothing is to be seen in the user's directory until it is used.
     * Returns the same on all ranks; BRIO_EUNSUPOP: it cannot serve after all, and another
     * module may be tried. */
    BRIO_ERR (*open)(const struct brio_sharedfp_env *env, const void *conf, void **self);
    /* Fetch and add, by one rank on its own: *old is the value before. n == 0 reads. */
    BRIO_ERR (*add)(void *self, brio_off n, brio_off *old);
    /* By one rank, while no other uses the pointer (between two agreements). */
    BRIO_ERR (*set)(void *self, brio_off value);
    /* Collective, when all ranks are through with the pointer. `used': some rank has called
     * add, set or append; the same on all ranks. */
    void (*close)(void *self, bool used);
};

extern const struct brio_sharedfp brio_sharedfp_addproc;
extern const struct brio_sharedfp brio_sharedfp_individual;
extern const struct brio_sharedfp brio_sharedfp_lockedfile;
extern const struct brio_sharedfp brio_sharedfp_rma;
extern const struct brio_sharedfp brio_sharedfp_sm;

#endif
