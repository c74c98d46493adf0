/* Every rank as a source of data, or a sink; and the loop that drives it all. */
#include "fcoll/rounds.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "fcoll/worth.h"
#include "type/cut.h"
#include "type/pack.h"
#include "type/stream.h"

/* ---- As a source or sink ------------------------------------------------------------- */

/* Bytes of a map, where its offset 0 is at `base`. */
struct place {
    void *base;
    const struct brio_map *map;
    brio_off at;
};

/* This rank's data from `pos` on in window k, which has the order of the file; or in a box,
 * where each rank's data lies packed. */
static struct place place_of(const struct brio_rounds *r, int owner, size_t k, brio_off pos,
                             enum brio_laid laid)
{
    if (laid == BRIO_LAID_IN_ORDER)
        return (struct place){(void *)brio_rounds_origin(r, owner, k), r->plan->mine, pos};
    struct brio_box *box = (struct brio_box *)(void *)brio_rounds_buffer(r, owner, k);
    return (struct place){box->data, r->flat, r->plan->owners[owner].windows[k].box_at};
}

/* Between there and the user's memory, data bytes [pos, pos+bytes). */
static void copy(const struct brio_rounds *r, struct place there, brio_off pos, brio_off bytes,
                 brio_copier *move)
{
    const struct brio_io *io = r->io;
    struct brio_cursor other, mem;
    brio_count(r->stats, BRIO_N_COPIED, bytes);
    brio_cursor_init(&other, there.map, there.at);
    brio_cursor_init(&mem, io->mem, io->mem_pos + pos);
    if (io->dir == BRIO_WRITE)
        move(there.base, &other, io->buf, &mem, bytes);
    else
        move(io->buf, &mem, there.base, &other, bytes);
}

/* Whether it matters how far the owner is: what lies packed there is this rank's alone. */
static bool may_be_far(const struct brio_rounds *r, int owner)
{
    return r->plan->packed && owner != r->plan->own && brio_rounds_near(r, owner);
}

static void put(const struct brio_rounds *r, int owner, size_t k, brio_off pos, brio_off bytes)
{
    enum brio_laid laid =
        brio_rounds_in_order(r, owner) ? BRIO_LAID_IN_ORDER : BRIO_LAID_PACKED;
    brio_copier *straight =
        brio_worth_streaming(r->io, laid == BRIO_LAID_PACKED) ? brio_stream_copy : brio_copy;
    struct brio_distance *distance = brio_rounds_distance(r);
    struct brio_use use = {.other = false};
    bool far = may_be_far(r, owner) && !brio_rounds_beside(r, r->plan->owners[owner].rank);
    bool chooses = far && brio_worth_passing(r->io);
    if (chooses)
        use = brio_distance_begin(distance, BRIO_DISTANCE_WRITE, bytes);
    if (far)
        atomic_store(&brio_area_gate(r->crew, owner, k)->laid,
                     use.other ? BRIO_LAID_PAST : BRIO_LAID_PACKED);
    copy(r, place_of(r, owner, k, pos, laid), pos, bytes,
         use.other ? brio_stream_copy_past : straight);
    if (chooses)
        brio_distance_end(distance, BRIO_DISTANCE_WRITE, &use, bytes);
}

static void fetch(const struct brio_rounds *r, int owner, size_t k, brio_off pos,
                  brio_off bytes)
{
    enum brio_laid laid = brio_rounds_laid(r, owner, k);
    int64_t began = brio_now();
    copy(r, place_of(r, owner, k, pos, laid), pos, bytes, brio_copy);
    if (may_be_far(r, owner))
        brio_distance_next(brio_rounds_distance(r), brio_rounds_reads(r),
                           laid == BRIO_LAID_PAST, began, bytes);
}

/* An owner's own bytes may be where they belong. */
static bool has_already(const struct brio_rounds *r, int owner, size_t k)
{
    return r->here && owner == r->plan->own &&
           (r->io->dir == BRIO_WRITE || brio_rounds_laid(r, owner, k) != BRIO_LAID_IN_ORDER);
}

/* This rank's bytes of window k. */
static void exchange(const struct brio_rounds *r, int owner, size_t k, brio_off pos,
                     brio_off bytes)
{
    if (bytes == 0 || has_already(r, owner, k))
        return;
    if (r->io->dir == BRIO_WRITE)
        put(r, owner, k, pos, bytes);
    else
        fetch(r, owner, k, pos, bytes);
}

/* The rank of this crew that takes the owner's buffer on. */
static int keeper_of(const struct brio_rounds *r, int owner)
{
    return brio_rounds_near(r, owner) ? r->plan->owners[owner].rank
                                      : r->crew->leader[r->crew->mine];
}

/* This rank's part of window k, data bytes [pos, pos+bytes), if it is its turn. */
static bool visit(struct brio_rounds *r, int owner, size_t k, brio_off pos, brio_off bytes)
{
    struct brio_gate *gate = brio_area_gate(r->crew, owner, k);
    bool write = r->io->dir == BRIO_WRITE;
    if (atomic_load(&gate->turn) != brio_turn(r, k))
        return false;
    if (!write) {
        brio_off valid = brio_cut_below(r->plan->mine, atomic_load(&gate->valid)) - pos;
        if (valid < bytes) {
            bytes = brio_max(valid, 0);
            r->moved = brio_min(r->moved, pos + bytes);
        }
    }
    exchange(r, owner, k, pos, bytes);
    if (atomic_fetch_sub(&gate->left, 1) == 1) /* its keeper waits for the last */
        brio_rounds_ring(r, keeper_of(r, owner));
    return true;
}

/* As many windows of the owner as are ready. */
static bool pump_source(struct brio_rounds *r, int a)
{
    const struct brio_owner *owner = &r->plan->owners[a];
    bool any = false;
    while (r->next[a] < owner->nwindows) {
        brio_off from, to;
        brio_plan_part(r->plan, a, r->next[a], &from, &to);
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

/* ---- The loop ------------------------------------------------------------------------ */

static bool keeps(const struct brio_rounds *r, int owner)
{
    if (owner == r->plan->own)
        return true;
    return !brio_rounds_near(r, owner) && brio_crew_leads(r->crew);
}

static size_t windows_ahead(const struct brio_owner *owner)
{
    return (size_t)brio_min((brio_off)owner->nwindows, BRIO_BUFFERS);
}

static void look_here(struct brio_rounds *r)
{
    const struct brio_plan *plan = r->plan;
    const struct brio_io *io = r->io;
    brio_off off;
    r->here = NULL;
    if (plan->packed && plan->own >= 0 && plan->owners[plan->own].segment == 0 &&
        io->bytes > 0 && brio_map_is_piece(io->mem, io->mem_pos, io->bytes, &off))
        r->here = (char *)((uintptr_t)io->buf + (uintptr_t)off);
}

void brio_rounds_ahead(struct brio_rounds *r)
{
    brio_off from, to;
    look_here(r);
    r->ahead = true;
    r->nopen = 0;
    r->nkeepers = 0;
    for (int a = 0; a < r->plan->nowners; a++) {
        const struct brio_owner *owner = &r->plan->owners[a];
        for (size_t k = 0; k < windows_ahead(owner); k++) {
            brio_plan_part(r->plan, a, k, &from, &to);
            if (from < to)
                exchange(r, a, k, from, to - from);
        }
        r->nopen += windows_ahead(owner) < owner->nwindows;
    }
}

struct brio_bell *brio_rounds_bell(const struct brio_rounds *r)
{
    bool busy = r->nopen > 0;
    for (int i = 0; i < r->nkeepers; i++)
        busy |= r->keepers[i].window < r->plan->owners[r->keepers[i].owner].nwindows;
    return busy ? brio_area_bell(r->crew, r->plan->nranks, r->team->rank)
                : &brio_area_of(r->crew)->over;
}

bool brio_rounds_vacant(const struct brio_rounds *r)
{
    int owners = atomic_load(&brio_area_of(r->crew)->owners);
    for (int a = 0; a < owners; a++)
        for (size_t k = 0; k < BRIO_BUFFERS; k++)
            if (atomic_load(&brio_area_gate(r->crew, a, k)->left) > 0)
                return false;
    return true;
}

void brio_rounds_start(struct brio_rounds *r)
{
    const struct brio_plan *plan = r->plan;
    r->run = ++r->crew->region.runs;
    r->nopen = plan->nowners;
    r->moved = r->io->bytes;
    r->err = BRIO_OK;
    r->bad = BRIO_OFF_MAX;
    r->nkeepers = 0;
    look_here(r);
    if (plan->own >= 0)
        atomic_store(&brio_area_of(r->crew)->owners, plan->nowners);
    for (int a = 0; a < plan->nowners; a++) {
        r->next[a] = r->ahead ? windows_ahead(&plan->owners[a]) : 0;
        if (!keeps(r, a))
            continue;
        r->keepers[r->nkeepers] = (struct brio_keeper){.owner = a, .req = MPI_REQUEST_NULL};
        brio_keeper_start(r, &r->keepers[r->nkeepers++]);
    }
}

bool brio_rounds_good(const struct brio_rounds *r)
{
    return r->crew->ncrews == 1 &&
           !(atomic_load(&brio_area_of(r->crew)->ended) & BRIO_END_FAILED);
}

/* Asks every keeper each time: the messages of one that has finished its windows still have
 * to be seen through. */
static bool is_done(struct brio_rounds *r)
{
    bool done = r->nopen == 0;
    for (int i = 0; i < r->nkeepers; i++)
        done &= brio_keeper_done(r, &r->keepers[i]);
    return done && brio_rounds_ended(r);
}

/* Owners in a different order on each rank, so that not all begin with the first. */
static bool pump(struct brio_rounds *r, enum brio_wait how)
{
    int n = r->plan->nowners;
    bool any = false;
    for (int i = 0; i < r->nkeepers; i++)
        any |= brio_keeper_pump(r, &r->keepers[i], how);
    for (int i = 0; i < n; i++) {
        int a = (i + (int)((int64_t)r->team->rank * n / r->team->nranks)) % n;
        if (r->next[a] <= r->plan->owners[a].nwindows)
            any |= pump_source(r, a);
    }
    return any;
}

/* Messages do not wake us: where they are under way, only a nap. */
static void rest(const struct brio_rounds *r, struct brio_bell *bell, uint32_t heard,
                 int *round)
{
    if (r->crew->ncrews == 1) {
        brio_bell_wait(&r->crew->team, bell, heard, round);
        return;
    }
    int flag; /* other ranks' messages may need this one */
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, r->team->comm, &flag, MPI_STATUS_IGNORE);
    if (++*round < 50)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

int brio_rounds_doze(const struct brio_rounds *r)
{
    return brio_worth_sleeping(&r->crew->team) ? BRIO_BELL_ASLEEP : 0;
}

/* A window takes longer to fill or to access than to be woken. What rings while this rank looks
 * is not slept through. */
bool brio_rounds_step(struct brio_rounds *r, enum brio_wait how)
{
    const int first = brio_rounds_doze(r);
    for (int round = first;;) {
        struct brio_bell *bell = brio_rounds_bell(r);
        uint32_t heard = brio_bell_heard(bell);
        if (is_done(r))
            return true;
        if (pump(r, how)) {
            round = first;
            continue;
        }
        if (how == BRIO_POLL)
            return false;
        enum brio_phase before = brio_phase(r->stats, BRIO_PHASE_WAIT);
        rest(r, bell, heard, &round);
        brio_phase(r->stats, before);
    }
}

/* ---- Memory -------------------------------------------------------------------------- */

void brio_rounds_release(struct brio_rounds *r)
{
    for (int i = 0; i < r->nposts; i++)
        free(r->posts[i].box[0]);
    free(r->posts);
    r->posts = NULL;
    r->nposts = 0;
}

BRIO_ERR brio_rounds_prepare(struct brio_rounds *r)
{
    brio_rounds_release(r);
    if (r->plan->own < 0 || r->crew->ncrews == 1)
        return BRIO_OK;
    enum brio_err err =
        brio_calloc((size_t)r->crew->ncrews, sizeof *r->posts, (void **)&r->posts);
    for (int c = 0; c < r->crew->ncrews && !err; c++) {
        brio_off most = c == r->crew->mine ? 0 : brio_plan_largest(r->plan, r->crew, c);
        struct brio_post *post = &r->posts[r->nposts];
        size_t bytes = ((size_t)most / BRIO_BOX_HEAD + 2) * BRIO_BOX_HEAD; /* aligned */
        if (most == 0)
            continue;
        err = brio_calloc(BRIO_BUFFERS, bytes, (void **)&post->box[0]);
        if (err)
            break;
        post->crew = c;
        for (int i = 0; i < BRIO_BUFFERS; i++) {
            post->box[i] = post->box[0] + (size_t)i * bytes;
            post->req[i] = MPI_REQUEST_NULL;
        }
        r->nposts++;
    }
    return err;
}
