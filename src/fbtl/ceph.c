/* Bytes by libcephfs. It has no call that returns before the bytes are moved, and the way to
 * a server takes longer than the bytes: so the pieces of a noncontiguous access go by several
 * threads at a time. */
#include <pthread.h>
#include <string.h>

#include "fbtl/bites.h"
#include "fbtl/fbtl.h"
#include "fs/ceph.h"
#include "lane/pool.h"

enum {
    MAX_CALL = 64 << 20, /* its counts are ints, and it sends no more than 100 MiB at a time */
    HELPERS = 3,         /* threads besides the caller's */
    /* A call takes as long as this many bytes more, with all threads at it: measured with
     * three servers on one machine, 200 us against 1 GB/s. */
    CALL_BYTES = 64 << 10
};

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (strcmp(facts->store, BRIO_STORE_CEPH) != 0)
        return brio_answer(-1, "libcephfs has not opened the file");
    return brio_answer(50, "libcephfs has opened the file");
}

static const struct brio_calls calls = {
    .name = {[BRIO_READ] = {"ceph_ll_read", "ceph_ll_readv"},
             [BRIO_WRITE] = {"ceph_ll_write", "ceph_ll_writev"}}};

static brio_off call(const struct brio_port *port, enum brio_dir dir, const struct iovec *iov,
                     int niov, brio_off off)
{
    const struct brio_ceph_file *f = port->handle;
    const struct brio_ceph_lib *lib = f->ceph->lib;
    struct ceph_mount_info *mount = f->ceph->mount;
    if (niov == 1)
        return dir == BRIO_READ ? lib->ll_read(mount, f->fh, off, iov->iov_len, iov->iov_base)
                                : lib->ll_write(mount, f->fh, off, iov->iov_len, iov->iov_base);
    return dir == BRIO_READ ? lib->ll_readv(mount, f->fh, iov, niov, off)
                            : lib->ll_writev(mount, f->fh, iov, niov, off);
}

/* An access that several threads take stretches from. */
struct crowd {
    const struct brio_port *port;
    enum brio_dir dir;
    pthread_mutex_t lock; /* of what follows */
    struct brio_walk walk;
    brio_off taken; /* data bytes of the stretches handed out */
    brio_off end;   /* data bytes up to the first one that was not moved, as far as known */
    enum brio_err err;
    char text[BRIO_ERR_TEXT];
};

/* False if nothing is left, or nothing before what failed. */
static bool take(struct crowd *c, struct iovec *iov, struct brio_stretch *s, brio_off *at)
{
    pthread_mutex_lock(&c->lock);
    *at = c->taken;
    bool more =
        c->taken < c->end && brio_walk_next(&c->walk, c->port->most, BRIO_MOVE_IOV, iov, s);
    if (more)
        c->taken += s->len;
    pthread_mutex_unlock(&c->lock);
    return more;
}

static void work(void *arg, int unused)
{
    struct crowd *c = arg;
    struct iovec iov[BRIO_MOVE_IOV];
    struct brio_stretch s;
    brio_off at;
    (void)unused;
    while (take(c, iov, &s, &at)) {
        struct brio_result r = brio_move_vector(c->port, c->dir, iov, &s);
        if (r.bytes == s.len)
            continue;
        pthread_mutex_lock(&c->lock);
        if (at + r.bytes < c->end) {
            c->end = at + r.bytes;
            c->err = r.err;
            brio_err_save(c->text);
        }
        pthread_mutex_unlock(&c->lock);
    }
}

static struct brio_result stretches(const struct brio_port *port, const struct brio_io *io)
{
    struct crowd c = {
        .port = port, .dir = io->dir, .lock = PTHREAD_MUTEX_INITIALIZER, .end = io->bytes};
    /* Behind the end of the file nothing is read, but the next piece may lie before it: only
     * one thread stops there in time. */
    int helpers = io->dir == BRIO_READ && !io->file->monotone ? 0 : HELPERS;
    brio_walk_init(&c.walk, io);
    brio_pool_share(work, &c, helpers + 1, helpers);
    pthread_mutex_destroy(&c.lock);
    if (c.err)
        brio_err_restore(c.text);
    return (struct brio_result){c.err, c.end};
}

static BRIO_ERR open_ceph(const struct brio_store *store, const void *conf,
                          struct brio_lane *out)
{
    const struct brio_bites_conf *c = conf;
    enum brio_err err = brio_bites_lane(store, out);
    if (err)
        return err;
    struct brio_bites *b = out->self;
    b->port.move = call;
    b->port.most = MAX_CALL;
    b->port.calls = &calls;
    b->stretches = stretches;
    b->sieve = (struct brio_sieve){.read = c->ds_read,
                                   .write = BRIO_OFF_NEVER,
                                   .read_window = c->rd_window,
                                   .call_bytes = CALL_BYTES};
    return BRIO_OK;
}

const struct brio_fbtl brio_fbtl_ceph = {
    .base = {.name = "ceph",
             .about = "the calls of libcephfs, several at a time",
             .hints = brio_bites_hints,
             .conf_size = sizeof(struct brio_bites_conf),
             .query = query},
    .open = open_ceph,
    .close = brio_bites_free,
};
