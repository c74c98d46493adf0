/* Bytes by the POSIX calls: at once when the caller waits, else by the lane's threads. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "fbtl/aligned.h"
#include "fbtl/even.h"
#include "fbtl/mapped.h"
#include "fbtl/posix.h"
#include "lane/pool.h"

#define AT(field) offsetof(struct brio_posix_conf, field)

const struct brio_hint brio_posix_hints[] = {
    {.name = "ds_read",
     .aliases = "romio_ds_read",
     .kind = BRIO_HINT_SWITCH,
     .offset = AT(ds_read),
     .def = "automatic",
     .help = "Read small pieces that lie close together with the gaps between them."},
    {.name = "ds_write",
     .aliases = "romio_ds_write",
     .kind = BRIO_HINT_SWITCH,
     .offset = AT(ds_write),
     .def = "automatic",
     .help = "Write small pieces that lie close together through a mapping of the file; gaps "
             "are never written."},
    {.name = "ind_rd_buffer_size",
     .kind = BRIO_HINT_BYTES,
     .offset = AT(rd_window),
     .def = "1m",
     .min = 4096,
     .max = 1 << 30,
     .help = "Bytes of the file read at once with the gaps."},
    {.name = "ind_wr_buffer_size",
     .kind = BRIO_HINT_BYTES,
     .offset = AT(wr_window),
     .def = "16m",
     .min = 4096,
     .max = 1 << 30,
     .help = "Bytes of the file mapped at once for writing."},
    {0}};

enum {
    MAX_CALL = 0x7ffff000 /* Linux moves no more at once */
};
_Static_assert(BRIO_MOVE_IOV <= IOV_MAX, "more than the system takes");

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (strcmp(facts->store, BRIO_STORE_DESCRIPTOR) != 0)
        return brio_answer(-1, "it needs a descriptor");
    return brio_answer(10, "a descriptor is all it needs");
}

static const struct brio_calls calls = {
    .name = {[BRIO_READ] = {"pread", "preadv"}, [BRIO_WRITE] = {"pwrite", "pwritev"}}};

static brio_off call(const struct brio_port *port, enum brio_dir dir, const struct iovec *iov,
                     int niov, brio_off off)
{
    ssize_t n;
    if (dir == BRIO_READ && port->direct >= 0) {
        n = brio_aligned_read(port->direct, iov, niov, off);
        if (n != -EINVAL && n != -ENOMEM) /* else in the plain way */
            return n;
        (void)posix_fadvise(port->fd, 0, 0, POSIX_FADV_DONTNEED);
    }
    if (niov == 1)
        n = dir == BRIO_READ ? pread(port->fd, iov->iov_base, iov->iov_len, off)
                             : pwrite(port->fd, iov->iov_base, iov->iov_len, off);
    else
        n = dir == BRIO_READ ? preadv(port->fd, iov, niov, off)
                             : pwritev(port->fd, iov, niov, off);
    return n < 0 ? -errno : n;
}

/* A long dense access in chunks of the file, for two threads. */
enum {
    CHUNK = 16 << 20,
    MAX_CHUNKS = 1024,
    SPARSE = 64 /* what is cut in windows has more than one data byte in so many */
};

struct chunks {
    struct brio_bites *p;
    struct brio_io io;
    brio_off first, step; /* chunk i is at first + i * step in the file */
    int n;
    struct brio_result *result;
    pthread_mutex_t lock; /* of what follows */
    int failed;           /* the lowest chunk that did, or n */
    char text[BRIO_ERR_TEXT];
};

/* Data bytes of the access before chunk i. */
static brio_off before(const struct chunks *c, int i)
{
    if (i == 0)
        return 0;
    if (i == c->n)
        return c->io.bytes;
    brio_off at = c->first + i * c->step - c->io.base;
    return brio_map_below(c->io.file, at) - c->io.pos;
}

static void move_chunk(void *arg, int i)
{
    struct chunks *c = arg;
    brio_off from = before(c, i), to = before(c, i + 1);
    struct brio_io part = brio_bites_rest(&c->io, from);
    part.bytes = to - from;
    struct brio_result r = {BRIO_OK, 0};
    if (part.bytes > 0)
        r = brio_bites_move(c->p, &part);
    c->result[i] = r;
    if (r.err == BRIO_OK)
        return;
    pthread_mutex_lock(&c->lock);
    if (i < c->failed) {
        c->failed = i;
        brio_err_save(c->text);
    }
    pthread_mutex_unlock(&c->lock);
}

/* What was moved up to the first byte that was not. */
static struct brio_result sum_chunks(struct chunks *c)
{
    struct brio_result all = {BRIO_OK, 0};
    for (int i = 0; i < c->n; i++) {
        all.bytes += c->result[i].bytes;
        all.err = c->result[i].err;
        if (all.err)
            brio_err_restore(c->text);
        if (all.err || all.bytes < before(c, i + 1))
            break;
    }
    return all;
}

/* Readies the file for chunks that are written through mappings. It reaches to the end at
 * once: the page that holds the last byte is a small one, and would be in the way of a large
 * one at the end of each window. Chunks side by side with data all through get their blocks
 * together, at four fifths of what they cost one by one. */
static void ready(const struct chunks *c, brio_off hi)
{
    const struct brio_port *port = &c->p->port;
    int begin = 0;
    if (!brio_mapped_reach(port, &c->io, hi))
        return;
    for (int i = 0; i < c->n; i++) {
        bool dense = before(c, i + 1) - before(c, i) >= c->step / SPARSE;
        int end = dense ? i + 1 : i;
        if (end > begin && (!dense || end == c->n))
            brio_mapped_allocate(port, c->first + begin * c->step,
                                 brio_min(c->first + end * c->step, hi));
        if (!dense)
            begin = i + 1;
    }
}

/* True if the access was long and dense enough, and is done. */
static bool move_shared(struct brio_bites *p, const struct brio_io *io, struct brio_result *out)
{
    struct brio_bite bite;
    void *mem;
    if (io->bytes < CHUNK / SPARSE)
        return false;
    brio_sieve_next(&p->sieve, io, &bite);
    if (bite.way != BRIO_WAY_WINDOW)
        return false;
    brio_off hi = io->base + brio_map_offset(io->file, io->pos + io->bytes - 1) + 1;
    brio_off first = bite.lo - bite.lo % CHUNK, span = hi - first;
    brio_off step = brio_max(1, (span + (brio_off)MAX_CHUNKS * CHUNK - 1) /
                                    ((brio_off)MAX_CHUNKS * CHUNK)) *
                    CHUNK;
    struct chunks c = {.p = p, .io = *io, .first = first, .step = step};
    c.n = c.failed = (int)((span + step - 1) / step);
    if (c.n < 2 || brio_calloc((size_t)c.n, sizeof *c.result, &mem))
        return false;
    c.result = mem;
    pthread_mutex_init(&c.lock, NULL);
    if (io->dir == BRIO_WRITE)
        ready(&c, hi);
    brio_pool_share(move_chunk, &c, c.n, brio_pool_spare());
    *out = sum_chunks(&c);
    pthread_mutex_destroy(&c.lock);
    free(c.result);
    return true;
}

static struct brio_result move(void *self, const struct brio_io *io)
{
    struct brio_bites *p = self;
    struct brio_result r;
    if (brio_bites_flat(p, io, &r) || move_shared(p, io, &r))
        return r;
    return brio_bites_move(p, io);
}

static bool holds(const struct brio_port *port, brio_off off)
{
    return lseek(port->fd, off, SEEK_DATA) == off;
}

/* Of this processor, whatever the file. */
static struct brio_trial evenness, warmth;

BRIO_ERR brio_posix_open(const struct brio_store *store, const struct brio_posix_conf *c,
                         struct brio_lane *out)
{
    if (store->fd < 0)
        return brio_fail(BRIO_EUNSUPOP, "fbtl/posix needs a file descriptor");
    enum brio_err err = brio_bites_lane(store, out);
    if (err)
        return err;
    struct brio_bites *p = out->self;
    p->port.move = call;
    p->port.most = MAX_CALL;
    p->port.calls = &calls;
    p->port.evenness = p->port.direct < 0 ? &evenness : NULL;
    p->port.warmth = store->local && store->shared ? &warmth : NULL;
    p->port.holds = holds;
    p->move = move;
    p->sieve = (struct brio_sieve){.read = c->ds_read,
                                   .write = c->ds_write,
                                   .read_window = c->rd_window,
                                   .write_window = c->wr_window,
                                   .mapped = store->local && store->mappable &&
                                             store->readable && store->writable};
    return BRIO_OK;
}

static BRIO_ERR open_posix(const struct brio_store *store, const void *conf,
                           struct brio_lane *out)
{
    return brio_posix_open(store, conf, out);
}

const struct brio_fbtl brio_fbtl_posix = {
    .base = {.name = "posix",
             .about = "pread, pwrite and their vectored forms",
             .hints = brio_posix_hints,
             .conf_size = sizeof(struct brio_posix_conf),
             .query = query},
    .open = open_posix,
    .close = brio_bites_free,
};
