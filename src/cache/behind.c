/* See behind.h. A write is walked stretch by stretch, cut at the pages' borders. */
#include "cache/behind.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/stats.h"
#include "cache/dirty.h"
#include "cache/owner.h"
#include "cache/pages.h"
#include "cache/sender.h"
#include "cache/watch.h"
#include "comm/verdict.h"
#include "lane/task.h"
#include "lane/walk.h"

enum {
    WISH = 1 << 20, /* bytes of a page, if the file system has no wish of its own */
    MAX_IOV = 64,
    MAX_STRETCH = 1 << 30,
    MAX_PUTS = 64 /* before others get their turn at a page */
};

struct behind {
    struct brio_lane below;
    const struct brio_team *team;
    const struct brio_crew *crew;
    struct brio_stats *stats;
    const char *path;
    brio_off page;
    int shift;       /* a page is 1 << shift bytes; -1: it is no power of two */
    brio_off direct; /* a piece of so many bytes or more, in one piece of memory, goes past the
                        pages; 0: whole pages only, as the store wishes to have them */
    int nservers;    /* that take turns from page to page; 1 if it is not known */
    struct brio_pages *pages;
    struct brio_sender *sender; /* NULL if all ranks share memory */
    struct brio_map *flat;
    _Atomic brio_off end;    /* of what this rank has written since the last flush */
    _Atomic uint32_t *keeps; /* writes are kept back; one word for the crew */
    pthread_mutex_t lock;    /* guards what follows */
    struct brio_watch watch;
    bool pays, found; /* this rank says so; it has found out by watching */
    char why[BRIO_WATCH_WORDS];
};

int brio_behind_query(const struct brio_facts *facts, int priority)
{
    if (!(facts->amode & MPI_MODE_WRONLY))
        return brio_answer(-1, "only a file that is opened write-only can be written behind");
    if (facts->atomic)
        return brio_answer(-1, "atomic mode leaves nothing to keep back");
    if (!facts->attach && !facts->thread_multiple)
        return brio_answer(-1, "the ranks share no memory, and the MPI grants no threads");
    return brio_answer(priority, "the file is write-only; used if asked for");
}

/* ---- One write ------------------------------------------------------------------------- */

/* A write under way: where its data comes from, and the page that it holds. */
struct put {
    struct behind *b;
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

/* Without a division where that can be: this is done for every write, however small. */
static brio_off page_of(const struct behind *b, brio_off off)
{
    return b->shift >= 0 ? off >> b->shift : off / b->page;
}

static int owner_of(const struct behind *b, brio_off page)
{
    return brio_page_owner(page, b->team->nranks, b->nservers);
}

static bool is_ours(const struct behind *b, brio_off page)
{
    return !b->sender || b->crew->crew_of[owner_of(b, page)] == b->crew->mine;
}

/* Bytes count as moved when their page needs no writing, or has been written. */
static BRIO_ERR let_go(struct put *u)
{
    if (u->page < 0)
        return BRIO_OK;
    u->page = -1;
    enum brio_err err = brio_pages_give(u->b->pages, &u->hold);
    if (!err)
        u->moved += u->held;
    u->held = 0;
    return err;
}

/* n bytes, from byte `lo` of a page of ours on. */
static BRIO_ERR put_here(struct put *u, brio_off page, uint32_t lo, uint32_t n)
{
    if (u->page != page || u->nputs == MAX_PUTS || u->hold.dirty->n == u->hold.dirty->max) {
        enum brio_err err = let_go(u);
        if (!err)
            err = brio_pages_take(u->b->pages, page, &u->hold);
        if (err)
            return err;
        u->page = page;
        u->nputs = 0;
    }
    brio_pages_ready(u->b->pages, &u->hold, lo, n);
    fetch(u, u->hold.data + lo, n);
    (void)brio_dirty_add(u->hold.dirty, lo, lo + n); /* there is room */
    u->nputs++;
    u->held += n;
    return BRIO_OK;
}

/* len bytes of a page of others. */
static BRIO_ERR send_away(struct put *u, brio_off off, brio_off len)
{
    struct brio_sender *sender = u->b->sender;
    const int owner = owner_of(u->b, page_of(u->b, off));
    enum brio_err err = let_go(u);
    if (err)
        return err;
    brio_sender_lock(sender);
    while (len > 0) {
        char *to;
        brio_off fit;
        err = brio_sender_room(sender, owner, off, len, &to, &fit);
        if (err)
            break;
        fetch(u, to, (size_t)fit);
        off += fit;
        len -= fit;
        u->moved += fit;
    }
    brio_sender_unlock(sender);
    return err;
}

/* At the owner: bytes from another crew. A page that is full and cannot be written stays: the
 * next flush will tell. */
static BRIO_ERR keep(void *self, brio_off off, const char *data, brio_off len)
{
    struct behind *b = self;
    struct brio_hold hold;
    for (brio_off n; len > 0; off += n, data += n, len -= n) {
        brio_off into = off % b->page;
        n = brio_min(len, b->page - into);
        enum brio_err err = brio_pages_take(b->pages, off / b->page, &hold);
        if (err)
            return err;
        brio_pages_ready(b->pages, &hold, (uint32_t)into, (uint32_t)n);
        memcpy(hold.data + into, data, (size_t)n);
        (void)brio_dirty_add(hold.dirty, (uint32_t)into, (uint32_t)(into + n));
        err = brio_pages_give(b->pages, &hold);
        if (err)
            brio_log(BRIO_NOTE, "not yet written: %s", brio_err_text());
    }
    return BRIO_OK;
}

/* A piece that is worth a request of its own needs no copy. */
static BRIO_ERR write_past(struct put *u, brio_off off, brio_off len)
{
    struct behind *b = u->b;
    enum brio_err err = let_go(u);
    if (err)
        return err;
    for (brio_off at = off, n; at < off + len && !err; at += n) {
        uint32_t into = (uint32_t)(at % b->page);
        n = brio_min(off + len - at, b->page - into);
        err = brio_pages_forget(b->pages, at / b->page, into, into + (uint32_t)n);
    }
    if (err)
        return err;
    struct brio_io io =
        brio_io_flat(BRIO_WRITE, off, (char *)u->iov->iov_base + u->into, len, b->flat);
    struct brio_result r = brio_lane_access(&b->below, &io);
    u->moved += r.bytes;
    u->into += (size_t)r.bytes;
    return r.err;
}

/* How many bytes from `at` on go past the pages. */
static brio_off count_past(const struct behind *b, brio_off at, brio_off end)
{
    brio_off n = 0;
    if (b->direct > 0)
        return end - at >= b->direct ? end - at : 0;
    if (end - at >= b->page && at % b->page == 0)
        while (end - at - n >= b->page && is_ours(b, (at + n) / b->page))
            n += b->page;
    return n;
}

static BRIO_ERR put_stretch(struct put *u, const struct brio_stretch *s)
{
    const struct behind *b = u->b;
    const brio_off end = s->off + s->len;
    enum brio_err err = BRIO_OK;
    for (brio_off at = s->off, n; at < end && !err; at += n) {
        brio_off page = page_of(b, at), into = at - page * b->page;
        n = s->niov == 1 ? count_past(b, at, end) : 0;
        if (n > 0) {
            err = write_past(u, at, n);
            continue;
        }
        n = brio_min(end - at, b->page - into);
        err = is_ours(b, page) ? put_here(u, page, (uint32_t)into, (uint32_t)n)
                               : send_away(u, at, n);
    }
    return err;
}

static void raise_end(struct behind *b, brio_off end)
{
    brio_off seen = atomic_load_explicit(&b->end, memory_order_relaxed);
    while (end > seen && !atomic_compare_exchange_weak(&b->end, &seen, end))
        ;
}

static BRIO_ERR put_pieces(struct put *u, const struct brio_io *io)
{
    struct iovec iov[MAX_IOV];
    struct brio_stretch s;
    struct brio_walk walk;
    enum brio_err err = BRIO_OK;
    brio_walk_init(&walk, io);
    while (!err && brio_walk_next(&walk, MAX_STRETCH, MAX_IOV, iov, &s)) {
        u->iov = iov;
        u->into = 0;
        err = put_stretch(u, &s);
        raise_end(u->b, s.off + s.len);
    }
    return err;
}

/* Most small writes are: there is nothing to walk, and a walk costs as much as the copy. */
static bool is_flat(const struct brio_io *io)
{
    return io->file->contiguous && io->mem->contiguous && io->bytes > 0 &&
           io->bytes <= MAX_STRETCH;
}

static BRIO_ERR put_flat(struct put *u, const struct brio_io *io)
{
    const struct iovec iov = {.iov_base = (char *)io->buf + io->mem_pos,
                              .iov_len = (size_t)io->bytes};
    const struct brio_stretch s = {.off = io->base + io->pos, .len = io->bytes, .niov = 1};
    u->iov = &iov;
    enum brio_err err = put_stretch(u, &s);
    raise_end(u->b, s.off + s.len);
    return err;
}

static struct brio_result keep_back(struct behind *b, const struct brio_io *io)
{
    struct put u = {.b = b, .page = -1};
    char text[BRIO_ERR_TEXT];
    brio_pages_help(b->pages);
    enum brio_err err = is_flat(io) ? put_flat(&u, io) : put_pieces(&u, io);
    if (err)
        brio_err_save(text);
    enum brio_err last = let_go(&u);
    if (err)
        brio_err_restore(text);
    return (struct brio_result){err ? err : last, u.moved};
}

/* Past the pages, with an eye on what it costs. */
static struct brio_result pass_on(struct behind *b, const struct brio_io *io)
{
    int64_t began = brio_now();
    struct brio_result r = brio_lane_access(&b->below, io);
    int64_t ns = brio_now() - began;
    pthread_mutex_lock(&b->lock);
    if (!b->pays && brio_watch_add(&b->watch, io->bytes, ns, b->page, b->why)) {
        b->pays = b->found = true;
        if (!b->sender)
            atomic_store(b->keeps, 1);
    }
    pthread_mutex_unlock(&b->lock);
    return r;
}

/* ---- The stage ------------------------------------------------------------------------- */

/* Write-only files are not read; if one is, the system will refuse. */
static struct brio_result move(void *self, const struct brio_io *io)
{
    struct behind *b = self;
    if (io->dir == BRIO_READ)
        return brio_lane_access(&b->below, io);
    return atomic_load_explicit(b->keeps, memory_order_acquire) ? keep_back(b, io)
                                                                : pass_on(b, io);
}

/* For collective accesses between crews: it is done when the owners have it. */
static struct brio_result move_together(void *self, const struct brio_io *io)
{
    struct behind *b = self;
    struct brio_result r = move(b, io);
    if (!r.err)
        r.err = brio_sender_settle(b->sender);
    return r;
}

static void submit(void *self, const struct brio_io *io, enum brio_wait how,
                   struct brio_ticket *ticket)
{
    struct behind *b = self;
    brio_task_submit(move, b, b->stats, io, how, ticket);
}

static void submit_together(void *self, const struct brio_io *io, enum brio_wait how,
                            struct brio_ticket *ticket)
{
    struct behind *b = self;
    brio_task_submit(move_together, b, b->stats, io, how, ticket);
}

static void reap(void *self, struct brio_ticket *ticket, enum brio_wait how)
{
    (void)self;
    brio_task_reap(ticket, how);
}

/* An agreement of all ranks, and what came of it. */
struct meeting {
    struct brio_verdict verdict;
    enum brio_err err;
};

static bool is_over(void *self)
{
    struct meeting *m = self;
    return brio_verdict_done(&m->verdict, BRIO_POLL, &m->err);
}

/* Collective. All keep back from now on if one says that it pays. Whoever waits for the others
 * in memory that all share has time to write their pages. */
static BRIO_ERR meet(struct behind *b, enum brio_err mine)
{
    struct meeting m;
    brio_verdict_init(&m.verdict, mine);
    pthread_mutex_lock(&b->lock);
    m.verdict.most = b->pays;
    pthread_mutex_unlock(&b->lock);
    brio_verdict_start(&m.verdict, b->team);
    if (b->sender)
        (void)brio_verdict_done(&m.verdict, BRIO_BLOCK, &m.err);
    else
        brio_pages_attend(b->pages, is_over, &m);
    if (m.verdict.most > 0)
        atomic_store(b->keeps, 1);
    return m.err;
}

/* Collective. When all ranks have come, nothing is on its way to a page any more. */
static BRIO_ERR flush(void *self)
{
    struct behind *b = self;
    char text[BRIO_ERR_TEXT];
    enum brio_err err = meet(b, b->sender ? brio_sender_settle(b->sender) : BRIO_OK);
    if (err)
        brio_err_save(text);
    enum brio_err written = brio_pages_flush(b->pages);
    if (!written && b->sender)
        written = brio_sender_lost(b->sender);
    if (err)
        brio_err_restore(text);
    else
        err = written;
    if (!err)
        atomic_store(&b->end, 0);
    return err ? err : b->below.ops->flush(b->below.self);
}

static const struct brio_lane_ops ops = {submit, reap, flush};
static const struct brio_lane_ops ops_together = {submit_together, reap, flush};

const char *brio_behind_path(const struct brio_lane *lane)
{
    const struct behind *b = lane->self;
    return b->path;
}

bool brio_behind_is(const struct brio_lane *lane)
{
    return lane->ops == &ops;
}

struct brio_lane brio_behind_collective(const struct brio_lane *lane)
{
    struct behind *b = lane->self;
    return (struct brio_lane){.ops = b->sender ? &ops_together : &ops, .self = b};
}

/* The size counts this rank's bytes whoever writes them. */
enum brio_err brio_behind_settle(const struct brio_lane *lane, const struct brio_io *io)
{
    struct behind *b = lane->self;
    brio_off lo, hi;
    if (io->dir == BRIO_WRITE && io->bytes > 0) {
        brio_map_bounds(io->file, io->pos, io->bytes, &lo, &hi);
        if (brio_add(io->base, hi, &hi))
            raise_end(b, hi);
    }
    return b->sender ? brio_sender_settle(b->sender) : BRIO_OK;
}

enum brio_err brio_behind_size(const struct brio_lane *lane, brio_off *size)
{
    const struct behind *b = lane->self;
    *size = brio_max(*size, atomic_load(&b->end));
    return BRIO_OK;
}

bool brio_behind_tell(const struct brio_lane *lane, char *words, size_t size, bool *found)
{
    struct behind *b = lane->self;
    bool keeps = atomic_load(b->keeps) != 0;
    char how[128] = "not kept back";
    if (keeps)
        snprintf(how, sizeof how, "kept back in pages of %lld bytes, shared by %d of %d ranks",
                 (long long)b->page, b->crew->team.nranks, b->team->nranks);
    pthread_mutex_lock(&b->lock);
    snprintf(words, size, "writes are %s: %s", how,
             keeps && !b->pays ? "another rank found that it pays" : b->why);
    if (found)
        *found = b->found;
    pthread_mutex_unlock(&b->lock);
    return keeps;
}

/* ---- Opening and closing ---------------------------------------------------------------- */

static void free_behind(struct behind *b)
{
    if (!b)
        return;
    brio_sender_close(b->sender);
    brio_pages_close(b->pages);
    brio_map_unref(b->flat);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

static BRIO_ERR new_behind(const struct brio_cache_env *env, const struct brio_lane *below,
                           const struct brio_cache_conf *conf, struct behind **out)
{
    struct behind *b;
    enum brio_err err = brio_calloc(1, sizeof *b, (void **)&b);
    if (err)
        return err;
    b->below = *below;
    b->team = env->team;
    b->crew = env->crew;
    b->stats = env->stats;
    b->path = env->path;
    b->page = conf->page ? brio_max(conf->page, 4096)
                         : brio_page_size(env->stripe, env->block_size, WISH);
    b->shift =
        (b->page & (b->page - 1)) == 0 ? __builtin_ctzll((unsigned long long)b->page) : -1;
    b->direct = env->stripe > 0 || env->crew->ncrews > 1 ? 0 : b->page / 2;
    b->nservers = b->page == env->stripe ? env->nservers : 1;
    pthread_mutex_init(&b->lock, NULL);
    snprintf(b->why, sizeof b->why, "fewer than %d writes so far", BRIO_WATCH_WRITES);
    err = brio_map_bytes(1, &b->flat);
    if (err) {
        free_behind(b);
        return err;
    }
    *out = b;
    return BRIO_OK;
}

/* Collective. */
static BRIO_ERR join_ranks(struct behind *b, const struct brio_cache_conf *conf)
{
    const struct brio_pages_env pages = {.crew = b->crew,
                                         .below = b->below,
                                         .page = b->page,
                                         .bytes = conf->size * b->crew->team.nranks};
    const struct brio_sender_env sender = {
        .team = b->team, .crew = b->crew, .room = (size_t)conf->send, .keep = keep, .self = b};
    enum brio_err err = brio_pages_open(&pages, &b->pages);
    if (b->crew->ncrews > 1)
        err = brio_agree(b->team, err);
    if (err)
        return err;
    b->keeps = brio_pages_word(b->pages);
    if (b->crew->ncrews == 1) { /* it is the same word for all */
        if (b->pays)
            atomic_store(b->keeps, 1);
        return BRIO_OK;
    }
    err = brio_sender_open(&sender, &b->sender);
    return err ? err : meet(b, BRIO_OK);
}

BRIO_ERR brio_behind_open(const struct brio_cache_env *env, const struct brio_lane *below,
                          const struct brio_cache_conf *conf, const char *pays,
                          struct brio_lane *out)
{
    struct behind *b = NULL;
    enum brio_err err = brio_agree(env->team, new_behind(env, below, conf, &b));
    if (!err) {
        if (pays)
            snprintf(b->why, sizeof b->why, "%s", pays);
        b->pays = pays != NULL;
        err = join_ranks(b, conf);
    }
    if (err) {
        free_behind(b);
        return err;
    }
    *out = (struct brio_lane){.ops = &ops, .self = b};
    return BRIO_OK;
}

enum brio_err brio_behind_close(struct brio_lane *lane)
{
    free_behind(lane->self);
    lane->self = NULL;
    return BRIO_OK;
}
