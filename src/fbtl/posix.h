/* fbtl/posix for a module that is like it but for one thing. */
#ifndef BRIO_FBTL_POSIX_H
#define BRIO_FBTL_POSIX_H

#include "fbtl/bites.h"
#include "fbtl/fbtl.h"

struct brio_posix_conf {
    enum brio_switch ds_read, ds_write;
    brio_off rd_window, wr_window;
};
extern const struct brio_hint brio_posix_hints[];

/* The lane of fbtl/posix, one of brio_bites_lane; brio_bites_free ends it. */
BRIO_ERR brio_posix_open(const struct brio_store *store, const struct brio_posix_conf *conf,
                         struct brio_lane *out);

#endif
