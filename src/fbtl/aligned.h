/* Reading past the page cache: whole blocks into a buffer at a block's boundary, and from
 * there what was asked for. */
#ifndef BRIO_FBTL_ALIGNED_H
#define BRIO_FBTL_ALIGNED_H

#include <sys/uio.h>

#include "base/base.h"

/* As preadv, by a descriptor that wants whole blocks; a negative errno if it fails. May read
 * less than is there. */
brio_off brio_aligned_read(int fd, const struct iovec *iov, int niov, brio_off off);

#endif
