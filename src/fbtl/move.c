/* Calls that move bytes, taken seriously: interruptions, short transfers, the end of the
 * file, a device that is full. */
#include "fbtl/move.h"

#include <errno.h>

#include "fbtl/even.h"
#include "fbtl/warm.h"

/* What a call that moved nothing means; for a read of 0 bytes, the end of the file. */
static enum brio_err judge(enum brio_dir dir, const char *call, brio_off n, brio_off off,
                           brio_off len)
{
    if (n < 0)
        return brio_fail_errno((int)-n, "%s of %lld bytes at offset %lld", call, (long long)len,
                               (long long)off);
    if (dir == BRIO_READ)
        return BRIO_OK;
    return brio_fail(BRIO_EIO, "%s of %lld bytes at offset %lld wrote nothing", call,
                     (long long)len, (long long)off);
}

struct brio_port brio_port_of(const struct brio_store *store)
{
    brio_off block = store->block_size;
    return (struct brio_port){.fd = store->fd,
                              .direct = store->direct,
                              .handle = store->handle,
                              .block = block > 0 && !(block & (block - 1)) ? block : 4096,
                              .stats = store->stats};
}

/* Whether an access of `len` bytes warms its memory, part by part. */
static bool does_warm(const struct brio_port *port, enum brio_dir dir, brio_off len)
{
    return dir == BRIO_WRITE && port->warms && len >= BRIO_WARM_LEAST;
}

/* Of `len` bytes, as many as one call is asked for. */
static brio_off at_once(const struct brio_port *port, bool warm, brio_off len)
{
    return brio_min(len, warm ? brio_min(BRIO_WARM_PART, port->most) : port->most);
}

static brio_off move(const struct brio_port *port, enum brio_dir dir, bool warm,
                     const struct iovec *iov, int niov, brio_off off)
{
    if (warm)
        brio_warm(iov, niov);
    return port->move(port, dir, iov, niov, off);
}

static struct brio_result move_flat(const struct brio_port *port, enum brio_dir dir, bool warm,
                                    void *addr, brio_off off, brio_off len)
{
    brio_off done = 0;
    while (done < len) {
        struct iovec piece = {(char *)addr + done, (size_t)at_once(port, warm, len - done)};
        struct brio_even even;
        bool minds = dir == BRIO_READ && port->evenness;
        if (minds)
            brio_even_begin(&even, port->evenness, &piece, off + done, done);
        brio_off n = move(port, dir, warm, &piece, 1, off + done);
        if (minds)
            brio_even_end(&even, port->evenness, &piece, n);
        if (n > 0) {
            brio_count_call(port->stats, dir, off + done, n, port->block);
            done += n;
        } else if (n != -EINTR) {
            enum brio_err err =
                judge(dir, port->calls->name[dir][0], n, off + done, (brio_off)piece.iov_len);
            return (struct brio_result){err, done};
        }
    }
    return (struct brio_result){BRIO_OK, done};
}

struct brio_result brio_move_flat(const struct brio_port *port, enum brio_dir dir, void *addr,
                                  brio_off off, brio_off len)
{
    return move_flat(port, dir, does_warm(port, dir, len), addr, off, len);
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

static struct brio_result move_vector(const struct brio_port *port, enum brio_dir dir,
                                      bool warm, struct iovec *iov,
                                      const struct brio_stretch *s)
{
    brio_off done = 0;
    int niov = s->niov;
    if (niov == 1)
        return move_flat(port, dir, warm, iov[0].iov_base, s->off, s->len);
    while (done < s->len) {
        brio_off n = move(port, dir, warm, iov, niov, s->off + done);
        if (n > 0) {
            brio_count_call(port->stats, dir, s->off + done, n, port->block);
            done += n;
            skip(&iov, &niov, (size_t)n);
        } else if (n != -EINTR) {
            enum brio_err err =
                judge(dir, port->calls->name[dir][1], n, s->off + done, s->len - done);
            return (struct brio_result){err, done};
        }
    }
    return (struct brio_result){BRIO_OK, done};
}

struct brio_result brio_move_vector(const struct brio_port *port, enum brio_dir dir,
                                    struct iovec *iov, const struct brio_stretch *s)
{
    return move_vector(port, dir, does_warm(port, dir, s->len), iov, s);
}

struct brio_result brio_move_stretches(const struct brio_port *port, const struct brio_io *io)
{
    struct iovec iov[BRIO_MOVE_IOV];
    struct brio_walk walk;
    struct brio_stretch s;
    struct brio_result all = {BRIO_OK, 0};
    bool warm = does_warm(port, io->dir, io->bytes);
    brio_walk_init(&walk, io);
    while (brio_walk_next(&walk, at_once(port, warm, io->bytes), BRIO_MOVE_IOV, iov, &s)) {
        struct brio_result r = move_vector(port, io->dir, warm, iov, &s);
        all.bytes += r.bytes;
        all.err = r.err;
        if (r.bytes < s.len)
            break;
    }
    return all;
}
