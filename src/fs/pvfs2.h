/* What fs/pvfs2 opens, for fbtl/pvfs2: the handle of a store of the kind BRIO_STORE_PVFS2. */
#ifndef BRIO_FS_PVFS2_H
#define BRIO_FS_PVFS2_H

#include "fs/pvfs2_lib.h"

#define BRIO_STORE_PVFS2 "pvfs2"

struct brio_pvfs2_file {
    PVFS_object_ref ref;
    char *path;
    brio_off strip; /* bytes in one object before the next */
    int nobjects;   /* that the file is dealt out to */
    bool readable, writable;
    brio_off lock_timeout; /* seconds */
    bool locked;           /* by this open */
};

/* The lock is a number kept with the file by its metadata server: of the whole file, and
 * exclusive. The rank that opens the file first makes it; if it may not, locking
 * fails later. */
void brio_pvfs2_lock_init(const struct brio_pvfs2_file *f);
BRIO_ERR brio_pvfs2_lock(struct brio_pvfs2_file *f);
BRIO_ERR brio_pvfs2_unlock(struct brio_pvfs2_file *f);

#endif
