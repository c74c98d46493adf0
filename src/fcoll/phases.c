/* Rounds of phases. A rank without memory for a parcel says so at the verdict and goes on
 * with what it has: the partners count on its messages, not on what is in them. */
#include "fcoll/phases.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "type/cut.h"
#include "type/pack.h"

enum {
    TAG = 8, /* and one more for each phase */
    HEAD = 4 /* words of a parcel in a message: from, to, bytes, valid */
};

static void fail(struct brio_phases *p, enum brio_err err)
{
    struct brio_rounds *r = p->rounds;
    r->bad = -1; /* also after an access that failed: parcels may be lost, anybody's */
    if (r->err)
        return;
    r->err = err;
    brio_err_save(r->text);
}

/* ---- Parcels ------------------------------------------------------------------------- */

/* A new parcel, its data still to be filled in; NULL if there is no memory. */
static struct brio_parcel *add_parcel(struct brio_phases *p, int64_t from, int64_t to,
                                      int64_t bytes)
{
    if (p->nparcels == p->room) {
        size_t room = p->room ? 2 * p->room : 64;
        void *more = realloc(p->parcels, room * sizeof *p->parcels);
        if (!more) {
            fail(p, brio_fail(BRIO_ENOMEM, "no memory for %zu parcels", room));
            return NULL;
        }
        p->parcels = more;
        p->room = room;
    }
    struct brio_parcel *parcel = &p->parcels[p->nparcels];
    *parcel = (struct brio_parcel){.from = from, .to = to, .bytes = bytes};
    enum brio_err err = brio_calloc(1, (size_t)bytes, (void **)&parcel->data);
    if (err) {
        fail(p, err);
        return NULL;
    }
    p->nparcels++;
    return parcel;
}

static void drop_parcels(struct brio_phases *p)
{
    while (p->nparcels > 0)
        free(p->parcels[--p->nparcels].data);
}

static int owner_of_rank(const struct brio_plan *plan, int64_t rank)
{
    int a = 0;
    while (a < plan->nowners - 1 && plan->owners[a].rank != rank)
        a++;
    return a;
}

/* Writes: this rank's part of every owner's window of this round. */
static void pack_parcels(struct brio_phases *p)
{
    struct brio_rounds *r = p->rounds;
    const struct brio_io *io = r->io;
    for (int a = 0; a < r->plan->nowners; a++) {
        const struct brio_owner *owner = &r->plan->owners[a];
        brio_off from, to;
        if (p->round >= owner->nwindows)
            continue;
        brio_plan_part(r->plan, a, p->round, &from, &to);
        if (from == to)
            continue;
        struct brio_parcel *parcel = add_parcel(p, r->team->rank, owner->rank, to - from);
        p->visited += to - from;
        if (parcel)
            brio_pack(parcel->data, io->mem, io->buf, io->mem_pos + from, to - from);
        brio_count(r->stats, BRIO_N_COPIED, to - from);
    }
}

/* Reads: what has come for this rank. */
static void unpack_parcels(struct brio_phases *p)
{
    struct brio_rounds *r = p->rounds;
    const struct brio_io *io = r->io;
    for (size_t i = 0; i < p->nparcels; i++) {
        const struct brio_parcel *parcel = &p->parcels[i];
        brio_off from, to;
        brio_plan_part(r->plan, owner_of_rank(r->plan, parcel->from), p->round, &from, &to);
        brio_off bytes = brio_min(to, brio_cut_below(r->plan->mine, parcel->valid)) - from;
        p->visited += parcel->bytes;
        if (bytes < parcel->bytes)
            r->moved = brio_min(r->moved, from + brio_max(bytes, 0));
        if (bytes > 0)
            brio_unpack(io->buf, io->mem, parcel->data, io->mem_pos + from, bytes);
        brio_count(r->stats, BRIO_N_COPIED, brio_max(bytes, 0));
    }
}

/* ---- An owner and its window ------------------------------------------------------------ */

static bool owns(const struct brio_phases *p)
{
    const struct brio_plan *plan = p->rounds->plan;
    return plan->own >= 0 && p->round < plan->owners[plan->own].nwindows;
}

/* Where byte 0 of the file would be: a number, for it may be nowhere. */
static uintptr_t origin(const struct brio_phases *p)
{
    const struct brio_plan *plan = p->rounds->plan;
    return (uintptr_t)p->window - (uintptr_t)plan->owners[plan->own].windows[p->round].lo;
}

/* Writes: what has come, each at its place. */
static void fill_window(struct brio_phases *p)
{
    const struct brio_plan *plan = p->rounds->plan;
    for (size_t i = 0; i < p->nparcels; i++) {
        const struct brio_parcel *parcel = &p->parcels[i];
        const struct brio_map *map = plan->sources[parcel->from];
        brio_off from, to;
        brio_window_part(&plan->owners[plan->own], p->round, map, &from, &to);
        brio_unpack((void *)origin(p), map, parcel->data, from, to - from);
        brio_count(p->rounds->stats, BRIO_N_COPIED, to - from);
    }
}

/* Reads: each rank's part. */
static void empty_window(struct brio_phases *p, brio_off valid)
{
    const struct brio_plan *plan = p->rounds->plan;
    for (int rank = 0; rank < plan->nranks; rank++) {
        const struct brio_map *map = plan->sources[rank];
        brio_off from, to;
        if (!map)
            continue;
        brio_window_part(&plan->owners[plan->own], p->round, map, &from, &to);
        if (from == to)
            continue;
        struct brio_parcel *parcel = add_parcel(p, p->rounds->team->rank, rank, to - from);
        if (!parcel)
            continue;
        parcel->valid = valid;
        brio_pack(parcel->data, map, (const void *)origin(p), from, to - from);
        brio_count(p->rounds->stats, BRIO_N_COPIED, to - from);
    }
}

/* True when the window has been accessed; *valid is where its data ends. */
static bool access_window(struct brio_phases *p, enum brio_wait how, brio_off *valid)
{
    struct brio_rounds *r = p->rounds;
    const struct brio_io io = brio_window_io(r, p->round, origin(p));
    enum brio_phase before = brio_phase(r->stats, BRIO_PHASE_FILE);
    if (!p->begun) {
        p->begun = true;
        brio_count(r->stats, BRIO_N_WINDOWS, 1);
        brio_ticket_init(&r->ticket, r->err != BRIO_OK);
        if (!r->err)
            r->lane->ops->submit(r->lane->self, &io, how, &r->ticket);
    }
    if (!r->ticket.done)
        r->lane->ops->reap(r->lane->self, &r->ticket, how);
    brio_phase(r->stats, before);
    if (!r->ticket.done)
        return false;
    p->begun = false;
    *valid = BRIO_OFF_MAX;
    if (r->ticket.result.bytes < io.bytes)
        *valid = brio_map_offset(io.file, io.pos + r->ticket.result.bytes);
    if (r->ticket.result.err && !r->err) {
        r->err = r->ticket.result.err;
        r->bad = *valid;
        memcpy(r->text, r->ticket.text, sizeof r->text);
    }
    return true;
}

/* ---- One phase --------------------------------------------------------------------------- */

static int partner(const struct brio_phases *p, int sign)
{
    const struct brio_team *team = p->rounds->team;
    int n = team->nranks;
    return (int)(((int64_t)team->rank + sign * (1 << p->phase)) % n + n) % n;
}

/* True if the way to `rank` has this phase's step in it. */
static bool goes_on(const struct brio_phases *p, int64_t rank)
{
    const struct brio_team *team = p->rounds->team;
    int64_t ahead = (rank - team->rank + team->nranks) % team->nranks;
    return ahead >> p->phase & 1;
}

/* Bytes of the message of all parcels that go this way, and how many these are. */
static size_t measure_message(const struct brio_phases *p, int64_t *n)
{
    size_t bytes = sizeof *n;
    *n = 0;
    for (size_t i = 0; i < p->nparcels; i++)
        if (goes_on(p, p->parcels[i].to)) {
            bytes += HEAD * sizeof(int64_t) + (size_t)p->parcels[i].bytes;
            ++*n;
        }
    return bytes;
}

/* All parcels that go this way, in one message; they leave the list. Returns its bytes. */
static size_t pack_message(struct brio_phases *p)
{
    int64_t n;
    size_t bytes = measure_message(p, &n), kept = 0;
    enum brio_err err = brio_calloc(1, bytes, (void **)&p->out);
    char *at = NULL;
    if (err)
        fail(p, err);
    else
        at = mempcpy(p->out, &n, sizeof n);
    for (size_t i = 0; i < p->nparcels; i++) {
        struct brio_parcel *parcel = &p->parcels[i];
        if (!goes_on(p, parcel->to)) {
            p->parcels[kept++] = *parcel;
            continue;
        }
        if (at) {
            at = mempcpy(at, parcel, HEAD * sizeof(int64_t));
            at = mempcpy(at, parcel->data, (size_t)parcel->bytes);
        }
        free(parcel->data);
    }
    p->nparcels = kept;
    return bytes;
}

static void send_parcels(struct brio_phases *p)
{
    static const int64_t nothing = 0;
    size_t bytes = pack_message(p);
    if (!p->out)
        bytes = sizeof nothing;
    p->cargo = (struct brio_cargo){
        .comm = p->rounds->team->comm,
        .to = partner(p, 1),
        .from = partner(p, -1),
        .tag = TAG + p->phase,
        .piece = BRIO_CARGO_PIECE,
        .out = p->out ? p->out : (const char *)&nothing,
        .out_bytes = bytes,
    };
    brio_cargo_start(&p->cargo);
    brio_count(p->rounds->stats, BRIO_N_MESSAGES, 1 + (int64_t)(bytes / BRIO_CARGO_PIECE));
    brio_count(p->rounds->stats, BRIO_N_MESSAGE_BYTES, (int64_t)bytes);
}

static void take_parcels(struct brio_phases *p)
{
    const char *at = p->cargo.in;
    int64_t n = 0;
    if (at)
        memcpy(&n, at, sizeof n);
    for (at = at ? at + sizeof n : NULL; n > 0; n--) {
        struct brio_parcel head;
        memcpy(&head, at, HEAD * sizeof(int64_t));
        at += HEAD * sizeof(int64_t);
        struct brio_parcel *parcel = add_parcel(p, head.from, head.to, head.bytes);
        if (parcel) {
            parcel->valid = head.valid;
            memcpy(parcel->data, at, (size_t)head.bytes);
        }
        at += head.bytes;
    }
    free(p->cargo.in);
    p->cargo.in = NULL;
}

/* True when the phase is over. */
static bool pass(struct brio_phases *p)
{
    if (!p->begun) {
        p->begun = true;
        send_parcels(p);
    }
    bool done = brio_cargo_step(&p->cargo);
    if (p->cargo.err)
        fail(p, p->cargo.err);
    if (!done)
        return false;
    free(p->out);
    p->out = NULL;
    take_parcels(p);
    p->begun = false;
    return true;
}

/* ---- The rounds -------------------------------------------------------------------------- */

BRIO_ERR brio_phases_prepare(struct brio_phases *p)
{
    const struct brio_plan *plan = p->rounds->plan;
    free(p->window);
    p->window = NULL;
    if (plan->own < 0)
        return BRIO_OK;
    return brio_calloc(1, (size_t)plan->window, (void **)&p->window);
}

void brio_phases_release(struct brio_phases *p)
{
    drop_parcels(p);
    free(p->parcels);
    free(p->window);
}

void brio_phases_start(struct brio_phases *p, size_t nrounds)
{
    struct brio_rounds *r = p->rounds;
    p->nrounds = nrounds;
    p->round = 0;
    p->stage = BRIO_PHASES_ACCESS;
    p->begun = false;
    p->visited = 0;
    r->moved = r->io->bytes;
    r->err = BRIO_OK;
    r->bad = BRIO_OFF_MAX;
}

/* As far as it goes; false if it must wait. */
static bool advance(struct brio_phases *p, enum brio_wait how)
{
    bool write = p->rounds->io->dir == BRIO_WRITE;
    brio_off valid = 0;
    switch (p->stage) {
    case BRIO_PHASES_ACCESS:
        if (write)
            pack_parcels(p);
        else if (owns(p)) {
            if (!access_window(p, how, &valid))
                return false;
            empty_window(p, valid);
        }
        p->phase = 0;
        p->stage = BRIO_PHASES_PASS;
        return true;
    case BRIO_PHASES_PASS:
        if (1 << p->phase < p->rounds->team->nranks) {
            if (!pass(p))
                return false;
            p->phase++;
            return true;
        }
        if (write && owns(p))
            fill_window(p);
        else if (!write)
            unpack_parcels(p);
        drop_parcels(p);
        p->stage = BRIO_PHASES_DELIVER;
        return true;
    case BRIO_PHASES_DELIVER:
        if (write && owns(p) && !access_window(p, how, &valid))
            return false;
        p->round++;
        p->stage = BRIO_PHASES_ACCESS;
        return true;
    }
    return false;
}

/* Every byte of this rank has come where it belongs, or the access has failed. */
static void check(struct brio_phases *p)
{
    struct brio_rounds *r = p->rounds;
    if (p->visited == r->io->bytes || r->err)
        return;
    r->err = brio_fail(BRIO_EINTERN, "%lld of %lld bytes are lost",
                       (long long)(r->io->bytes - p->visited), (long long)r->io->bytes);
    brio_err_save(r->text);
    r->moved = 0;
}

bool brio_phases_step(struct brio_phases *p, enum brio_wait how)
{
    int idle = 0;
    while (p->round < p->nrounds) {
        if (advance(p, how)) {
            idle = 0;
            continue;
        }
        if (how == BRIO_POLL)
            return false;
        enum brio_phase before = brio_phase(p->rounds->stats, BRIO_PHASE_WAIT);
        if (++idle < 100)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
        brio_phase(p->rounds->stats, before);
    }
    check(p);
    return true;
}
