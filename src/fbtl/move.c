/* pread, pwrite and their vectored forms, taken seriously: interruptions, short transfers,
 * the end of the file, a device that is full. */
#include "fbtl/move.h"

#include <errno.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lane/walk.h"

enum {
    MAX_CALL = 0x7ffff000, /* Linux moves no more at once */
    MAX_IOV = 256          /* on the stack; IOV_MAX is 1024, but the gain ends long before */
};
_Static_assert(MAX_IOV <= IOV_MAX, "more than the system takes");

/* What a call that moved nothing means; for a read of 0 bytes, the end of the file. */
static enum brio_err judge(enum brio_dir dir, const char *call, ssize_t n, brio_off off,
                           brio_off len)
{
    if (n < 0)
        return brio_fail_errno(errno, "%s of %lld bytes at offset %lld", call, (long long)len,
                               (long long)off);
    if (dir == BRIO_READ)
        return BRIO_OK;
    return brio_fail(BRIO_EIO, "%s of %lld bytes at offset %lld wrote nothing", call,
                     (long long)len, (long long)off);
}

struct brio_result brio_move_flat(const struct brio_target *to, enum brio_dir dir, void *addr,
                                  brio_off off, brio_off len)
{
    brio_off done = 0;
    while (done < len) {
        size_t want = (size_t)brio_min(len - done, MAX_CALL);
        char *at = (char *)addr + done;
        ssize_t n = dir == BRIO_READ ? pread(to->fd, at, want, off + done)
                                     : pwrite(to->fd, at, want, off + done);
        if (n > 0) {
            brio_count_call(to->stats, dir, off + done, n, to->block);
            done += n;
        } else if (n == 0 || errno != EINTR) {
            const char *call = dir == BRIO_READ ? "pread" : "pwrite";
            return (struct brio_result){judge(dir, call, n, off + done, (brio_off)want), done};
        }
    }
    return (struct brio_result){BRIO_OK, done};
}

/* Steps over the first n bytes of the vector. */
static void skip(struct iovec **iov, int *niov, size_t n)
{
    while (*niov > 0 && n >= (*iov)->iov_len) {
        n -= (*iov)->iov_len;
        ++*iov;
        --*niov;
    }
    if (n > 0) {
        (*iov)->iov_base = (char *)(*iov)->iov_base + n;
        (*iov)->iov_len -= n;
    }
}

static struct brio_result move_vector(const struct brio_target *to, enum brio_dir dir,
                                      struct iovec *iov, const struct brio_stretch *s)
{
    brio_off done = 0;
    int niov = s->niov;
    while (done < s->len) {
        ssize_t n = dir == BRIO_READ ? preadv(to->fd, iov, niov, s->off + done)
                                     : pwritev(to->fd, iov, niov, s->off + done);
        if (n > 0) {
            brio_count_call(to->stats, dir, s->off + done, n, to->block);
            done += n;
            skip(&iov, &niov, (size_t)n);
        } else if (n == 0 || errno != EINTR) {
            const char *call = dir == BRIO_READ ? "preadv" : "pwritev";
            enum brio_err err = judge(dir, call, n, s->off + done, s->len - done);
            return (struct brio_result){err, done};
        }
    }
    return (struct brio_result){BRIO_OK, done};
}

struct brio_result brio_move_stretches(const struct brio_target *to, const struct brio_io *io)
{
    struct iovec iov[MAX_IOV];
    struct brio_walk walk;
    struct brio_stretch s;
    struct brio_result all = {BRIO_OK, 0};
    brio_walk_init(&walk, io);
    while (brio_walk_next(&walk, MAX_CALL, MAX_IOV, iov, &s)) {
        struct brio_result r = s.niov == 1
                                   ? brio_move_flat(to, io->dir, iov[0].iov_base, s.off, s.len)
                                   : move_vector(to, io->dir, iov, &s);
        all.bytes += r.bytes;
        all.err = r.err;
        if (r.bytes < s.len)
            break;
    }
    return all;
}
