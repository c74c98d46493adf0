/* What locks of all file systems have in common. */
#ifndef BRIO_FS_LOCK_H
#define BRIO_FS_LOCK_H

#include <fcntl.h>

#include "fs/fs.h"

/* An exclusive lock is for those who may write. */
BRIO_ERR brio_lock_allowed(enum brio_lock how, bool writable);

/* The range as fcntl and its like want it. */
struct flock brio_lock_range(int type, brio_off off, brio_off len);

#endif
