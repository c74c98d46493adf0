/* Zeros in pieces of a megabyte. */
#include "fs/fill.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
    PIECE = 1 << 20
};

BRIO_ERR brio_fs_fill(brio_fs_writer *write, void *self, const char *call, brio_off from,
                      brio_off to)
{
    void *zeros;
    if (from >= to)
        return BRIO_OK;
    enum brio_err err = brio_calloc(1, (size_t)brio_min(to - from, PIECE), &zeros);
    if (err)
        return err;
    while (!err && from < to) {
        size_t len = (size_t)brio_min(to - from, PIECE);
        brio_off n = write(self, zeros, from, len);
        if (n == 0)
            err = brio_fail(BRIO_EIO, "%s of %zu bytes at offset %lld wrote nothing", call, len,
                            (long long)from);
        else if (n < 0 && n != -EINTR)
            err = brio_fail_errno((int)-n, "%s of %zu bytes at offset %lld", call, len,
                                  (long long)from);
        else if (n > 0)
            from += n;
    }
    free(zeros);
    return err;
}
