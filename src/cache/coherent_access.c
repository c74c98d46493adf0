/* One access through the cache: page by page under the locks of the pages, which are taken in
 * rising order. In atomic mode all of them are held before the first byte moves. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cache/coherent.h"
#include "lane/walk.h"

enum {
    MAX_IOV = 64,
    BATCH = 256 /* pages locked at one time for an access that goes past the cache */
};

struct held {
    brio_off page;
    struct brio_grant grant;
};

/* Memory of the program, as the walk gives it. */
struct memory {
    struct iovec *iov;
    size_t into;
};

struct access {
    struct brio_coherent *c;
    const struct brio_io *io;
    struct brio_box *box;
    bool atomic, past; /* past: it is larger than the cache */
    struct held *held; /* in rising order */
    size_t nheld, room;
    /* Data bytes [from, to) of the access that go straight to or from the file, and the end
     * of the last of them there. */
    brio_off from, to, end;
    bool over; /* a read met the end of the file */
};

/* One piece of one page. */
struct piece {
    brio_off page;
    uint32_t lo, len;
    brio_off pos; /* data byte of the access */
};

/* ---- Memory ----------------------------------------------------------------------------- */

static void copy(enum brio_dir dir, char *page, struct memory *m, size_t len)
{
    while (len > 0) {
        size_t n = m->iov->iov_len - m->into;
        if (n > len)
            n = len;
        char *mem = (char *)m->iov->iov_base + m->into;
        if (page && dir == BRIO_READ)
            memcpy(mem, page, n);
        else if (page)
            memcpy(page, mem, n);
        if (page)
            page += n;
        len -= n;
        m->into += n;
        if (m->into == m->iov->iov_len) {
            m->iov++;
            m->into = 0;
        }
    }
}

static void skip(struct memory *m, size_t len)
{
    copy(BRIO_READ, NULL, m, len);
}

/* ---- The end of the file ---------------------------------------------------------------- */

/* Whether the file is as long as that may be known to other crews alone. */
static BRIO_ERR ask_size(struct access *a, brio_off end)
{
    brio_off size = atomic_load(&brio_bay_at(a->c, 0)->size);
    return size < end ? brio_coherent_size(a->c, a->box, &size) : BRIO_OK;
}

/* How much of [off, off + len) there is, as far as this crew knows. */
static uint32_t clip(struct access *a, brio_off off, uint32_t len)
{
    brio_off size = atomic_load(&brio_bay_at(a->c, 0)->size);
    if (size >= off + len)
        return len;
    a->over = true;
    return size > off ? (uint32_t)(size - off) : 0;
}

/* The file reaches to `end` now; all crews can know. */
static BRIO_ERR extend(struct access *a, brio_off end)
{
    brio_off size;
    if (atomic_load(&brio_bay_at(a->c, 0)->size) >= end)
        return BRIO_OK;
    brio_coherent_grow(a->c, end);
    return brio_coherent_size(a->c, a->box, &size);
}

/* ---- Straight to the file --------------------------------------------------------------- */

/* Behind what the file had: what it has by now in caches alone is zeros, for pages with data
 * are not read straight. */
static BRIO_ERR fill_holes(struct access *a, struct brio_io *io, brio_off *moved)
{
    struct brio_io rest = *io;
    struct brio_walk walk;
    struct iovec iov[MAX_IOV];
    struct brio_stretch s;
    rest.pos += *moved;
    rest.mem_pos += *moved;
    rest.bytes -= *moved;
    brio_walk_init(&walk, &rest);
    while (!a->over && brio_walk_next(&walk, 1 << 30, MAX_IOV, iov, &s)) {
        enum brio_err err = ask_size(a, s.off + s.len);
        if (err)
            return err;
        uint32_t len = clip(a, s.off, (uint32_t)s.len);
        struct memory m = {.iov = iov};
        for (uint32_t left = len; left > 0;) {
            static char zeros[4096];
            uint32_t n = left < sizeof zeros ? left : (uint32_t)sizeof zeros;
            copy(BRIO_READ, zeros, &m, n);
            left -= n;
        }
        *moved += len;
    }
    return BRIO_OK;
}

/* What has been put together, while its pages are locked and nowhere cached. a->from moves on
 * by what was moved. */
static BRIO_ERR move_straight(struct access *a)
{
    if (a->from == a->to)
        return BRIO_OK;
    struct brio_io io = *a->io;
    io.pos += a->from;
    io.mem_pos += a->from;
    io.bytes = a->to - a->from;
    struct brio_result r = brio_lane_access(&a->c->below, &io);
    if (!r.err && r.bytes < io.bytes)
        r.err = io.dir == BRIO_READ ? fill_holes(a, &io, &r.bytes)
                                    : brio_fail(BRIO_EIO, "a short write below the cache");
    else if (!r.err && io.dir == BRIO_WRITE)
        r.err = extend(a, a->end);
    else if (!r.err)
        brio_coherent_grow(a->c, a->end);
    a->from += r.bytes;
    if (!r.err && !a->over)
        a->from = a->to;
    return r.err;
}

/* ---- Locks ------------------------------------------------------------------------------ */

static BRIO_ERR release(struct access *a)
{
    enum brio_err err = BRIO_OK;
    for (size_t i = 0; i < a->nheld; i++) {
        enum brio_err failed =
            brio_coherent_unlock(a->c, a->box, a->held[i].page, &a->held[i].grant);
        if (!err)
            err = failed;
    }
    a->nheld = 0;
    return err;
}

static BRIO_ERR hold(struct access *a, brio_off page)
{
    enum brio_lock_answer answer;
    if (a->nheld == a->room) {
        size_t room = 2 * a->room + 16;
        struct held *more = realloc(a->held, room * sizeof *more);
        if (!more)
            return brio_fail(BRIO_ENOMEM, "no memory for the locks of %zu pages", room);
        a->held = more;
        a->room = room;
    }
    struct held *h = &a->held[a->nheld];
    h->page = page;
    const struct brio_wish wish = {
        .page = page, .alone = a->io->dir == BRIO_WRITE, .wait = true};
    enum brio_err err = brio_coherent_lock(a->c, a->box, &wish, &h->grant, &answer);
    a->nheld += !err;
    return err;
}

static struct held *find_held(const struct access *a, brio_off page)
{
    size_t lo = 0, hi = a->nheld;
    if (hi > 0 && a->held[hi - 1].page == page)
        return &a->held[hi - 1];
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (a->held[mid].page < page)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < a->nheld && a->held[lo].page == page ? &a->held[lo] : NULL;
}

/* The lock of the page; unless all are held, the others are given back first, but for those
 * of lower pages that wait for a transfer together with this one. */
static BRIO_ERR reach(struct access *a, brio_off page, struct held **out)
{
    enum brio_err err = BRIO_OK;
    *out = find_held(a, page);
    if (*out)
        return BRIO_OK;
    bool together = a->from < a->to && a->nheld < BATCH && a->held[a->nheld - 1].page < page;
    if (!together) {
        err = move_straight(a);
        enum brio_err freed = release(a);
        if (!err)
            err = freed;
    }
    if (!err && !a->over)
        err = hold(a, page);
    if (!err && !a->over)
        *out = &a->held[a->nheld - 1];
    return err;
}

static int by_number(const void *x, const void *y)
{
    brio_off a = *(const brio_off *)x, b = *(const brio_off *)y;
    return a < b ? -1 : a > b;
}

/* The pages that the access touches, each once, in rising order. */
static BRIO_ERR list_pages(const struct access *a, brio_off **out, size_t *n)
{
    struct brio_walk walk;
    struct iovec iov[MAX_IOV];
    struct brio_stretch s;
    size_t room = 0, used = 0;
    brio_off *pages = NULL;
    brio_walk_init(&walk, a->io);
    while (brio_walk_next(&walk, BRIO_OFF_MAX, MAX_IOV, iov, &s))
        for (brio_off p = s.off / a->c->page; p <= (s.off + s.len - 1) / a->c->page; p++) {
            if (used > 0 && pages[used - 1] == p)
                continue;
            if (used == room) {
                room = 2 * room + 64;
                brio_off *more = realloc(pages, room * sizeof *more);
                if (!more) {
                    free(pages);
                    return brio_fail(BRIO_ENOMEM, "no memory for a list of %zu pages", room);
                }
                pages = more;
            }
            pages[used++] = p;
        }
    if (used > 1)
        qsort(pages, used, sizeof *pages, by_number);
    *out = pages;
    *n = used;
    return BRIO_OK;
}

static BRIO_ERR hold_all(struct access *a)
{
    brio_off *pages = NULL;
    size_t n = 0;
    enum brio_err err = list_pages(a, &pages, &n);
    for (size_t i = 0; i < n && !err; i++)
        if (i == 0 || pages[i] != pages[i - 1])
            err = hold(a, pages[i]);
    free(pages);
    return err;
}

/* ---- Frames ----------------------------------------------------------------------------- */

/* With frames_lock held. Writes out the page of this rank that was not used for the longest
 * time and that nobody holds; false if there is none that can be had without waiting. */
static bool evict(struct access *a)
{
    enum {
        TRIES = 8
    };
    struct brio_coherent *c = a->c;
    int member = c->member_of[c->team->rank];
    struct brio_frames *frames = brio_bay_frames(c, member);
    uint64_t after = 0;
    uint32_t i;
    for (int tries = 0; tries < TRIES && brio_frames_oldest(frames, after, &i); tries++) {
        struct brio_held_frame f = {.frame = brio_cached_at(frames, i),
                                    .bytes = brio_bay_bytes(c, member, i)};
        brio_off page = f.frame->page;
        struct brio_grant grant;
        enum brio_lock_answer answer;
        const struct brio_wish wish = {.page = page, .alone = true};
        after = atomic_load(&f.frame->used);
        if (brio_coherent_lock(c, a->box, &wish, &grant, &answer) || answer != BRIO_GRANTED)
            continue;
        /* What cannot be written stays; a flush will tell. */
        bool done = grant.owner == c->team->rank && grant.frame == i &&
                    brio_coherent_clean(c, f) == BRIO_OK;
        if (done)
            grant = (struct brio_grant){.owner = -1, .alone = true};
        if (brio_coherent_unlock(c, a->box, page, &grant))
            return false;
        if (done) {
            brio_frames_give(frames, i);
            return true;
        }
    }
    return false;
}

/* A frame of this rank for a page that nobody has and whose lock is held alone; the page stays
 * nobody's if there is no frame to be had. */
static void settle_page(struct access *a, struct held *h)
{
    struct brio_coherent *c = a->c;
    struct brio_frames *frames = brio_bay_frames(c, c->member_of[c->team->rank]);
    uint64_t now = atomic_fetch_add(&brio_bay_at(c, 0)->clock, 1) + 1;
    uint32_t frame;
    pthread_mutex_lock(&c->frames_lock);
    bool taken = brio_frames_take(frames, h->page, now, &frame);
    if (!taken && evict(a))
        taken = brio_frames_take(frames, h->page, now, &frame);
    pthread_mutex_unlock(&c->frames_lock);
    if (taken)
        h->grant = (struct brio_grant){.owner = c->team->rank, .frame = frame, .alone = true};
}

/* The page was to be cached here, and could not be filled. */
static void give_up(struct access *a, struct held *h)
{
    struct brio_coherent *c = a->c;
    pthread_mutex_lock(&c->frames_lock);
    brio_frames_give(brio_bay_frames(c, c->member_of[c->team->rank]), h->grant.frame);
    pthread_mutex_unlock(&c->frames_lock);
    h->grant = (struct brio_grant){.owner = -1, .alone = true};
}

/* ---- Pieces ----------------------------------------------------------------------------- */

/* Before a near page is read: it is there, or is read from the file. */
static BRIO_ERR prepare(struct access *a, struct held *h, const struct piece *p, bool fresh)
{
    struct brio_held_frame f = brio_coherent_frame(a->c, h->grant.owner, h->grant.frame);
    if (h->grant.ready)
        return BRIO_OK;
    enum brio_err err = brio_coherent_load(a->c, f, p->lo, p->lo + p->len);
    if (err && fresh)
        give_up(a, h);
    else
        h->grant.ready = f.frame->whole;
    return err;
}

/* Through a frame of this crew; `fresh`: it is new. */
static BRIO_ERR move_near(struct access *a, struct held *h, const struct piece *p, bool fresh,
                          struct memory *m, uint32_t *moved)
{
    uint32_t len = p->len;
    enum brio_err err = BRIO_OK;
    if (a->io->dir == BRIO_READ) {
        brio_off off = p->page * a->c->page + p->lo;
        err = prepare(a, h, p, fresh);
        if (!err)
            err = ask_size(a, off + len);
        if (err)
            return err;
        len = clip(a, off, len);
    }
    struct brio_held_frame f = brio_coherent_frame(a->c, h->grant.owner, h->grant.frame);
    if (a->io->dir == BRIO_WRITE)
        err = brio_coherent_dirty(a->c, f, p->lo, p->lo + len);
    if (err)
        return err;
    brio_region_touch(&a->c->region, (size_t)(f.bytes + p->lo - a->c->region.mem), len);
    copy(a->io->dir, f.bytes + p->lo, m, len);
    *moved = len;
    return BRIO_OK;
}

/* Through a frame of another crew. */
static BRIO_ERR move_far(struct access *a, struct held *h, const struct piece *p,
                         struct memory *m, uint32_t *moved)
{
    char *bytes = brio_coherent_far_bytes(a->box);
    bool reads = a->io->dir == BRIO_READ;
    while (*moved < p->len && !a->over) {
        uint32_t n = p->len - *moved < a->c->far_most ? p->len - *moved : a->c->far_most;
        uint32_t lo = p->lo + *moved;
        brio_off off = p->page * a->c->page + lo;
        const struct brio_part part = {.page = p->page, .lo = lo, .len = n};
        enum brio_err err = BRIO_OK;
        if (reads)
            err = ask_size(a, off + n); /* first, for it takes the box */
        else
            copy(BRIO_WRITE, bytes, m, n);
        if (!err)
            err = brio_coherent_far(a->c, a->box, a->io->dir, &part, &h->grant);
        if (err)
            return err;
        if (reads) {
            n = clip(a, off, n);
            copy(BRIO_READ, bytes, m, n);
        }
        *moved += n;
    }
    return BRIO_OK;
}

/* *moved: bytes of the piece that are certain now, or will be with move_straight. */
static BRIO_ERR move_piece(struct access *a, const struct piece *p, struct memory *m,
                           uint32_t *moved)
{
    struct brio_coherent *c = a->c;
    struct held *h;
    *moved = 0;
    enum brio_err err = reach(a, p->page, &h);
    if (err || a->over)
        return err;
    bool fresh = h->grant.owner < 0 && !a->past;
    atomic_fetch_add_explicit(&c->asked, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->found, h->grant.owner >= 0, memory_order_relaxed);
    if (fresh)
        settle_page(a, h);
    if (h->grant.owner < 0) {
        if (a->from == a->to)
            a->from = p->pos;
        a->to = p->pos + p->len;
        a->end = brio_max(a->end, p->page * c->page + p->lo + p->len);
        skip(m, p->len);
        *moved = p->len;
        return BRIO_OK;
    }
    err = move_straight(a);
    if (err || a->over)
        return err;
    if (c->member_of[h->grant.owner] >= 0)
        err = move_near(a, h, p, fresh, m, moved);
    else
        err = move_far(a, h, p, m, moved);
    if (!err && a->io->dir == BRIO_WRITE)
        err = extend(a, p->page * c->page + p->lo + *moved);
    return err;
}

/* One stretch of the file, page by page; *moved as above. */
static BRIO_ERR move_stretch(struct access *a, const struct brio_stretch *s, struct iovec *iov,
                             brio_off pos, brio_off *moved)
{
    struct memory m = {.iov = iov};
    brio_off page = a->c->page;
    enum brio_err err = BRIO_OK;
    *moved = 0;
    while (*moved < s->len && !err && !a->over) {
        brio_off off = s->off + *moved;
        uint32_t n;
        struct piece p = {
            .page = off / page, .lo = (uint32_t)(off % page), .pos = pos + *moved};
        p.len = (uint32_t)brio_min(s->len - *moved, page - p.lo);
        err = move_piece(a, &p, &m, &n);
        *moved += n;
    }
    return err;
}

/* What is certain: all before a transfer that did not take place. */
static struct brio_result conclude(struct access *a, enum brio_err err, brio_off moved)
{
    enum brio_err last = err ? BRIO_OK : move_straight(a);
    if (a->from < a->to)
        moved = brio_min(moved, a->from);
    char text[BRIO_ERR_TEXT];
    if (!err)
        err = last;
    if (err)
        brio_err_save(text);
    enum brio_err freed = release(a);
    if (err)
        brio_err_restore(text);
    return (struct brio_result){.err = err ? err : freed, .bytes = moved};
}

struct brio_result brio_coherent_access(void *self, const struct brio_io *io)
{
    struct brio_coherent *c = self;
    struct access a = {.c = c, .io = io, .past = io->bytes > c->bound, .atomic = c->atomic};
    struct brio_walk walk;
    struct iovec iov[MAX_IOV];
    struct brio_stretch s;
    brio_off done = 0;
    if (io->bytes == 0)
        return (struct brio_result){.err = BRIO_OK};
    if (c->courier) /* before anything is held that others wait for */
        a.box = brio_courier_take(c->courier, BRIO_BLOCK);
    enum brio_err err = a.atomic ? hold_all(&a) : BRIO_OK;
    brio_walk_init(&walk, io);
    while (!err && !a.over && brio_walk_next(&walk, 1 << 30, MAX_IOV, iov, &s)) {
        brio_off moved;
        err = move_stretch(&a, &s, iov, done, &moved);
        done += moved;
    }
    struct brio_result result = conclude(&a, err, done);
    if (a.box)
        brio_courier_give(c->courier, a.box);
    free(a.held);
    return result;
}
