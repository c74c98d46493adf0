/* Keepers of buffers: owners, who access the file, and leaders, who send a box to an owner
 * elsewhere or get one from it. Messages of a pair of ranks keep their order, and so do the
 * windows, so that one tag is enough. */
#include <stdatomic.h>
#include <string.h>

#include "comm/real.h"
#include "fcoll/rounds.h"
#include "type/cut.h"
#include "type/pack.h"
#include "type/stream.h"

enum {
    TAG = 1
};

static const struct brio_owner *owner_of(const struct brio_rounds *r,
                                         const struct brio_keeper *keeper)
{
    return &r->plan->owners[keeper->owner];
}

static bool arrived(MPI_Request *req)
{
    return *req == MPI_REQUEST_NULL || brio_real_test(req);
}

/* ---- An owner and the other crews ------------------------------------------------------ */

/* Bytes of the message for window k, or 0 if there is none. A box holds no more than a window
 * may (the inspector's cut_windows), which goes into one message (brio_worth_window). */
static int message_bytes(const struct brio_rounds *r, const struct brio_post *post, size_t k)
{
    brio_off bytes = brio_plan_share(r->plan, r->crew, post->crew, r->plan->nranks, k, NULL);
    return bytes > 0 ? (int)(bytes + BRIO_BOX_HEAD) : 0;
}

static void count_message(struct brio_rounds *r, int bytes)
{
    brio_count(r->stats, BRIO_N_MESSAGES, 1);
    brio_count(r->stats, BRIO_N_MESSAGE_BYTES, bytes);
}

static void expect(struct brio_rounds *r, size_t k)
{
    for (int i = 0; i < r->nposts; i++) {
        struct brio_post *post = &r->posts[i];
        int n = message_bytes(r, post, k);
        if (n > 0)
            PMPI_Irecv(post->box[k % BRIO_BUFFERS], n, MPI_BYTE, r->crew->leader[post->crew],
                       TAG, r->team->comm, &post->req[k % BRIO_BUFFERS]);
    }
}

/* Bytes of the file that an owner accesses at a time. They lie in memory as in the file:
 * `origin` is where byte 0 of it would be. */
struct stretch {
    brio_off lo, hi;
    uintptr_t origin;
};

/* The i-th of window k: all of it, or what has room on the owner's desk; false: there is none.
 */
static bool stretch_of(const struct brio_rounds *r, size_t k, int i, struct stretch *out)
{
    int own = r->plan->own;
    const struct brio_window *w = &r->plan->owners[own].windows[k];
    if (!r->plan->packed || r->laid == BRIO_LAID_IN_ORDER) {
        *out = (struct stretch){w->lo, w->hi, brio_rounds_origin(r, own, k)};
        return i == 0;
    }
    out->lo = w->lo + (brio_off)i * BRIO_DESK;
    out->hi = brio_min(out->lo + BRIO_DESK, w->hi);
    out->origin = (uintptr_t)brio_area_desk(r->crew, r->plan->nranks, r->buffer, own) -
                  (uintptr_t)out->lo;
    return out->lo < w->hi;
}

/* What was read is put together on the second desk, some strands at a time, and goes past the
 * caches to where it lies packed. */
static void take_apart(struct brio_rounds *r, const struct stretch *s, int n)
{
    const struct brio_strand *strand = r->strands, *end = strand + n;
    struct brio_strand *staged = r->strands + n;
    char *desk = brio_area_desk(r->crew, r->plan->nranks, r->buffer, r->plan->own) + BRIO_DESK;
    while (strand < end) {
        int some = 0;
        brio_off used = 0;
        for (; strand + some < end && used + strand[some].bytes <= BRIO_DESK; some++) {
            staged[some] = strand[some];
            staged[some].flat = desk + used;
            used += strand[some].bytes;
        }
        brio_weave((void *)s->origin, staged, some, BRIO_READ);
        for (used = 0; some > 0; some--, strand++) {
            brio_stream_past(strand->flat, desk + used, (size_t)strand->bytes);
            used += strand->bytes;
        }
    }
}

/* The same of pieces of some lines, strand by strand: what is put together stays in the nearest
 * cache. */
static void take_out(struct brio_rounds *r, const struct stretch *s, int n)
{
    enum {
        NEAREST = 16 << 10
    };
    char *desk = brio_area_desk(r->crew, r->plan->nranks, r->buffer, r->plan->own) + BRIO_DESK;
    for (int i = 0; i < n; i++) {
        const struct brio_strand *strand = &r->strands[i];
        for (brio_off done = 0, some; done < strand->bytes; done += some) {
            some = brio_min(NEAREST, strand->bytes - done);
            brio_pack(desk, strand->map, (void *)s->origin, strand->pos + done, some);
            brio_stream_past(strand->flat + done, desk, (size_t)some);
        }
    }
}

/* Data of a read, from a stretch of the file to where that of each rank of this crew lies
 * packed. */
static void hand_out(struct brio_rounds *r, const struct stretch *s, int n)
{
    if (r->laid != BRIO_LAID_PAST)
        brio_weave((void *)s->origin, r->strands, n, BRIO_READ);
    else if (r->plan->coarse)
        take_out(r, s, n);
    else
        take_apart(r, s, n);
}

/* And of a write, the other way. */
static void gather(struct brio_rounds *r, size_t k, const struct stretch *s, int n,
                   brio_off bytes)
{
    bool past = atomic_load(&brio_area_gate(r->crew, r->plan->own, k)->laid) == BRIO_LAID_PAST;
    int64_t began = brio_now();
    brio_weave((void *)s->origin, r->strands, n, BRIO_WRITE);
    brio_distance_next(brio_rounds_distance(r), BRIO_DISTANCE_WRITE, past, began, bytes);
}

/* Between a stretch of window k and a crew's box: each rank's data packed, ranks in order. */
static void move_box(struct brio_rounds *r, size_t k, const struct stretch *s, int crew,
                     char *box)
{
    const struct brio_plan *plan = r->plan;
    char *at = ((struct brio_box *)(void *)box)->data;
    brio_off sum = 0;
    int n = 0;
    for (int rank = 0; rank < r->team->nranks; rank++) {
        const struct brio_map *map = plan->sources[rank];
        brio_off from, to, mine, end;
        if (!map || r->crew->crew_of[rank] != crew)
            continue;
        brio_window_part(&plan->owners[plan->own], k, map, &from, &to);
        brio_plan_part(plan, plan->own, k, &mine, &end);
        char *part = rank == r->team->rank && r->here ? r->here + mine : at;
        brio_off first = brio_cut_below(map, s->lo), bytes = brio_cut_below(map, s->hi) - first;
        if (bytes > 0) {
            r->strands[n++] = (struct brio_strand){map, first, bytes, part + first - from};
            sum += bytes;
        }
        at += to - from;
    }
    if (crew != r->crew->mine)
        brio_weave((void *)s->origin, r->strands, n, r->io->dir);
    else if (r->io->dir == BRIO_READ)
        hand_out(r, s, n);
    else
        gather(r, k, s, n, sum);
    brio_count(r->stats, BRIO_N_COPIED, sum);
}

/* The same for all boxes, the own crew's among them if that has one. */
static void move_boxes(struct brio_rounds *r, size_t k, const struct stretch *s)
{
    int own = r->plan->own;
    for (int i = 0; i < r->nposts; i++)
        move_box(r, k, s, r->posts[i].crew, r->posts[i].box[k % BRIO_BUFFERS]);
    if (r->plan->packed && r->laid != BRIO_LAID_IN_ORDER)
        move_box(r, k, s, r->crew->mine, brio_rounds_buffer(r, own, k));
}

static void send_boxes(struct brio_rounds *r, size_t k, brio_off valid)
{
    for (int i = 0; i < r->nposts; i++) {
        struct brio_post *post = &r->posts[i];
        struct brio_box *box = (struct brio_box *)(void *)post->box[k % BRIO_BUFFERS];
        int n = message_bytes(r, post, k);
        box->valid = valid;
        if (n > 0) {
            count_message(r, n);
            PMPI_Isend(box, n, MPI_BYTE, r->crew->leader[post->crew], TAG, r->team->comm,
                       &post->req[k % BRIO_BUFFERS]);
        }
    }
}

static bool boxes_done(struct brio_rounds *r, size_t k)
{
    bool done = true;
    for (int i = 0; i < r->nposts; i++)
        done &= arrived(&r->posts[i].req[k % BRIO_BUFFERS]);
    return done;
}

/* ---- An owner and the file ------------------------------------------------------------- */

static struct brio_io stretch_io(const struct brio_rounds *r, const struct stretch *s)
{
    const struct brio_plan *plan = r->plan;
    brio_off from = brio_cut_below(plan->touched, s->lo);
    return (struct brio_io){
        .dir = r->io->dir,
        .file = plan->touched,
        .base = r->shift,
        .pos = from,
        .mem = plan->touched,
        .buf = (void *)s->origin,
        .mem_pos = from,
        .bytes = brio_cut_below(plan->touched, s->hi) - from,
    };
}

struct brio_io brio_window_io(const struct brio_rounds *r, size_t k, uintptr_t origin)
{
    const struct brio_window *w = &r->plan->owners[r->plan->own].windows[k];
    return stretch_io(r, &(struct stretch){w->lo, w->hi, origin});
}

/* The segment of one rank in window k: packed, in the crew's buffer or in a box. */
static struct brio_io segment_io(const struct brio_rounds *r, size_t k, int rank)
{
    const struct brio_plan *plan = r->plan;
    int crew = r->crew->crew_of[rank];
    char *box = brio_rounds_buffer(r, plan->own, k);
    for (int i = 0; i < r->nposts; i++)
        if (r->posts[i].crew == crew)
            box = r->posts[i].box[k % BRIO_BUFFERS];
    brio_off from, to;
    brio_window_part(&plan->owners[plan->own], k, plan->sources[rank], &from, &to);
    return (struct brio_io){
        .dir = r->io->dir,
        .file = plan->sources[rank],
        .base = r->shift,
        .pos = from,
        .mem = r->flat,
        .buf = ((struct brio_box *)(void *)box)->data +
               brio_plan_share(plan, r->crew, crew, rank, k, NULL),
        .bytes = to - from,
    };
}

/* The next access of window k that has any bytes; false if there is none. */
static bool next_access(const struct brio_rounds *r, struct brio_keeper *keeper,
                        struct brio_io *out)
{
    struct stretch s;
    if (owner_of(r, keeper)->segment == 0) {
        for (; stretch_of(r, keeper->window, keeper->part, &s); keeper->part++) {
            *out = stretch_io(r, &s);
            if (out->bytes > 0)
                return true;
        }
        return false;
    }
    for (; keeper->part < r->plan->nranks; keeper->part++) {
        if (!r->plan->sources[keeper->part])
            continue;
        *out = segment_io(r, keeper->window, keeper->part);
        if (out->bytes > 0)
            return true;
    }
    return false;
}

/* What the access at hand has in boxes is moved there, or fetched. Segments are accessed where
 * they lie. */
static void serve_boxes(struct brio_rounds *r, const struct brio_keeper *keeper)
{
    struct stretch s;
    enum brio_phase before = brio_phase(r->stats, BRIO_PHASE_EXCHANGE);
    if (owner_of(r, keeper)->segment == 0 && stretch_of(r, keeper->window, keeper->part, &s)) {
        s.hi = brio_min(s.hi, keeper->valid);
        move_boxes(r, keeper->window, &s);
    }
    brio_phase(r->stats, before);
}

/* What an access moved: where data ends, and what went wrong. */
static void note_result(struct brio_rounds *r, struct brio_keeper *keeper,
                        const struct brio_io *io)
{
    const struct brio_result *result = &r->ticket.result;
    if (result->bytes < io->bytes)
        keeper->valid =
            brio_min(keeper->valid, brio_map_offset(io->file, io->pos + result->bytes));
    if (result->err && !r->err) {
        r->err = result->err;
        memcpy(r->text, r->ticket.text, sizeof r->text);
    }
    if (r->err)
        r->bad = brio_min(r->bad, keeper->valid);
}

/* Everything of window k; after a failure it is only passed on. */
static bool access_all(struct brio_rounds *r, struct brio_keeper *keeper, enum brio_wait how)
{
    struct brio_io io;
    while (next_access(r, keeper, &io)) {
        if (!keeper->busy) {
            keeper->busy = true;
            brio_ticket_init(&r->ticket, false);
            if (r->io->dir == BRIO_WRITE && !r->err)
                serve_boxes(r, keeper);
            if (r->err)
                r->ticket.done = true;
            else
                r->lane->ops->submit(r->lane->self, &io, how, &r->ticket);
        }
        if (!r->ticket.done)
            r->lane->ops->reap(r->lane->self, &r->ticket, how);
        if (!r->ticket.done)
            return false;
        note_result(r, keeper, &io);
        if (r->io->dir == BRIO_READ)
            serve_boxes(r, keeper);
        keeper->busy = false;
        keeper->part++;
    }
    return true;
}

/* Data bytes of the window. */
static brio_off bytes_of(const struct brio_rounds *r, size_t k)
{
    return brio_window_io(r, k, 0).bytes;
}

/* How the window comes to its crew: past all caches, or straight, and then packed or, if that
 * is no worse for them, as it is read. */
static void lay(struct brio_rounds *r, size_t k)
{
    const struct brio_owner *owner = &r->plan->owners[r->plan->own];
    r->laid = BRIO_LAID_PACKED;
    r->use = (struct brio_use){.other = false};
    if (!r->plan->packed || r->io->dir == BRIO_WRITE || owner->segment > 0)
        return;
    r->use = brio_distance_begin(brio_rounds_distance(r), brio_rounds_reads(r), bytes_of(r, k));
    if (r->use.other)
        r->laid = BRIO_LAID_PAST;
    else if (r->plan->coarse && r->crew->ncrews == 1 &&
             owner->windows[k].hi - owner->windows[k].lo <= r->buffer)
        r->laid = BRIO_LAID_IN_ORDER;
}

static void note_cost(const struct brio_rounds *r, size_t k)
{
    if (r->use.began > 0 && !r->err)
        brio_distance_end(brio_rounds_distance(r), brio_rounds_reads(r), &r->use,
                          bytes_of(r, k));
}

/* True when window k has been accessed, and what other crews have to do with it is done. */
static bool access_file(struct brio_rounds *r, struct brio_keeper *keeper, enum brio_wait how)
{
    size_t k = keeper->window;
    if (!keeper->begun) {
        keeper->begun = true;
        keeper->part = 0;
        brio_count(r->stats, BRIO_N_WINDOWS, 1);
        keeper->valid = BRIO_OFF_MAX;
        lay(r, k);
    }
    enum brio_phase before = brio_phase(r->stats, BRIO_PHASE_FILE);
    bool done = access_all(r, keeper, how);
    brio_phase(r->stats, before);
    if (!done)
        return false;
    note_cost(r, k);
    if (r->io->dir == BRIO_READ)
        send_boxes(r, k, keeper->valid);
    else if (k + BRIO_BUFFERS < owner_of(r, keeper)->nwindows)
        expect(r, k + BRIO_BUFFERS);
    return true;
}

/* ---- A leader and an owner elsewhere --------------------------------------------------- */

static bool exchange_box(struct brio_rounds *r, struct brio_keeper *keeper)
{
    size_t k = keeper->window;
    const struct brio_owner *owner = owner_of(r, keeper);
    int n = (int)(owner->windows[k].box_bytes + BRIO_BOX_HEAD);
    char *buffer = brio_rounds_buffer(r, keeper->owner, k);
    if (!keeper->begun) {
        keeper->begun = true;
        if (r->io->dir == BRIO_WRITE) {
            count_message(r, n);
            PMPI_Isend(buffer, n, MPI_BYTE, owner->rank, TAG, r->team->comm, &keeper->req);
        } else
            PMPI_Irecv(buffer, n, MPI_BYTE, owner->rank, TAG, r->team->comm, &keeper->req);
    }
    if (!arrived(&keeper->req))
        return false;
    keeper->valid = ((struct brio_box *)(void *)buffer)->valid;
    return true;
}

/* ---- Keepers --------------------------------------------------------------------------- */

/* Wakes the ranks of the crew that have a part in the owner's windows; who they are only the
 * owner knows. */
static void call_sources(const struct brio_rounds *r, const struct brio_keeper *keeper)
{
    const struct brio_plan *plan = r->plan;
    bool own = keeper->owner == plan->own;
    for (int rank = 0; rank < plan->nranks; rank++)
        if (r->crew->crew_of[rank] == r->crew->mine && rank != r->team->rank &&
            (!own || plan->sources[rank]))
            brio_rounds_ring(r, rank);
}

/* Lets the crew do its part with window k; beyond the last there is nothing to do. */
static void open_gate(struct brio_rounds *r, const struct brio_keeper *keeper, size_t k)
{
    const struct brio_owner *owner = owner_of(r, keeper);
    struct brio_gate *gate = brio_area_gate(r->crew, keeper->owner, k);
    int sources = k < owner->nwindows ? owner->windows[k].nsources : 0;
    atomic_store(&gate->left, (uint32_t)sources);
    if (r->io->dir == BRIO_READ)
        atomic_store(&gate->laid, r->laid);
    atomic_store(&gate->turn, brio_turn(r, k));
    if (sources > 0 && !brio_rounds_was_filled(r, k))
        call_sources(r, keeper);
}

/* An owner says how the run ended, if it has no window left; the last one wakes the others. */
static void end(struct brio_rounds *r, const struct brio_keeper *keeper)
{
    if (keeper->owner != r->plan->own || keeper->window < owner_of(r, keeper)->nwindows)
        return;
    struct brio_area *area = brio_area_of(r->crew);
    uint64_t run = (uint64_t)r->run << 32, seen = atomic_load(&area->ended), now;
    do
        now = ((seen >> 32 == r->run ? seen : run) | (r->err ? BRIO_END_FAILED : 0)) + 1;
    while (!atomic_compare_exchange_weak(&area->ended, &seen, now));
    if (brio_rounds_ended(r))
        brio_bell_ring(&area->over);
}

/* Before a run all have done their parts in the last one: of a read there is nothing to open
 * yet. */
void brio_keeper_start(struct brio_rounds *r, struct brio_keeper *keeper)
{
    bool open = r->io->dir == BRIO_WRITE;
    for (size_t k = 0; k < BRIO_BUFFERS && open; k++) {
        open_gate(r, keeper, k);
        if (keeper->owner == r->plan->own && k < owner_of(r, keeper)->nwindows)
            expect(r, k);
    }
    end(r, keeper);
}

/* True if window k's buffer is the keeper's now: filled by all, or left by all. */
static bool may_take(struct brio_rounds *r, const struct brio_keeper *keeper)
{
    size_t k = keeper->window;
    if (brio_rounds_was_filled(r, k))
        return true;
    bool boxes = keeper->owner != r->plan->own || boxes_done(r, k);
    return boxes && atomic_load(&brio_area_gate(r->crew, keeper->owner, k)->left) == 0;
}

/* A leader passes over windows that its crew has no part in. */
static bool pass_over(const struct brio_rounds *r, const struct brio_keeper *keeper)
{
    return keeper->owner != r->plan->own &&
           owner_of(r, keeper)->windows[keeper->window].box_bytes == 0;
}

bool brio_keeper_pump(struct brio_rounds *r, struct brio_keeper *keeper, enum brio_wait how)
{
    size_t k = keeper->window;
    if (k == owner_of(r, keeper)->nwindows)
        return false;
    if (!keeper->begun && !may_take(r, keeper))
        return false;
    if (!pass_over(r, keeper)) {
        bool done = keeper->owner == r->plan->own ? access_file(r, keeper, how)
                                                  : exchange_box(r, keeper);
        if (!done)
            return false;
    }
    keeper->begun = false;
    keeper->window++;
    atomic_store(&brio_area_gate(r->crew, keeper->owner, k)->valid, keeper->valid);
    size_t next = r->io->dir == BRIO_READ ? k : k + BRIO_BUFFERS;
    open_gate(r, keeper, next);
    end(r, keeper);
    return true;
}

bool brio_keeper_done(const struct brio_rounds *r, const struct brio_keeper *keeper)
{
    if (keeper->window < owner_of(r, keeper)->nwindows)
        return false;
    if (keeper->owner != r->plan->own)
        return true;
    bool done = true;
    for (int i = 0; i < r->nposts; i++)
        for (int k = 0; k < BRIO_BUFFERS; k++)
            done &= arrived(&r->posts[i].req[k]);
    return done;
}
