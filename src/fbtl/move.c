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

static struct brio_result move_flat(const struct brio_port *port, enum brio_dir dir, void *addr,
                                    brio_off off, brio_off len)
{
    brio_off done = 0;
    bool minds = dir == BRIO_READ && port->evenness && len >= BRIO_EVEN_LEAST;
    while (done < len) {
        struct iovec piece = {(char *)addr + done, (size_t)brio_min(port->most, len - done)};
        struct brio_even even;
        if (minds)
            brio_even_begin(&even, port->evenness, &piece, off + done, done);
        brio_off n = port->move(port, dir, &piece, 1, off + done);
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

struct brio_result brio_move_vector(const struct brio_port *port, enum brio_dir dir,
                                    struct iovec *iov, const struct brio_stretch *s)
{
    brio_off done = 0;
    int niov = s->niov;
    if (niov == 1)
        return move_flat(port, dir, iov[0].iov_base, s->off, s->len);
    while (done < s->len) {
        brio_off n = port->move(port, dir, iov, niov, s->off + done);
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

/* ---- In parts -------------------------------------------------------------------------- */

/* A part of a long write, or all of another access. */
struct part {
    struct brio_trial *warmth; /* it is a use of, or NULL */
    struct brio_use use;       /* `other': its memory is warmed */
    brio_off most;             /* bytes */
};

/* Whether to warm what is written may be asked. Not of what is new in the file: for that the
 * system takes memory in pieces as large as the call, and if these are small, all later
 * accesses are slower (overwriting what was written in 1 MiB at a time 11.6 GB/s, in one
 * call 13.0). */
static struct brio_trial *warmth_of(const struct brio_port *port, enum brio_dir dir,
                                    brio_off off, brio_off whole)
{
    bool asks = dir == BRIO_WRITE && port->warmth && whole >= BRIO_WARM_LEAST;
    return asks && port->holds(port, off) ? port->warmth : NULL;
}

static struct part next_part(const struct brio_port *port, struct brio_trial *warmth)
{
    struct part part = {.warmth = warmth, .most = port->most};
    if (warmth) {
        part.use = brio_trial_begin(warmth);
        brio_off most = part.use.other   ? BRIO_WARM_PART
                        : part.use.tries ? BRIO_WARM_COLD
                                         : part.most;
        part.most = brio_min(part.most, most);
    }
    return part;
}

static struct brio_result move_part(const struct brio_port *port, enum brio_dir dir,
                                    const struct part *part, struct iovec *iov,
                                    const struct brio_stretch *s)
{
    if (part->use.other)
        brio_warm(iov, s->niov);
    struct brio_result r = brio_move_vector(port, dir, iov, s);
    if (part->warmth && r.bytes == part->most)
        brio_trial_end(part->warmth, &part->use, r.bytes);
    return r;
}

struct brio_result brio_move_flat(const struct brio_port *port, enum brio_dir dir, void *addr,
                                  brio_off off, brio_off len)
{
    struct brio_trial *warmth = warmth_of(port, dir, off, len);
    struct brio_result all = {BRIO_OK, 0};
    if (!warmth)
        return move_flat(port, dir, addr, off, len);
    while (all.bytes < len && !all.err) {
        struct part part = next_part(port, warmth);
        struct brio_stretch s = {.off = off + all.bytes, .niov = 1};
        s.len = brio_min(part.most, len - all.bytes);
        struct iovec piece = {(char *)addr + all.bytes, (size_t)s.len};
        struct brio_result r = move_part(port, dir, &part, &piece, &s);
        all.bytes += r.bytes;
        all.err = r.err;
        if (r.bytes < s.len)
            break;
    }
    return all;
}

struct brio_result brio_move_stretches(const struct brio_port *port, const struct brio_io *io)
{
    struct iovec iov[BRIO_MOVE_IOV];
    struct brio_walk walk;
    struct brio_stretch s;
    struct brio_result all = {BRIO_OK, 0};
    brio_off first = io->bytes > 0 ? io->base + brio_map_offset(io->file, io->pos) : 0;
    struct brio_trial *warmth = warmth_of(port, io->dir, first, io->bytes);
    brio_walk_init(&walk, io);
    for (;;) {
        struct part part = next_part(port, warmth);
        if (!brio_walk_next(&walk, part.most, BRIO_MOVE_IOV, iov, &s))
            break;
        struct brio_result r = move_part(port, io->dir, &part, iov, &s);
        all.bytes += r.bytes;
        all.err = r.err;
        if (r.bytes < s.len)
            break;
    }
    return all;
}
