/* Bytes by the POSIX calls: at once when the caller waits, else by the lane's threads. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "fbtl/fbtl.h"
#include "fbtl/move.h"
#include "lane/pool.h"
#include "lane/sieve.h"
#include "type/pack.h"

struct conf {
    enum brio_switch ds_read, ds_write;
    brio_off rd_window, wr_window;
};

static const struct brio_hint hints[] = {
    {.name = "ds_read",
     .aliases = "romio_ds_read",
     .kind = BRIO_HINT_SWITCH,
     .offset = offsetof(struct conf, ds_read),
     .def = "automatic",
     .help = "Read small pieces that lie close together with the gaps between them."},
    {.name = "ds_write",
     .aliases = "romio_ds_write",
     .kind = BRIO_HINT_SWITCH,
     .offset = offsetof(struct conf, ds_write),
     .def = "automatic",
     .help = "Write small pieces that lie close together through a mapping of the file; gaps "
             "are never written."},
    {.name = "ind_rd_buffer_size",
     .kind = BRIO_HINT_BYTES,
     .offset = offsetof(struct conf, rd_window),
     .def = "1m",
     .min = 4096,
     .max = 1 << 30,
     .help = "Bytes of the file read at once with the gaps."},
    {.name = "ind_wr_buffer_size",
     .kind = BRIO_HINT_BYTES,
     .offset = offsetof(struct conf, wr_window),
     .def = "16m",
     .min = 4096,
     .max = 1 << 30,
     .help = "Bytes of the file mapped at once for writing."},
    {0}};

struct buffer {
    size_t size;
    char data[] __attribute__((aligned(64)));
};

struct posix {
    struct brio_target to;
    struct brio_sieve sieve;
    struct brio_map *flat;          /* contiguous bytes */
    _Atomic(struct buffer *) spare; /* kept from one access to the next */
};

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)facts;
    (void)conf;
    return brio_answer(10, "a descriptor is all it needs");
}

/* NULL if there is no memory. */
static struct buffer *take_buffer(struct posix *p, brio_off size)
{
    struct buffer *b = atomic_exchange(&p->spare, NULL);
    if (b && b->size >= (size_t)size)
        return b;
    free(b);
    size_t whole = (sizeof *b + (size_t)size + 63) / 64 * 64;
    b = aligned_alloc(64, whole);
    if (b)
        b->size = whole - sizeof *b;
    return b;
}

static void give_buffer(struct posix *p, struct buffer *b)
{
    free(atomic_exchange(&p->spare, b));
}

static struct brio_result pack(struct posix *p, const struct brio_io *io)
{
    struct buffer *b = take_buffer(p, io->bytes);
    if (!b)
        return brio_move_stretches(&p->to, io);
    struct brio_io packed = *io;
    packed.mem = p->flat;
    packed.mem_pos = 0;
    packed.buf = b->data;
    if (io->dir == BRIO_WRITE)
        brio_pack(b->data, io->mem, io->buf, io->mem_pos, io->bytes);
    struct brio_result r = brio_move_stretches(&p->to, &packed);
    if (io->dir == BRIO_READ && r.bytes > 0)
        brio_unpack(io->buf, io->mem, b->data, io->mem_pos, r.bytes);
    give_buffer(p, b);
    brio_count(p->to.stats, BRIO_N_COPIED, r.bytes);
    return r;
}

static struct brio_io rest(const struct brio_io *io, brio_off moved)
{
    struct brio_io r = *io;
    r.pos += moved;
    r.mem_pos += moved;
    r.bytes -= moved;
    return r;
}

/* A failure in the window may have been in a gap; reading the rest piece by piece tells. */
static struct brio_result read_window(struct posix *p, const struct brio_io *io,
                                      const struct brio_bite *bite)
{
    struct brio_cursor file, mem;
    struct buffer *b = take_buffer(p, bite->hi - bite->lo);
    if (!b)
        return brio_move_stretches(&p->to, io);
    struct brio_result got =
        brio_move_flat(&p->to, BRIO_READ, b->data, bite->lo, bite->hi - bite->lo);
    brio_off n = io->bytes, end = bite->lo + got.bytes;
    if (end < bite->hi)
        n = brio_map_below(io->file, end - io->base) - io->pos;
    if (n > 0) {
        brio_cursor_init(&file, io->file, io->pos);
        brio_cursor_init(&mem, io->mem, io->mem_pos);
        /* Where offset 0 of the pattern would be; a number, for it may be nowhere. */
        uintptr_t origin = (uintptr_t)b->data + (uintptr_t)(io->base - bite->lo);
        brio_copy(io->buf, &mem, (const void *)origin, &file, n);
    }
    give_buffer(p, b);
    brio_count(p->to.stats, BRIO_N_COPIED, n);
    brio_count(p->to.stats, BRIO_N_HOLES, got.bytes - n);
    if (got.err == BRIO_OK)
        return (struct brio_result){BRIO_OK, n};
    struct brio_io left = rest(io, n);
    struct brio_result r = brio_move_stretches(&p->to, &left);
    r.bytes += n;
    return r;
}

static struct brio_result move_bite(struct posix *p, const struct brio_io *io,
                                    const struct brio_bite *bite)
{
    if (bite->way == BRIO_WAY_PACK)
        return pack(p, io);
    if (bite->way == BRIO_WAY_WINDOW && io->dir == BRIO_READ)
        return read_window(p, io, bite);
    if (bite->way == BRIO_WAY_WINDOW && brio_move_mapped(&p->to, io, bite->lo, bite->hi))
        return (struct brio_result){BRIO_OK, io->bytes};
    return brio_move_stretches(&p->to, io);
}

static struct brio_result move_pieces(struct posix *p, const struct brio_io *io)
{
    struct brio_result all = {BRIO_OK, 0};
    while (all.bytes < io->bytes) {
        struct brio_io left = rest(io, all.bytes);
        struct brio_bite bite;
        brio_sieve_next(&p->sieve, &left, &bite);
        left.bytes = bite.bytes;
        struct brio_result r = move_bite(p, &left, &bite);
        all.bytes += r.bytes;
        all.err = r.err;
        if (r.bytes < bite.bytes)
            break;
    }
    return all;
}

/* A long dense access in chunks of the file, for two threads. */
enum {
    CHUNK = 16 << 20,
    MAX_CHUNKS = 1024
};

struct chunks {
    struct posix *p;
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
    struct brio_io part = rest(&c->io, from);
    part.bytes = to - from;
    struct brio_result r = {BRIO_OK, 0};
    if (part.bytes > 0)
        r = move_pieces(c->p, &part);
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

/* True if the access was long and dense enough, and is done. */
static bool move_shared(struct posix *p, const struct brio_io *io, struct brio_result *out)
{
    struct brio_bite bite;
    void *mem;
    if (io->bytes < CHUNK / 64) /* denser than any that is cut in windows */
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
    /* At once for all: the page that holds the byte is a small one, and would be in the way
     * of a large one at the end of each window. */
    if (io->dir == BRIO_WRITE)
        (void)brio_move_reach(&p->to, io, hi);
    brio_pool_share(move_chunk, &c, c.n);
    *out = sum_chunks(&c);
    pthread_mutex_destroy(&c.lock);
    free(c.result);
    return true;
}

/* True if the access is one piece on that side; *off is then where it begins. */
static inline bool one_piece(const struct brio_map *map, brio_off pos, brio_off bytes,
                             brio_off *off)
{
    if (!map->contiguous)
        return brio_map_is_piece(map, pos, bytes, off);
    *off = pos;
    return true;
}

static struct brio_result move(struct posix *p, const struct brio_io *io)
{
    struct brio_result r;
    brio_off off, at;
    if (io->bytes <= 0)
        return (struct brio_result){BRIO_OK, 0};
    if (one_piece(io->file, io->pos, io->bytes, &off) &&
        one_piece(io->mem, io->mem_pos, io->bytes, &at))
        return brio_move_flat(&p->to, io->dir, (char *)io->buf + at, io->base + off, io->bytes);
    return move_shared(p, io, &r) ? r : move_pieces(p, io);
}

/* An access that a thread of the pool does. */
struct task {
    struct brio_job job; /* first: the pool gives it back */
    struct posix *p;
    struct brio_io io;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool done;
    struct brio_result result;
    char text[BRIO_ERR_TEXT];
};

static void run(struct brio_job *job)
{
    struct task *task = (struct task *)job;
    int64_t began = brio_now();
    struct brio_result r = move(task->p, &task->io);
    brio_count(task->p->to.stats, BRIO_N_PHASE + BRIO_PHASE_FILE, brio_now() - began);
    pthread_mutex_lock(&task->lock);
    task->result = r;
    if (r.err)
        brio_err_save(task->text);
    task->done = true;
    /* Under the lock: behind it the task may be gone. */
    pthread_cond_signal(&task->over);
    pthread_mutex_unlock(&task->lock);
}

static bool hand_over(struct posix *p, const struct brio_io *io, struct brio_ticket *ticket)
{
    void *mem;
    if (brio_calloc(1, sizeof(struct task), &mem))
        return false;
    struct task *task = mem;
    task->job.run = run;
    task->p = p;
    task->io = *io;
    pthread_mutex_init(&task->lock, NULL);
    pthread_cond_init(&task->over, NULL);
    ticket->done = false;
    ticket->state = task;
    if (brio_pool_submit(&task->job) == BRIO_OK)
        return true;
    free(task);
    return false;
}

static void submit(void *self, const struct brio_io *io, enum brio_wait how,
                   struct brio_ticket *ticket)
{
    if (how == BRIO_POLL && io->bytes > 0 && hand_over(self, io, ticket))
        return;
    brio_ticket_finish(ticket, move(self, io));
}

static void reap(void *self, struct brio_ticket *ticket, enum brio_wait how)
{
    (void)self;
    if (ticket->done)
        return;
    struct task *task = ticket->state;
    pthread_mutex_lock(&task->lock);
    while (!task->done && how == BRIO_BLOCK)
        pthread_cond_wait(&task->over, &task->lock);
    bool done = task->done;
    pthread_mutex_unlock(&task->lock);
    if (!done)
        return;
    if (task->result.err)
        brio_err_restore(task->text);
    brio_ticket_finish(ticket, task->result);
    pthread_cond_destroy(&task->over);
    pthread_mutex_destroy(&task->lock);
    free(task);
}

static BRIO_ERR flush(void *self)
{
    (void)self;
    return BRIO_OK; /* nothing is kept back */
}

static const struct brio_lane_ops ops = {submit, reap, flush};

static BRIO_ERR open_posix(const struct brio_store *store, const void *conf,
                           struct brio_lane *out)
{
    const struct conf *c = conf;
    void *mem;
    if (store->fd < 0)
        return brio_fail(BRIO_EUNSUPOP, "fbtl/posix needs a file descriptor");
    enum brio_err err = brio_calloc(1, sizeof(struct posix), &mem);
    if (err)
        return err;
    struct posix *p = mem;
    brio_off block = store->block_size;
    p->to = (struct brio_target){.fd = store->fd,
                                 .block = block > 0 && !(block & (block - 1)) ? block : 4096,
                                 .stats = store->stats};
    p->sieve = (struct brio_sieve){.read = c->ds_read,
                                   .write = c->ds_write,
                                   .read_window = c->rd_window,
                                   .write_window = c->wr_window,
                                   .mapped = store->local && store->mappable &&
                                             store->readable && store->writable};
    err = brio_map_bytes(1, &p->flat);
    if (err) {
        free(p);
        return err;
    }
    *out = (struct brio_lane){.ops = &ops, .self = p};
    return BRIO_OK;
}

static void close_posix(struct brio_lane *lane)
{
    struct posix *p = lane->self;
    brio_map_unref(p->flat);
    free(atomic_load(&p->spare));
    free(p);
    lane->self = NULL;
}

const struct brio_fbtl brio_fbtl_posix = {
    .base = {.name = "posix",
             .about = "pread, pwrite and their vectored forms",
             .hints = hints,
             .conf_size = sizeof(struct conf),
             .query = query},
    .open = open_posix,
    .close = close_posix,
};
