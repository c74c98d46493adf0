/* CephFS below a mount, by the system's calls: stripes are asked for, and told, by attributes
 * that the client makes up. */
#ifndef BRIO_FS_CEPHSYS_H
#define BRIO_FS_CEPHSYS_H

#include "fs/fs.h"

/* How Ceph deals out a file: units in turn to `width` objects, until each has `object` bytes.
 */
struct brio_ceph_stripes {
    int unit, width, object;
};

/* What was asked for, as Ceph can do it; zeros leave it to the directory. A unit without a
 * width means all `nosds` servers: one object at a time would not go on to the next one after
 * it. */
struct brio_ceph_stripes brio_ceph_round(const struct brio_fs_open *how, int nosds);

/* Where the name is on a mount of CephFS. */
bool brio_cephsys_is(const struct brio_facts *facts);

/* Opens the file as brio_ufs_open does; one that is new gets these stripes, if they are not
 * zeros. */
BRIO_ERR brio_cephsys_open(const struct brio_fs_open *how,
                           const struct brio_ceph_stripes *stripes, void **self,
                           struct brio_store *store);

#endif
