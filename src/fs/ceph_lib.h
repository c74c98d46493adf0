/* libcephfs, loaded when the first file of Ceph is touched: Brio itself runs without it. And
 * the connections, kept until the process ends, since to connect takes longer than to open. */
#ifndef BRIO_FS_CEPH_LIB_H
#define BRIO_FS_CEPH_LIB_H

#include <cephfs/libcephfs.h>

#include "base/base.h"
#include "mod/module.h"

/* Its functions that Brio uses, without the ceph_ before their names. */
#define BRIO_CEPH_FUNCTIONS(F)                                                                 \
    F(create)                                                                                  \
    F(conf_read_file)                                                                          \
    F(conf_parse_env)                                                                          \
    F(conf_set)                                                                                \
    F(set_mount_timeout)                                                                       \
    F(select_filesystem)                                                                       \
    F(mount)                                                                                   \
    F(mount_perms)                                                                             \
    F(unmount)                                                                                 \
    F(release)                                                                                 \
    F(open_layout)                                                                             \
    F(close)                                                                                   \
    F(get_file_extent_osds)                                                                    \
    F(open)                                                                                    \
    F(statx)                                                                                   \
    F(getxattr)                                                                                \
    F(unlink)                                                                                  \
    F(ll_walk)                                                                                 \
    F(ll_lookup_inode)                                                                         \
    F(ll_open)                                                                                 \
    F(ll_close)                                                                                \
    F(ll_put)                                                                                  \
    F(ll_getattr)                                                                              \
    F(ll_setattr)                                                                              \
    F(ll_read)                                                                                 \
    F(ll_write)                                                                                \
    F(ll_readv)                                                                                \
    F(ll_writev)                                                                               \
    F(ll_fsync)                                                                                \
    F(ll_setlk)                                                                                \
    F(ll_file_layout)                                                                          \
    F(ll_num_osds)

#define BRIO_CEPH_MEMBER(name) __typeof__(ceph_##name) *name;
struct brio_ceph_lib {
    BRIO_CEPH_FUNCTIONS(BRIO_CEPH_MEMBER)
};

/* Which cluster, and how to get there. */
struct brio_ceph_conf {
    char conf[BRIO_HINT_MAX]; /* its configuration file, "": as Ceph finds it */
    char user[BRIO_HINT_MAX]; /* without "client.", "": admin */
    char name[BRIO_HINT_MAX]; /* of the file system, "": the cluster's default */
    brio_off timeout;         /* seconds to wait for the cluster */
};

/* A connection. */
struct brio_ceph {
    const struct brio_ceph_lib *lib;
    struct ceph_mount_info *mount;
    struct UserPerm *perms;
};

BRIO_ERR brio_ceph_connect(const struct brio_ceph_conf *conf, const struct brio_ceph **out);

#endif
