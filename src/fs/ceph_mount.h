/* Files below a mount of CephFS, for libcephfs. */
#ifndef BRIO_FS_CEPH_MOUNT_H
#define BRIO_FS_CEPH_MOUNT_H

#include "fs/ceph.h"
#include "fs/fs.h"

/* BRIO_OK if libcephfs finds the directory of `path` in the file system that is mounted there;
 * else BRIO_EUNSUPOP, and why. A cluster that did not answer once is not asked again. */
BRIO_ERR brio_ceph_mount_reach(const char *path, const void *conf);

/* Fills in the rest of a file of which the connection is there. */
BRIO_ERR brio_ceph_mount_open(struct brio_ceph_file *f, const struct brio_fs_open *how);

#endif
