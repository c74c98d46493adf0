/* fbtl/posix with io_uring for what it is better at: reading scattered pieces that are not in
 * memory, many at a time. Writes and bytes in memory go by plain calls, which measured faster
 * (doc/architecture.md); so does everything if the kernel refuses a ring. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "fbtl/posix.h"
#include "fbtl/ring.h"

enum {
    IDLE = 4,     /* rings that are kept for the next access */
    BETTER = 110, /* percent of posix's speed from the disk for which it is chosen, */
    NO_WORSE = 95 /* if from memory it has this many: medians of few rounds differ by 5 % */
};

struct rings {
    int fd;
    _Atomic bool refused; /* the kernel has none: not asked again */
    pthread_mutex_t lock; /* of what follows */
    int nidle;
    struct brio_ring *idle[IDLE];
};

static bool in_memory(const char *fs_name)
{
    return strcmp(fs_name, "tmpfs") == 0 || strcmp(fs_name, "ramfs") == 0;
}

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (strcmp(facts->store, BRIO_STORE_DESCRIPTOR) != 0)
        return brio_answer(-1, "it needs a descriptor");
    if (!facts->local)
        return brio_answer(5, "no page cache of this node's own on %s", facts->fs_name);
    if (in_memory(facts->fs_name))
        return brio_answer(5, "all of %s is in memory", facts->fs_name);
    if (facts->ring_cold == 0)
        return brio_answer(5, "not measured on this mount (brio calibrate does it)");
    bool better = facts->ring_cold >= BETTER && facts->ring_warm >= NO_WORSE;
    return brio_answer(better ? 15 : 5,
                       "measured here: scattered reads at %d %% of posix's speed from the "
                       "disk, %d %% from memory",
                       facts->ring_cold, facts->ring_warm);
}

/* A ring for one access, or NULL. */
static struct brio_ring *take(struct rings *r)
{
    struct brio_ring *ring = NULL;
    pthread_mutex_lock(&r->lock);
    if (r->nidle > 0)
        ring = r->idle[--r->nidle];
    pthread_mutex_unlock(&r->lock);
    if (ring || atomic_load(&r->refused))
        return ring;
    if (brio_ring_new(r->fd, &ring) == BRIO_OK)
        return ring;
    brio_log(BRIO_NOTE, "fbtl/uring: %s: plain calls instead", brio_err_text());
    atomic_store(&r->refused, true);
    return NULL;
}

static void give(struct rings *r, struct brio_ring *ring)
{
    pthread_mutex_lock(&r->lock);
    bool keep = r->nidle < IDLE;
    if (keep)
        r->idle[r->nidle++] = ring;
    pthread_mutex_unlock(&r->lock);
    if (!keep)
        brio_ring_free(ring);
}

/* The pieces before the first one that is not in memory: their bytes. */
static brio_off read_at_hand(const struct brio_port *port, const struct brio_io *io)
{
    struct rings *r = port->handle;
    struct iovec iov[BRIO_MOVE_IOV];
    struct brio_walk walk;
    struct brio_stretch s;
    brio_off done = 0, n;
    brio_walk_init(&walk, io);
    while (brio_walk_next(&walk, port->most, BRIO_MOVE_IOV, iov, &s)) {
        n = brio_ring_at_hand(port, iov, &s);
        if (n == -EOPNOTSUPP || n == -EINVAL || n == -ENOSYS)
            atomic_store(&r->refused, true); /* nothing tells here what is in memory */
        if (n > 0)
            done += n;
        if (n < s.len)
            break;
    }
    return done;
}

/* Where a pattern turns back, pieces behind one that is cut short by the end of the file could
 * be read although they must not. */
static struct brio_result stretches(const struct brio_port *port, const struct brio_io *io)
{
    struct rings *rings = port->handle;
    if (io->dir != BRIO_READ || !io->file->monotone || atomic_load(&rings->refused))
        return brio_move_stretches(port, io);
    brio_off done = read_at_hand(port, io);
    struct brio_result r = {BRIO_OK, 0};
    struct brio_io left = brio_bites_rest(io, done);
    struct brio_ring *ring = left.bytes > 0 ? take(rings) : NULL;
    if (ring)
        r = brio_ring_read(ring, port, &left);
    else if (left.bytes > 0)
        r = brio_move_stretches(port, &left);
    if (ring)
        give(rings, ring);
    r.bytes += done;
    return r;
}

static BRIO_ERR open_uring(const struct brio_store *store, const void *conf,
                           struct brio_lane *out)
{
    void *mem;
    enum brio_err err = brio_calloc(1, sizeof(struct rings), &mem);
    if (err)
        return err;
    struct rings *r = mem;
    r->fd = store->fd;
    atomic_init(&r->refused,
                store->direct >= 0); /* the page cache, which a ring would ask, is no good */
    pthread_mutex_init(&r->lock, NULL);
    err = brio_posix_open(store, conf, out);
    if (err) {
        pthread_mutex_destroy(&r->lock);
        free(r);
        return err;
    }
    struct brio_bites *bites = out->self;
    bites->port.handle = r;
    bites->stretches = stretches;
    return BRIO_OK;
}

static void close_uring(struct brio_lane *lane)
{
    struct rings *r = ((struct brio_bites *)lane->self)->port.handle;
    for (int i = 0; i < r->nidle; i++)
        brio_ring_free(r->idle[i]);
    pthread_mutex_destroy(&r->lock);
    free(r);
    brio_bites_free(lane);
}

const struct brio_fbtl brio_fbtl_uring = {
    .base = {.name = "uring",
             .about = "posix, with scattered reads from a disk by io_uring, many at a time",
             .hints = brio_posix_hints,
             .conf_size = sizeof(struct brio_posix_conf),
             .query = query},
    .open = open_uring,
    .close = close_uring,
};
