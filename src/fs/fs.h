/* Names, sizes, locks, striping: what a file system does with a file as a whole. Its bytes
 * go through fbtl. No module here knows fbtl; core hands over what open gives. */
#ifndef BRIO_FS_FS_H
#define BRIO_FS_FS_H

#include "base/stats.h"
#include "mod/layout.h"
#include "mod/module.h"

/* What fs gives and fbtl takes. Which of the first two it is, brio_fs.store says. */
struct brio_store {
    int fd;        /* the operating system's descriptor, or -1 */
    int direct;    /* another one of the same file, to read past this node's page cache, which
                    * is not to be trusted; wants whole blocks of 4096 bytes; or -1 */
    void *handle;  /* a file system's own handle, or NULL; lives until fs.close */
    bool readable; /* also when the user opened write-only: what the system granted */
    bool writable;
    bool local;    /* one page cache for all who access the file (facts.local) */
    bool shared;   /* other ranks open the file, too */
    bool remote;   /* ranks on other nodes see what is written here after a sync only */
    bool mappable; /* a shared mapping is the file itself, and a page of it that could be
                    * had once stays good: stores to it cannot fail for want of space */
    brio_off block_size;
    struct brio_stats *stats; /* core's: what fbtl does is added there; NULL: not counted */
};

struct brio_fs_open {
    const char *path; /* without prefix */
    int amode;        /* MPI's access mode bits */
    bool create;      /* this rank creates (rank 0 with MPI_MODE_CREATE), others find it */
    bool there;       /* another rank has opened it already: it must be there */
    bool spread;      /* ranks on other nodes open it too */
    int perm;         /* permissions for creation, umask still applies; -1: 0666 */
    int nservers;     /* striping asked for at creation, 0: as it comes */
    brio_off stripe;
};

enum brio_lock {
    BRIO_LOCK_NONE, /* unlock */
    BRIO_LOCK_SHARED,
    BRIO_LOCK_EXCLUSIVE
};

struct brio_fs {
    struct brio_module base;
    const char *store; /* the kind of its stores, which fbtl modules know by name */
    /* Asked on every rank when the module has been chosen, before anything is opened or made:
     * BRIO_EUNSUPOP, and why, if it cannot be used for this path from here; core then
     * chooses another one with facts.unreached set. brio_fs_reach_all: not asked. */
    BRIO_ERR (*reach)(const char *path, const void *conf);
    /* Not collective: core calls it on the creating rank first, then on the others. A file
     * opened write-only is opened for reading too where the system allows it. */
    BRIO_ERR(*open)
    (const struct brio_fs_open *how, const void *conf, void **self, struct brio_store *store);
    BRIO_ERR (*close)(void *self);
    BRIO_ERR (*remove)(const char *path, const void *conf);
    BRIO_ERR (*get_size)(void *self, brio_off *out);
    BRIO_ERR (*set_size)(void *self, brio_off size);
    /* Storage for bytes [0, size) is there afterwards; no byte of data changes; the file is
     * at least `size` long. */
    BRIO_ERR (*allocate)(void *self, brio_off size);
    BRIO_ERR (*sync)(void *self);
    /* Waits for a lock on [off, off+len) against all other opens of the file, in this
     * process too. */
    BRIO_ERR (*lock)(void *self, enum brio_lock how, brio_off off, brio_off len);
    /* Core asks once, on the rank that created, and tells the others. What cannot be found
     * out is a plain layout and no error. */
    BRIO_ERR (*layout)(void *self, struct brio_layout *out);
};

/* For modules that can be used from everywhere, or whose open says why not. */
BRIO_ERR brio_fs_reach_all(const char *path, const void *conf);

extern const struct brio_fs brio_fs_ceph;      /* where libcephfs was found */
extern const struct brio_fs brio_fs_cephmount; /* likewise */
extern const struct brio_fs brio_fs_cephsys;
extern const struct brio_fs brio_fs_lustre;
extern const struct brio_fs brio_fs_pvfs2; /* where libpvfs2 was found */
extern const struct brio_fs brio_fs_ufs;

#endif
