/* Ranges without end, and what is refused. */
#include "fs/lock.h"

#include <unistd.h>

BRIO_ERR brio_lock_allowed(enum brio_lock how, bool writable)
{
    if (how == BRIO_LOCK_EXCLUSIVE && !writable)
        return brio_fail(BRIO_EUNSUPOP,
                         "a file open for reading only cannot be locked exclusively");
    return BRIO_OK;
}

struct flock brio_lock_range(int type, brio_off off, brio_off len)
{
    brio_off end;
    return (struct flock){.l_type = (short)type,
                          .l_whence = SEEK_SET,
                          .l_start = off,
                          .l_len = brio_add(off, len, &end) ? len : 0}; /* 0: without end */
}
