/* What fs/ceph opens, for fbtl/ceph: the handle of a store of the kind BRIO_STORE_CEPH. */
#ifndef BRIO_FS_CEPH_H
#define BRIO_FS_CEPH_H

#include "fs/ceph_lib.h"

#define BRIO_STORE_CEPH "ceph"

struct brio_ceph_file {
    const struct brio_ceph *ceph;
    struct Inode *inode;
    struct Fh *fh;
    char *path; /* in the cluster; NULL if that is not known */
    bool readable, writable;
};

#endif
