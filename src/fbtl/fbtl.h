/* Bytes to the system: the last stage of a lane. */
#ifndef BRIO_FBTL_FBTL_H
#define BRIO_FBTL_FBTL_H

#include "fs/fs.h"
#include "lane/lane.h"

struct brio_fbtl {
    struct brio_module base;
    BRIO_ERR (*open)(const struct brio_store *store, const void *conf, struct brio_lane *out);
    void (*close)(struct brio_lane *lane);
};

extern const struct brio_fbtl brio_fbtl_ceph; /* where libcephfs was found */
extern const struct brio_fbtl brio_fbtl_posix;
extern const struct brio_fbtl brio_fbtl_pvfs2; /* where libpvfs2 was found */
extern const struct brio_fbtl brio_fbtl_uring;

#endif
