/* The stages of one collective access, as a machine that can be driven to its end or a step
 * at a time. */
#include "fcoll/engine_parts.h"

#include <string.h>

#include "comm/verdict.h"
#include "fcoll/ending.h"
#include "fcoll/worth.h"
#include "mod/hint.h"
#include "type/cut.h"

/* ---- Agreeing ------------------------------------------------------------------------ */

/* A plan made for servers is good for other bytes only if these are on the same ones. */
static bool on_same_servers(const struct engine *e, const struct brio_plan *plan,
                            brio_off shift)
{
    if (!plan || shift == 0 || !plan->owners[0].places.ops)
        return true;
    brio_off period = e->env.places.ops->period(e->env.places.self);
    return period > 0 && shift % period == 0;
}

/* Looks for a plan, and says so with all the rest. */
static void say_all(struct engine *e)
{
    const struct brio_io *io = &e->io;
    int64_t oldest = 0;
    e->found = e->mine ? NULL : brio_shelf_find(&e->shelf, io, &oldest);
    if (e->found && io->bytes > 0 &&
        !on_same_servers(e, e->found->plan, brio_shelf_shift(io, e->found)))
        e->found = NULL;
    e->sure = !e->found || e->found->id == oldest;
    e->reduce.n = brio_accord_say(e->reduce.in, &(struct brio_say){.env = &e->env,
                                                                   .io = io,
                                                                   .mine = e->mine,
                                                                   .last_id = e->shelf.last_id,
                                                                   .found = e->found,
                                                                   .oldest = oldest});
}

/* Where all ranks are one crew, what a plan needed last time is still there. The same on all
 * ranks. */
static bool is_equipped(const struct engine *e)
{
    const struct brio_kept *k = e->found;
    return e->env.crew->ncrews == 1 && !e->phased && k->buffer > 0 &&
           e->env.crew->region.bytes >=
               brio_area_bytes(k->plan->nranks, k->plan->nowners, k->buffer);
}

static void equip_with(struct engine *e, const struct brio_kept *kept)
{
    e->rounds.plan = kept->plan;
    e->rounds.buffer = kept->buffer;
}

/* If all agree on the plan that was found, it is run at once. */
static bool may_run(const struct engine *e)
{
    return e->found && e->found->plan && is_equipped(e) && !e->env.dry;
}

/* In a write that waits, data goes to the owners' buffers before the ranks agree on the plan,
 * as mostly they do: one time less that all wait for all. Not in a read: an owner that reads
 * before a rank has come would miss what that rank has just written. */
static void go_ahead(struct engine *e, enum brio_wait how)
{
    e->rounds.ahead = false;
    if (how != BRIO_BLOCK || e->io.dir != BRIO_WRITE || !may_run(e) ||
        (e->io.bytes > 0 && !e->sure) || !brio_rounds_vacant(&e->rounds))
        return;
    brio_phase(e->env.stats, BRIO_PHASE_EXCHANGE);
    equip_with(e, e->found);
    brio_rounds_ahead(&e->rounds);
}

static void agree(struct engine *e, enum brio_wait how)
{
    e->stage = AGREEING;
    if (e->mine)
        e->io.bytes = 0;
    say_all(e);
    go_ahead(e, how);
    brio_accord_ahead(e->reduce.in, e->rounds.ahead);
    brio_phase(e->env.stats, BRIO_PHASE_WAIT);
    brio_reduce_start(&e->reduce, e->env.team);
}

/* Nothing to do after the agreement before an owner has done something, unless it comes to
 * something else than running the plan. */
static bool only_follows(const struct engine *e)
{
    return e->io.bytes > 0 && e->sure && may_run(e) && e->found->plan->own < 0 &&
           (e->io.dir == BRIO_READ || e->rounds.ahead);
}

/* A rank that only follows is not woken by the agreement, only to go to sleep again: it waits
 * for what an owner does. The last to come to the agreement never waits, and wakes all if there
 * is no run (`decide'). */
static bool has_agreed(struct engine *e, enum brio_wait how)
{
    if (how == BRIO_POLL || !only_follows(e))
        return brio_reduce_head(&e->reduce, how, BRIO_ACCORD_HEAD);
    int round = brio_rounds_doze(&e->rounds);
    struct brio_bell *bell =
        e->rounds.ahead ? brio_rounds_bell(&e->rounds)
                        : brio_area_bell(e->env.crew, e->env.team->nranks, e->env.team->rank);
    for (;;) {
        uint32_t heard = brio_bell_heard(bell);
        if (brio_reduce_head(&e->reduce, BRIO_POLL, BRIO_ACCORD_HEAD))
            return true;
        brio_bell_wait(&e->env.crew->team, bell, heard, &round);
    }
}

/* Whether this rank's bytes are to go through owners where a plan can be made. */
static bool wants_owner(const struct engine *e, const struct brio_io *io)
{
    enum brio_switch use = e->conf.use[io->dir];
    return use == BRIO_AUTO ? e->maker->everything || brio_worth_owner(&e->env, io)
                            : use == BRIO_ON_ALWAYS;
}

/* Bytes that need no owner are moved before anything is agreed on: if no rank has others, the
 * one agreement is the verdict. */
void brio_engine_start(void *self, const struct brio_io *io, enum brio_err mine,
                       enum brio_wait how)
{
    struct engine *e = self;
    const struct brio_crew *crew = e->env.crew;
    if (crew->region.mem &&
        brio_berth_look(&e->berth, brio_area_berths(crew, e->env.team->nranks), &crew->team,
                        e->owned))
        brio_count(e->env.stats, BRIO_N_MOVES, 1);
    e->io = *io;
    e->mine = mine;
    brio_ticket_init(&e->ticket, true);
    if (mine)
        brio_err_save(e->text);
    if (mine || io->bytes == 0 || (brio_worth_planning(&e->env, io) && wants_owner(e, io))) {
        agree(e, how);
        return;
    }
    e->stage = MOVING;
    e->ticket.done = false;
    brio_phase(e->env.stats, BRIO_PHASE_FILE);
    e->env.lane->ops->submit(e->env.lane->self, &e->io, how, &e->ticket);
}

/* True when the bytes that need no owner have been moved. */
static bool moved_own(struct engine *e, enum brio_wait how)
{
    if (!e->ticket.done)
        e->env.lane->ops->reap(e->env.lane->self, &e->ticket, how);
    if (!e->ticket.done)
        return false;
    e->mine = e->ticket.result.err;
    if (e->mine)
        memcpy(e->text, e->ticket.text, sizeof e->text);
    e->io.bytes = 0;
    return true;
}

static void go_direct(struct engine *e, enum brio_wait how)
{
    e->stage = DIRECT;
    brio_count(e->env.stats, BRIO_N_DIRECT, 1);
    if (e->mine)
        brio_err_restore(e->text);
    brio_fcoll_individual.start(e->direct, &e->io, e->mine, how);
}

static void run(struct engine *e)
{
    e->rounds.shift = e->shift;
    brio_phase(e->env.stats, BRIO_PHASE_EXCHANGE);
    brio_count(e->env.stats, BRIO_N_OWNERS, e->rounds.plan->nowners);
    e->owned = e->rounds.plan->own >= 0;
    brio_count(e->env.stats, BRIO_N_OWNED, e->owned);
    if (e->phased)
        brio_phases_start(&e->phases, e->nrounds);
    else
        brio_rounds_start(&e->rounds);
    e->stage = RUNNING;
}

enum measure_word {
    NEED, /* bytes of a buffer; of phases, rounds */
    LACK, /* what a rank has not */
    MEASURE_WORDS
};

enum lack {
    NOTHING,
    MEMORY,
    THE_PLAN
};

/* The crew's buffers must hold its windows and the boxes it sends. */
static int64_t need_of(const struct engine *e, const struct brio_plan *plan)
{
    const struct brio_crew *crew = e->env.crew;
    brio_off most = plan->window;
    if (e->phased)
        return plan->own < 0 ? 0 : (int64_t)plan->owners[plan->own].nwindows;
    for (int a = 0; a < plan->nowners; a++)
        for (size_t k = 0; k < plan->owners[a].nwindows; k++)
            if (crew->crew_of[plan->owners[a].rank] != crew->mine ||
                plan->owners[a].segment > 0)
                most = brio_max(most, plan->owners[a].windows[k].box_bytes);
    return most;
}

static enum lack lack_of(struct engine *e)
{
    if (!e->rounds.plan)
        return THE_PLAN;
    if (e->phased ? brio_phases_prepare(&e->phases) : brio_rounds_prepare(&e->rounds))
        return MEMORY;
    return NOTHING;
}

static void measure(struct engine *e, const struct brio_plan *plan)
{
    e->stage = MEASURING;
    brio_phase(e->env.stats, BRIO_PHASE_PLAN);
    e->rounds.plan = plan;
    e->reduce.n = MEASURE_WORDS;
    e->reduce.in[NEED] = plan ? need_of(e, plan) : 0;
    e->reduce.in[LACK] = lack_of(e);
    brio_reduce_start(&e->reduce, e->env.team);
}

/* With a plan that is kept. */
static void go_on(struct engine *e, enum brio_wait how)
{
    if (e->env.dry) {
        go_direct(e, how);
    } else if (is_equipped(e)) {
        equip_with(e, e->found);
        run(e);
    } else {
        measure(e, e->found->plan);
    }
}

static void go_without_memory(struct engine *e, enum brio_wait how)
{
    e->direct_why = "there is no memory for the owners' buffers";
    go_direct(e, how);
}

/* The plan that was made is kept if all ranks have it; if not, that there is none. */
static void keep(struct engine *e, bool good)
{
    if (!good) {
        brio_plan_free(e->made);
        e->made = NULL;
    }
    e->found = brio_shelf_keep(&e->shelf, &e->io, e->made);
    e->made = NULL;
}

/* The plan and what it needs are known to all ranks, and alike. */
static void equip(struct engine *e, enum brio_wait how)
{
    int64_t lack = e->reduce.failed ? THE_PLAN : e->reduce.out[LACK];
    if (e->fresh)
        keep(e, lack < THE_PLAN);
    if (lack == THE_PLAN || e->env.dry) {
        go_direct(e, how);
    } else if (lack == MEMORY) { /* each rank can still access its own bytes */
        go_without_memory(e, how);
    } else if (e->phased) {
        e->nrounds = (size_t)e->reduce.out[NEED];
        run(e);
    } else {
        const struct brio_plan *plan = e->found->plan;
        e->stage = EQUIPPING;
        e->found->buffer = e->reduce.out[NEED];
        equip_with(e, e->found);
        brio_region_need(&e->env.crew->region,
                         brio_area_bytes(plan->nranks, plan->nowners, e->rounds.buffer));
    }
}

/* A crew has its memory, or has not; are there others? */
static void muster(struct engine *e, enum brio_err err)
{
    e->stage = MUSTERING;
    e->reduce.n = 1;
    e->reduce.in[0] = err;
    brio_reduce_start(&e->reduce, e->env.team);
}

/* Where domains begin: at stripes, unless the file system's blocks are made of them. */
static brio_off align_of(const struct engine *e)
{
    brio_off block = e->env.block_size, stripe = e->env.stripe;
    if (e->conf.block)
        return e->conf.block;
    return stripe > 0 && block % stripe != 0 ? stripe : block;
}

static bool packs(const struct engine *e)
{
    if (e->phased || e->conf.packed == BRIO_OFF_NEVER)
        return false;
    return e->conf.packed == BRIO_ON_ALWAYS || brio_worth_packing(&e->env, &e->accord.all);
}

static void inspect(struct engine *e)
{
    const struct brio_io *io = &e->io;
    const struct brio_accord *a = &e->accord;
    struct brio_map *mine = NULL;
    brio_phase(e->env.stats, BRIO_PHASE_PLAN);
    enum brio_err err = brio_map_cut(io->file, io->base, io->pos, io->bytes, &mine);
    e->extent = (struct brio_extent){
        .nranks = e->env.team->nranks,
        .nsources = a->nsources,
        .at_once = a->at_once * e->nnodes,
        .spread = e->seats.spread,
        .listed = e->seats.listed,
        .k = a->share,
        .in_file_order = e->phased,
        .packed = packs(e),
        .coarse = brio_worth_sharing(&a->all),
        .ordered = e->seats.ordered,
        .row = e->seats.row,
        .crew_of = e->env.crew->crew_of,
        .ncrews = e->env.crew->ncrews,
        .lo = a->lo,
        .hi = a->hi,
        .volume = a->all.volume,
        .align = align_of(e),
        .servers = e->env.places.ops->servers(e->env.places.self),
        .stripe = e->env.stripe,
        .places = e->env.places,
        .owners = e->seats.owners,
        .buffer = brio_worth_window(&e->env, e->conf.buffer),
    };
    int owners = brio_aggregators(&e->extent);
    size_t area = e->phased ? 0 : brio_area_bytes(e->extent.nranks, owners, e->extent.buffer);
    e->shift = 0;
    e->shelf.last_id = a->last_id;
    e->stage = INSPECTING;
    brio_count(e->env.stats, BRIO_N_PLAN_MISSES, 1);
    brio_inspect_start(&e->inspect, &e->extent, area, e->maker->domains, mine, err);
}

/* Why no rank has bytes for an owner, as far as this rank knows. */
static const char *why_none(const struct engine *e)
{
    if (e->conf.use[e->io.dir] == BRIO_OFF_NEVER)
        return e->io.dir == BRIO_READ ? "cb_read says so" : "cb_write says so";
    if (e->env.team->nranks == 1)
        return "there is one rank only";
    if (e->env.atomic)
        return "in atomic mode an access is one rank's";
    return "no rank has small pieces in rising order, which owners would join";
}

/* The agreement is the verdict, too. */
static void conclude(struct engine *e, struct brio_result *out)
{
    e->direct_why = why_none(e);
    brio_count(e->env.stats, BRIO_N_DIRECT, 1);
    *out = (struct brio_result){.err = brio_verdict_read(e->accord.worst)};
    if (e->mine) {
        brio_err_restore(e->text);
        out->err = e->mine;
    }
}

/* What the agreement means: the same on all ranks. */
static void decide(struct engine *e, enum brio_wait how)
{
    const struct brio_accord *a = &e->accord;
    bool hit = a->plan > 0;
    bool always = e->conf.use[e->io.dir] == BRIO_ON_ALWAYS;
    e->direct_why = NULL;
    e->fresh = !hit;
    e->rounds.ahead = hit && a->ahead;
    if (hit)
        e->found = brio_shelf_get(&e->shelf, a->plan);
    if (e->reduce.failed || a->worst)
        e->direct_why = "a rank had failed before";
    else if (!hit && !always && brio_worth_sparse(&e->env, &a->all))
        e->direct_why = "the gaps between the pieces are large, and would be left anyway";
    bool follows = hit && !e->direct_why && (e->io.dir == BRIO_READ || e->rounds.ahead);
    if (!follows && e->env.crew->region.mem)
        brio_area_call(e->env.crew, e->env.team->nranks);
    if (e->direct_why)
        go_direct(e, how);
    else if (!hit)
        inspect(e);
    else if (!e->found->plan)
        go_direct(e, how);
    else {
        e->shift = a->shift;
        brio_count(e->env.stats, BRIO_N_PLAN_HITS, 1);
        go_on(e, how);
    }
}

/* The head of the agreement is there; where it is not the verdict, the rest is wanted, too. */
static void agreed(struct engine *e, enum brio_wait how, bool *done, struct brio_result *out)
{
    struct brio_accord *a = &e->accord;
    *a = (struct brio_accord){.none = false};
    if (!e->reduce.failed) {
        if (!brio_accord_none(e->reduce.out))
            (void)brio_reduce_done(&e->reduce, BRIO_POLL);
        *a = brio_accord_read(e->reduce.out, e->io.dir);
    }
    *done = a->none;
    if (*done)
        conclude(e, out);
    else
        decide(e, how);
}

static void end(struct engine *e)
{
    e->stage = ENDING;
    brio_phase(e->env.stats, BRIO_PHASE_WAIT);
    brio_ending_agree(&e->reduce, &e->rounds);
}

/* One stage as far as it goes; false if it must wait. */
static bool advance(struct engine *e, enum brio_wait how, bool *done, struct brio_result *out)
{
    enum brio_err err = BRIO_OK;
    switch (e->stage) {
    case MOVING:
        if (!moved_own(e, how))
            return false;
        agree(e, how);
        return true;
    case AGREEING:
        if (!has_agreed(e, how))
            return false;
        agreed(e, how, done, out);
        return true;
    case INSPECTING:
        if (!brio_inspect_step(&e->inspect, how, &e->made))
            return false;
        measure(e, e->made);
        return true;
    case MEASURING:
        if (!brio_reduce_done(&e->reduce, how))
            return false;
        equip(e, how);
        return true;
    case EQUIPPING:
        if (!brio_region_step(&e->env.crew->region, how, &err))
            return false;
        if (e->env.crew->ncrews > 1)
            muster(e, err);
        else if (err)
            go_without_memory(e, how);
        else
            run(e);
        return true;
    case MUSTERING:
        if (!brio_reduce_done(&e->reduce, how))
            return false;
        if (e->reduce.failed || e->reduce.out[0])
            go_without_memory(e, how);
        else
            run(e);
        return true;
    case RUNNING:
        if (e->phased ? !brio_phases_step(&e->phases, how) : !brio_rounds_step(&e->rounds, how))
            return false;
        *done = !e->phased && brio_rounds_good(&e->rounds);
        if (*done)
            *out = (struct brio_result){.err = BRIO_OK, .bytes = e->rounds.moved};
        else
            end(e);
        return true;
    case ENDING:
        if (!brio_reduce_done(&e->reduce, how))
            return false;
        *out = brio_ending_judge(&e->reduce, &e->rounds);
        *done = true;
        return true;
    case DIRECT:
        brio_fcoll_individual.step(e->direct, how, done, out);
        return *done;
    }
    return false;
}

void brio_engine_step(void *self, enum brio_wait how, bool *done, struct brio_result *out)
{
    struct engine *e = self;
    *done = false;
    while (!*done && advance(e, how, done, out))
        ;
    if (*done)
        out->bytes += e->ticket.result.bytes;
}
