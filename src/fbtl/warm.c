/* One fetch of every cache line, which never fails: what cannot be read is the system's to
 * refuse. */
#include "fbtl/warm.h"

enum {
    PART = 256 << 10 /* a core's own cache keeps it */
};

/* Half as much again is not worth another call, nor is an owner's window. */
brio_off brio_warm_part(brio_off len)
{
    return len <= 2 * PART ? len : PART;
}

void brio_warm(const struct iovec *iov, int niov)
{
    for (int i = 0; i < niov; i++) {
        const char *at = iov[i].iov_base;
        for (size_t k = 0; k < iov[i].iov_len; k += BRIO_LINE)
            __builtin_prefetch(at + k);
    }
}
