/* fs/ufs for file systems that are reached by the operating system's calls too and can do more.
 */
#ifndef BRIO_FS_UFS_H
#define BRIO_FS_UFS_H

#include "fs/fs.h"

BRIO_ERR brio_ufs_open(const struct brio_fs_open *how, const void *conf, void **self,
                       struct brio_store *store);
BRIO_ERR brio_ufs_close(void *self);
BRIO_ERR brio_ufs_remove(const char *path, const void *conf);
BRIO_ERR brio_ufs_get_size(void *self, brio_off *out);
BRIO_ERR brio_ufs_set_size(void *self, brio_off size);
BRIO_ERR brio_ufs_allocate(void *self, brio_off size);
BRIO_ERR brio_ufs_sync(void *self);
BRIO_ERR brio_ufs_lock(void *self, enum brio_lock how, brio_off off, brio_off len);
int brio_ufs_fd(const void *self);

/* All slots of such a module but open and layout. */
#define BRIO_UFS_SLOTS                                                                         \
    .store = BRIO_STORE_DESCRIPTOR, .reach = brio_fs_reach_all, .close = brio_ufs_close,       \
    .remove = brio_ufs_remove, .get_size = brio_ufs_get_size, .set_size = brio_ufs_set_size,   \
    .allocate = brio_ufs_allocate, .sync = brio_ufs_sync, .lock = brio_ufs_lock

#endif
