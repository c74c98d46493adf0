/* The blocks around the bytes, of the size that every disk and every page cache has. */
#include "fbtl/aligned.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BLOCK = 4096,
    MOST = 4 << 20 /* bytes of the file at once */
};

static void hand_out(const char *data, brio_off bytes, const struct iovec *iov)
{
    for (; bytes > 0; iov++) {
        size_t n = (size_t)brio_min(bytes, (brio_off)iov->iov_len);
        memcpy(iov->iov_base, data, n);
        data += n;
        bytes -= (brio_off)n;
    }
}

/* One read. The kernel ends it at the length that it believes the file has, which may be an
 * old one: FUSE keeps it for a second. So an end is believed only when it was asked for anew.
 */
static ssize_t read_blocks(int fd, char *blocks, size_t len, brio_off lo)
{
    struct statx st;
    ssize_t n = pread(fd, blocks, len, lo);
    if (n >= 0 && (size_t)n < len &&
        statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE, &st) == 0 &&
        (brio_off)st.stx_size > lo + n)
        n = pread(fd, blocks, len, lo);
    return n;
}

brio_off brio_aligned_read(int fd, const struct iovec *iov, int niov, brio_off off)
{
    brio_off want = 0, lo = off - off % BLOCK;
    for (int i = 0; i < niov; i++)
        want += (brio_off)iov[i].iov_len;
    brio_off len = brio_min((off + want - lo + BLOCK - 1) / BLOCK * BLOCK, MOST);
    char *blocks = aligned_alloc(BLOCK, (size_t)len);
    if (!blocks)
        return -ENOMEM;
    ssize_t n = read_blocks(fd, blocks, (size_t)len, lo);
    brio_off got = n < 0 ? -errno : brio_min(want, brio_max(0, n - (off - lo)));
    if (got > 0)
        hand_out(blocks + (off - lo), got, iov);
    free(blocks);
    return got;
}
