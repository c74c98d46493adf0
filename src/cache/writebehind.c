/* Two-stage write-behind (paper 001, section 4) for files that are only written: a page of
 * the file belongs to one rank. Bytes for the pages of ranks that share memory with this one
 * are put where they belong at once; those for other nodes are gathered and sent. Pages leave
 * for the file when they are full, when room is needed, and with a flush. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cache/cache.h"
#include "cache/dirty.h"
#include "cache/owner.h"
#include "cache/pages.h"
#include "comm/verdict.h"
#include "lane/task.h"
#include "lane/walk.h"

enum {
    WISH = 1 << 20, /* bytes of a page, if the file system has no wish of its own */
    MAX_IOV = 64,
    MAX_STRETCH = 1 << 30,
    MAX_PUTS = 64 /* before others get their turn at a page */
};

struct conf {
    brio_off page, size;
};

static const struct brio_hint hints[] = {
    {.name = "cache_page",
     .kind = BRIO_HINT_BYTES,
     .offset = offsetof(struct conf, page),
     .def = "0",
     .max = 1 << 30,
     .same = true,
     .help = "Bytes of a page of the cache; 0: the file's stripe, or blocks of about 1 MiB."},
    {.name = "cache_size",
     .kind = BRIO_HINT_BYTES,
     .offset = offsetof(struct conf, size),
     .def = "32m",
     .min = 4096,
     .max = (brio_off)1 << 40,
     .same = true,
     .help = "Bytes of pages that the cache may hold for each process and file."},
    {0}};

struct writebehind {
    struct brio_lane below;
    const struct brio_team *team;
    const struct brio_crew *crew;
    struct brio_stats *stats;
    brio_off page;
    int nservers; /* that take turns from page to page; 1 if it is not known */
    struct brio_pages *pages;
    struct brio_map *flat;
    _Atomic brio_off end; /* of what this rank has written since the last flush */
};

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (!(facts->amode & MPI_MODE_WRONLY))
        return brio_answer(-1, "it serves files that are opened write-only");
    if (facts->atomic)
        return brio_answer(-1, "it does not serve atomic mode");
    if (!facts->attach)
        return brio_answer(-1, "the ranks do not share memory");
    return brio_answer(5, "the file is write-only: writes can be kept back, if asked for");
}

/* ---- One write ------------------------------------------------------------------------ */

/* A write under way: where its data comes from, and the page that it holds. */
struct put {
    struct writebehind *w;
    const struct iovec *iov;
    size_t into; /* bytes of *iov that are gone */
    struct brio_hold hold;
    brio_off page; /* that is held, or -1 */
    int nputs;     /* into it */
    brio_off held; /* bytes of them */
    brio_off moved;
};

static void fetch(struct put *u, char *to, size_t n)
{
    while (n > 0) {
        size_t part = u->iov->iov_len - u->into;
        part = part < n ? part : n;
        memcpy(to, (const char *)u->iov->iov_base + u->into, part);
        to += part;
        n -= part;
        u->into += part;
        if (u->into == u->iov->iov_len) {
            u->iov++;
            u->into = 0;
        }
    }
}

/* Bytes count as moved when their page needs no writing, or has been written. */
static BRIO_ERR let_go(struct put *u)
{
    if (u->page < 0)
        return BRIO_OK;
    u->page = -1;
    enum brio_err err = brio_pages_give(u->w->pages, &u->hold);
    if (!err)
        u->moved += u->held;
    u->held = 0;
    return err;
}

/* n bytes, from byte `lo` of the page on. */
static BRIO_ERR put_here(struct put *u, brio_off page, uint32_t lo, uint32_t n)
{
    enum brio_err err = BRIO_OK;
    if (u->page != page || u->nputs == MAX_PUTS || u->hold.dirty->n == u->hold.dirty->max) {
        err = let_go(u);
        if (!err)
            err = brio_pages_take(u->w->pages, page, &u->hold);
        if (err)
            return err;
        u->page = page;
        u->nputs = 0;
    }
    fetch(u, u->hold.data + lo, n);
    (void)brio_dirty_add(u->hold.dirty, lo, lo + n); /* there is room */
    u->nputs++;
    u->held += n;
    return BRIO_OK;
}

/* Whole pages that lie in one piece of memory need no copy. */
static BRIO_ERR write_whole(struct put *u, brio_off off, brio_off len)
{
    struct writebehind *w = u->w;
    enum brio_err err = let_go(u);
    if (err)
        return err;
    for (brio_off at = off; at < off + len; at += w->page)
        brio_pages_forget(w->pages, at / w->page);
    struct brio_io io =
        brio_io_flat(BRIO_WRITE, off, (char *)u->iov->iov_base + u->into, len, w->flat);
    struct brio_result r = brio_lane_access(&w->below, &io);
    u->moved += r.bytes;
    u->into += (size_t)r.bytes;
    return r.err;
}

static BRIO_ERR put_stretch(struct put *u, const struct brio_stretch *s)
{
    const brio_off page = u->w->page, end = s->off + s->len;
    enum brio_err err = BRIO_OK;
    for (brio_off at = s->off, n; at < end && !err; at += n) {
        brio_off into = at % page;
        brio_off whole = s->niov == 1 && into == 0 ? (end - at) / page * page : 0;
        n = whole ? whole : brio_min(end - at, page - into);
        err =
            whole ? write_whole(u, at, n) : put_here(u, at / page, (uint32_t)into, (uint32_t)n);
    }
    return err;
}

static void raise_end(struct writebehind *w, brio_off end)
{
    brio_off seen = atomic_load_explicit(&w->end, memory_order_relaxed);
    while (end > seen && !atomic_compare_exchange_weak(&w->end, &seen, end))
        ;
}

static struct brio_result move(void *self, const struct brio_io *io)
{
    struct writebehind *w = self;
    struct put u = {.w = w, .page = -1};
    struct iovec iov[MAX_IOV];
    struct brio_stretch s;
    struct brio_walk walk;
    enum brio_err err = BRIO_OK;
    if (io->dir == BRIO_READ) /* of a file that cannot be read: the system's to refuse */
        return brio_lane_access(&w->below, io);
    brio_walk_init(&walk, io);
    while (!err && brio_walk_next(&walk, MAX_STRETCH, MAX_IOV, iov, &s)) {
        u.iov = iov;
        u.into = 0;
        err = put_stretch(&u, &s);
        raise_end(w, s.off + s.len);
    }
    char text[BRIO_ERR_TEXT];
    if (err)
        brio_err_save(text);
    enum brio_err last = let_go(&u);
    if (err)
        brio_err_restore(text);
    return (struct brio_result){err ? err : last, u.moved};
}

static void submit(void *self, const struct brio_io *io, enum brio_wait how,
                   struct brio_ticket *ticket)
{
    struct writebehind *w = self;
    brio_task_submit(move, w, w->stats, io, how, ticket);
}

static void reap(void *self, struct brio_ticket *ticket, enum brio_wait how)
{
    (void)self;
    brio_task_reap(ticket, how);
}

/* Collective. When all ranks have come, nothing is on its way to a page any more. */
static BRIO_ERR flush(void *self)
{
    struct writebehind *w = self;
    enum brio_err err = brio_agree(w->team, BRIO_OK);
    enum brio_err written = brio_pages_flush(w->pages);
    if (!err)
        err = written;
    if (!err)
        atomic_store(&w->end, 0);
    return err ? err : w->below.ops->flush(w->below.self);
}

static const struct brio_lane_ops ops = {submit, reap, flush};

/* ---- The module ------------------------------------------------------------------------ */

static void free_writebehind(struct writebehind *w)
{
    if (!w)
        return;
    brio_pages_close(w->pages);
    brio_map_unref(w->flat);
    free(w);
}

static BRIO_ERR new_writebehind(const struct brio_cache_env *env, const struct brio_lane *below,
                                const struct conf *conf, struct writebehind **out)
{
    struct writebehind *w;
    enum brio_err err = brio_calloc(1, sizeof *w, (void **)&w);
    if (err)
        return err;
    w->below = *below;
    w->team = env->team;
    w->crew = env->crew;
    w->stats = env->stats;
    w->page = conf->page ? brio_max(conf->page, 4096)
                         : brio_page_size(env->stripe, env->block_size, WISH);
    w->nservers = w->page == env->stripe ? env->nservers : 1;
    err = brio_map_bytes(1, &w->flat);
    if (err) {
        free(w);
        return err;
    }
    *out = w;
    return BRIO_OK;
}

static BRIO_ERR open_writebehind(const struct brio_cache_env *env,
                                 const struct brio_lane *below, const void *conf,
                                 struct brio_lane *out)
{
    const struct conf *c = conf;
    struct writebehind *w = NULL;
    enum brio_err err = brio_agree(env->team, new_writebehind(env, below, c, &w));
    if (!err) {
        const struct brio_pages_env pages = {.crew = env->crew,
                                             .below = *below,
                                             .page = w->page,
                                             .bytes = c->size * env->crew->team.nranks};
        err = brio_agree(env->team, brio_pages_open(&pages, &w->pages));
    }
    if (err) {
        free_writebehind(w);
        return err;
    }
    *out = (struct brio_lane){.ops = &ops, .self = w};
    return BRIO_OK;
}

static BRIO_ERR close_writebehind(struct brio_lane *lane)
{
    free_writebehind(lane->self);
    lane->self = NULL;
    return BRIO_OK;
}

/* The size counts this rank's bytes whoever writes them. */
static BRIO_ERR settle(const struct brio_lane *lane, const struct brio_io *io)
{
    brio_off lo, hi;
    if (io->dir == BRIO_WRITE && io->bytes > 0) {
        brio_map_bounds(io->file, io->pos, io->bytes, &lo, &hi);
        if (brio_add(io->base, hi, &hi))
            raise_end(lane->self, hi);
    }
    return BRIO_OK;
}

static BRIO_ERR count_size(const struct brio_lane *lane, brio_off *size)
{
    const struct writebehind *w = lane->self;
    *size = brio_max(*size, atomic_load(&w->end));
    return BRIO_OK;
}

static void tell(const struct brio_lane *lane, char *out, size_t size)
{
    const struct writebehind *w = lane->self;
    snprintf(out, size, "writes are kept back in pages of %lld bytes, shared by %d of %d ranks",
             (long long)w->page, w->crew->team.nranks, w->team->nranks);
}

const struct brio_cache brio_cache_writebehind = {
    .base = {.name = "writebehind",
             .about = "small writes to a write-only file leave in whole pages",
             .hints = hints,
             .conf_size = sizeof(struct conf),
             .query = query},
    .open = open_writebehind,
    .close = close_writebehind,
    .size = count_size,
    .resized = brio_cache_plain_resized,
    .settle = settle,
    .collective = brio_cache_plain_lane,
    .tell = tell,
};
