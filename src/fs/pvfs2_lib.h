/* libpvfs2, loaded when the first file of OrangeFS is touched: Brio itself runs without it. And
 * the file systems it is connected to, until the process ends. */
#ifndef BRIO_FS_PVFS2_LIB_H
#define BRIO_FS_PVFS2_LIB_H

#include <pvfs2.h>

#include "base/base.h"
#include "mod/module.h"

/* As pvfs2-mgmt.h has them, which needs headers that are not installed. */
PVFS_error PVFS_mgmt_count_servers(PVFS_fs_id fs, int kind, int *count);
PVFS_error PVFS_mgmt_get_dfile_array(PVFS_object_ref ref, const PVFS_credential *who,
                                     PVFS_handle *out, int n, PVFS_hint hints);
PVFS_error PVFS_mgmt_map_handle(PVFS_fs_id fs, PVFS_handle handle, PVFS_BMI_addr_t *out);
enum {
    BRIO_PVFS2_IO_SERVER = 1,   /* the kind that holds data */
    BRIO_PVFS2_TEST_AND_SET = 1 /* of atomic attributes: 1 if it was 0 */
};

/* Its functions that Brio uses, without the PVFS_ before their names. */
#define BRIO_PVFS2_FUNCTIONS(F)                                                                \
    F(util_parse_pvfstab)                                                                      \
    F(util_gen_credential_defaults)                                                            \
    F(util_refresh_credential)                                                                 \
    F(sys_initialize)                                                                          \
    F(sys_fs_add)                                                                              \
    F(sys_set_info)                                                                            \
    F(sys_lookup)                                                                              \
    F(sys_getattr)                                                                             \
    F(sys_create)                                                                              \
    F(sys_remove)                                                                              \
    F(sys_truncate)                                                                            \
    F(sys_flush)                                                                               \
    F(sys_io)                                                                                  \
    F(sys_dist_lookup)                                                                         \
    F(sys_dist_setparam)                                                                       \
    F(sys_dist_free)                                                                           \
    F(sys_geteattr)                                                                            \
    F(sys_geteattr_list)                                                                       \
    F(sys_seteattr_list)                                                                       \
    F(sys_atomiceattr)                                                                         \
    F(mgmt_get_dfile_array)                                                                    \
    F(mgmt_map_handle)                                                                         \
    F(mgmt_count_servers)                                                                      \
    F(Request_contiguous)                                                                      \
    F(Request_hindexed)                                                                        \
    F(Request_free)                                                                            \
    F(get_errno_mapping)

#define BRIO_PVFS2_MEMBER(name) __typeof__(PVFS_##name) *name;
struct brio_pvfs2_lib {
    BRIO_PVFS2_FUNCTIONS(BRIO_PVFS2_MEMBER)
    PVFS_Request *byte; /* PVFS_BYTE */
    PVFS_credential who;
};

/* Where the file systems are listed. */
struct brio_pvfs2_conf {
    char tab[BRIO_HINT_MAX]; /* a file in the form of fstab, "": as the library finds it */
    brio_off lock_timeout;   /* seconds that one access may hold the file in atomic mode */
};

/* A file's place: what its name says. */
struct brio_pvfs2_place {
    const struct brio_pvfs2_lib *lib;
    PVFS_fs_id fs;
    const char *path; /* behind the mount point, part of the name that was given; begins with
                       * a slash */
};

/* Connects to the file system that has `path`, if that was not done before. */
BRIO_ERR brio_pvfs2_connect(const char *path, const struct brio_pvfs2_conf *conf,
                            struct brio_pvfs2_place *out);

/* Every call of the library is made between these two: it is one thread's at a time, and its
 * credential is good for an hour, so that it is made new in time. */
const struct brio_pvfs2_lib *brio_pvfs2_begin(void);
void brio_pvfs2_end(void);

/* The errno for what a function of the library returned, if it failed. */
int brio_pvfs2_errno(PVFS_error failed);

#endif
