/* A gate per window buffer says whose turn it is. Its number is the run and how often the
 * buffer has changed hands in it, so a rank that is late or early never mistakes a signal. */
#include "fcoll/rounds.h"

#include <stdatomic.h>
#include <string.h>

#include "type/cut.h"
#include "type/pack.h"

enum {
    BUFFERS = 2, /* of an owner */
    PAGE = 4096
};

struct gate {
    _Atomic uint64_t turn;  /* run << 32 | times the owner was done with the buffer */
    _Atomic uint32_t count; /* ranks that have done their part with what is in it */
    _Atomic int64_t valid;  /* reads: there is data below this offset only */
    char pad[40];
};

/* An owner's corner of the shared memory. */
struct corner {
    struct gate gate[BUFFERS];
    _Atomic int64_t bad[2]; /* by run: the first byte that could not be written */
    char pad[48];
};

struct area {
    _Atomic uint32_t event; /* changes with everything that somebody may wait for */
    _Atomic uint32_t sleepers;
    char pad[56];
    struct corner corner[];
};

static size_t head_bytes(int nowners)
{
    size_t n = sizeof(struct area) + (size_t)nowners * sizeof(struct corner);
    return (n + PAGE - 1) / PAGE * PAGE;
}

size_t brio_rounds_memory(int nowners, brio_off window)
{
    size_t whole = ((size_t)window + PAGE - 1) / PAGE * PAGE;
    return head_bytes(nowners) + (size_t)nowners * BUFFERS * whole;
}

static struct area *area_of(const struct brio_rounds *r)
{
    return (struct area *)(void *)r->region->mem;
}

static struct corner *corner_of(const struct brio_rounds *r, int owner)
{
    return &area_of(r)->corner[owner];
}

/* Where byte 0 of the file would be if the window lay at its place in the buffer: a number,
 * for it may be nowhere. */
static uintptr_t origin(const struct brio_rounds *r, int owner, size_t k, brio_off lo)
{
    const struct brio_plan *plan = r->plan;
    size_t whole = ((size_t)plan->window + PAGE - 1) / PAGE * PAGE;
    size_t buffer = (size_t)owner * BUFFERS + k % BUFFERS;
    return (uintptr_t)r->region->mem + head_bytes(plan->nowners) + buffer * whole -
           (uintptr_t)lo;
}

static uint64_t turn_number(const struct brio_rounds *r, size_t n)
{
    return (uint64_t)r->run << 32 | n;
}

static void signal_all(const struct brio_rounds *r)
{
    struct area *area = area_of(r);
    atomic_fetch_add(&area->event, 1);
    if (atomic_load(&area->sleepers) > 0)
        brio_rouse(&area->event);
}

static void wait_for_event(const struct brio_rounds *r, uint32_t seen, int *round)
{
    struct area *area = area_of(r);
    atomic_fetch_add(&area->sleepers, 1);
    brio_doze(r->team, &area->event, seen, round);
    atomic_fetch_sub(&area->sleepers, 1);
}

/* ---- As a source of data, or a sink -------------------------------------------------- */

static void copy(const struct brio_rounds *r, uintptr_t base, brio_off pos, brio_off bytes)
{
    const struct brio_io *io = r->io;
    struct brio_cursor file, mem;
    brio_cursor_init(&file, r->plan->mine, pos);
    brio_cursor_init(&mem, io->mem, io->mem_pos + pos);
    if (io->dir == BRIO_WRITE)
        brio_copy((void *)base, &file, io->buf, &mem, bytes);
    else
        brio_copy(io->buf, &mem, (const void *)base, &file, bytes);
}

/* This rank's part of window k, if it is its turn. */
static bool visit(struct brio_rounds *r, int owner, size_t k, brio_off pos, brio_off bytes)
{
    const struct brio_window *w = &r->plan->owners[owner].windows[k];
    struct gate *gate = &corner_of(r, owner)->gate[k % BUFFERS];
    bool write = r->io->dir == BRIO_WRITE;
    uint64_t due = turn_number(r, k / BUFFERS + !write);
    if (atomic_load(&gate->turn) != due)
        return false;
    if (!write) {
        brio_off valid = brio_cut_below(r->plan->mine, atomic_load(&gate->valid)) - pos;
        if (valid < bytes) {
            bytes = brio_max(valid, 0);
            r->moved = brio_min(r->moved, pos + bytes);
        }
    }
    if (bytes > 0)
        copy(r, origin(r, owner, k, w->lo), pos, bytes);
    atomic_fetch_add(&gate->count, 1);
    signal_all(r);
    return true;
}

/* As many windows of the owner as are ready. */
static bool pump_source(struct brio_rounds *r, int a)
{
    const struct brio_owner *owner = &r->plan->owners[a];
    bool any = false;
    while (r->next[a] < owner->nwindows) {
        const struct brio_window *w = &owner->windows[r->next[a]];
        brio_off from = brio_cut_below(r->plan->mine, w->lo);
        brio_off to = brio_cut_below(r->plan->mine, w->hi);
        if (from < to) {
            if (!visit(r, a, r->next[a], from, to - from))
                return any;
            any = true;
        }
        r->next[a]++;
    }
    r->next[a]++; /* beyond the last: this rank is through with the owner */
    r->nopen--;
    return true;
}

/* ---- As an owner --------------------------------------------------------------------- */

/* The touched bytes of window k, from the buffer or into it. */
static struct brio_io window_io(const struct brio_rounds *r, size_t k)
{
    const struct brio_plan *plan = r->plan;
    const struct brio_window *w = &plan->owners[plan->own].windows[k];
    brio_off from = brio_cut_below(plan->touched, w->lo);
    return (struct brio_io){
        .dir = r->io->dir,
        .file = plan->touched,
        .base = r->shift,
        .pos = from,
        .mem = plan->touched,
        .buf = (void *)origin(r, plan->own, k, w->lo),
        .mem_pos = from,
        .bytes = brio_cut_below(plan->touched, w->hi) - from,
    };
}

/* What the access of window k moved: where data ends, and what went wrong. */
static void note_result(struct brio_rounds *r, size_t k)
{
    const struct brio_plan *plan = r->plan;
    struct corner *corner = corner_of(r, plan->own);
    struct brio_io io = window_io(r, k);
    const struct brio_result *result = &r->ticket.result;
    brio_off end = plan->owners[plan->own].windows[k].hi;
    if (result->bytes < io.bytes) {
        end = brio_map_offset(plan->touched, io.pos + result->bytes);
        r->is_short = true;
    }
    atomic_store(&corner->gate[k % BUFFERS].valid, end);
    if (result->err && !r->err) {
        r->err = result->err;
        memcpy(r->text, r->ticket.text, sizeof r->text);
        atomic_store(&corner->bad[r->run & 1], end);
    }
}

/* True if window k's buffer is the owner's now: filled by all, or left by all. */
static bool may_access(const struct brio_rounds *r, size_t k, struct gate *gate)
{
    const struct brio_window *w = r->plan->owners[r->plan->own].windows;
    if (r->io->dir == BRIO_WRITE)
        return atomic_load(&gate->count) == (uint32_t)w[k].nsources;
    return k < BUFFERS || atomic_load(&gate->count) == (uint32_t)w[k - BUFFERS].nsources;
}

/* One step of the owner's work; after a failure windows are only passed on. */
static bool pump_owner(struct brio_rounds *r, enum brio_wait how)
{
    const struct brio_plan *plan = r->plan;
    size_t k = r->window;
    if (plan->own < 0 || k == plan->owners[plan->own].nwindows)
        return false;
    struct gate *gate = &corner_of(r, plan->own)->gate[k % BUFFERS];
    if (!r->busy) {
        if (!may_access(r, k, gate))
            return false;
        struct brio_io io = window_io(r, k);
        r->busy = true;
        r->ticket = (struct brio_ticket){.done = false};
        if (r->err)
            r->ticket.done = true;
        else
            r->lane->ops->submit(r->lane->self, &io, how, &r->ticket);
    }
    if (!r->ticket.done)
        r->lane->ops->reap(r->lane->self, &r->ticket, how);
    if (!r->ticket.done)
        return false;
    note_result(r, k);
    r->busy = false;
    r->window++;
    atomic_store(&gate->count, 0);
    atomic_store(&gate->turn, turn_number(r, k / BUFFERS + 1));
    signal_all(r);
    return true;
}

void brio_rounds_start(struct brio_rounds *r)
{
    const struct brio_plan *plan = r->plan;
    r->run = ++r->region->runs;
    r->nopen = plan->nowners;
    r->moved = r->io->bytes;
    r->window = 0;
    r->busy = false;
    r->err = BRIO_OK;
    r->is_short = false;
    memset(r->next, 0, (size_t)plan->nowners * sizeof *r->next);
    if (plan->own < 0)
        return;
    struct corner *corner = corner_of(r, plan->own);
    atomic_store(&corner->bad[r->run & 1], BRIO_OFF_MAX);
    for (int i = 0; i < BUFFERS; i++) {
        atomic_store(&corner->gate[i].count, 0);
        atomic_store(&corner->gate[i].turn, turn_number(r, 0));
    }
    signal_all(r);
}

static bool is_done(const struct brio_rounds *r)
{
    const struct brio_plan *plan = r->plan;
    return r->nopen == 0 && (plan->own < 0 || r->window == plan->owners[plan->own].nwindows);
}

/* Owners in a different order on each rank, so that not all begin with the first. */
static bool pump(struct brio_rounds *r, enum brio_wait how)
{
    int n = r->plan->nowners;
    bool any = pump_owner(r, how);
    for (int i = 0; i < n; i++) {
        int a = (i + r->team->rank * n / r->team->nranks) % n;
        if (r->next[a] <= r->plan->owners[a].nwindows)
            any |= pump_source(r, a);
    }
    return any;
}

bool brio_rounds_step(struct brio_rounds *r, enum brio_wait how)
{
    int round = 0;
    while (!is_done(r)) {
        uint32_t seen = atomic_load(&area_of(r)->event);
        if (pump(r, how)) {
            round = 0;
            continue;
        }
        if (how == BRIO_POLL)
            return false;
        wait_for_event(r, seen, &round);
    }
    return true;
}

brio_off brio_rounds_moved(const struct brio_rounds *r)
{
    const struct brio_plan *plan = r->plan;
    brio_off moved = r->moved;
    for (int a = 0; a < plan->nowners; a++) {
        brio_off bad = atomic_load(&corner_of(r, a)->bad[r->run & 1]);
        brio_off from = brio_cut_below(plan->mine, bad);
        if (bad < plan->owners[a].hi && from < brio_cut_below(plan->mine, plan->owners[a].hi))
            moved = brio_min(moved, from);
    }
    return moved;
}
