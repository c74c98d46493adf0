/* Lustre's own form of a layout, as its kernel interface gives and takes it: the value of the
 * extended attribute "lustre.lov", and what an ioctl wants at creation. Declared here from the
 * published numbers; pure. */
#ifndef BRIO_FS_LOV_H
#define BRIO_FS_LOV_H

#include "mod/layout.h"

enum {
    BRIO_LOV_WISH = 32,        /* bytes of what is asked for at creation */
    BRIO_LOV_GRAIN = 64 << 10, /* stripes are multiples of it */
    BRIO_LOV_MAX = 64 << 10,   /* bytes that an attribute can have */
};

/* Understands versions 1 and 3 and composite layouts of these. Of mirrors the first that is
 * up to date counts. Bytes of components that have no objects yet lie on servers that are
 * made up; their stripes are right. */
BRIO_ERR brio_lov_decode(const void *value, size_t size, struct brio_layout *out);

/* A wish for `nservers` (0: as it comes) and stripes of `stripe` bytes (0: as it comes; else a
 * multiple of the grain, below 4 GiB). */
void brio_lov_encode(int nservers, brio_off stripe, unsigned char out[BRIO_LOV_WISH]);

#endif
