/* Every rank lays the length of its record, and the record if it is short, into memory that all
 * map; one of them takes places for all, does the access for all, and tells them. Else each
 * makes its own access, which for writes waits for the others' in the system, and a second
 * meeting follows, as many changes of process as there are ranks if there are fewer cores.
 * One long write to the page cache is cheaper than many short ones: where ranks share cores up
 * to 64 KiB a record, else up to 16 KiB, by more than the copies cost (measured on two cores, 2
 * to 16 ranks). Reads gain nothing but the meeting: the system lets them go on side by side. */
#include "core/ordered.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "comm/verdict.h"
#include "core/shared.h"
#include "type/pack.h"

enum {
    SHORT = 8 << 10,       /* bytes of a record that goes through the memory, at most, */
    LONG = 64 << 10,       /* if it is written to this kernel's page cache; */
    ROOMY_LONG = 16 << 10, /* where every rank has a core */
    MEMORY = 4 << 20,      /* of all ranks' long records, at most */
    ROOMY = 1 << 10,       /* of a record that is read there */
    LINE = 64,
    SOON = 8,          /* looks of rank 0 for the others: some ten microseconds */
    SLEEP = 128 << 10, /* bytes of all records, written by one, for which the others sleep where
                          yields do not serve, at least; */
    SLEEP_ONE = 1 << 20, /* of one rank a core: the more there are, the more are in the way */
    YIELDS = 30,         /* while others are still to come, */
    MORE_YIELDS = 1000   /* and while the access is made */
};

static const uint32_t ANYBODY = 1u << 31;

static bool is_roomy(const struct brio_file *f)
{
    return f->team.nranks <= brio_cores();
}

/* The room of each rank's record in the memory. */
static brio_off room(const struct brio_file *f)
{
    const brio_off share = MEMORY / f->team.nranks / LINE * LINE;
    const brio_off most = brio_min(is_roomy(f) ? ROOMY_LONG : LONG, share);
    return f->store.local ? brio_max(SHORT, most) : SHORT;
}

/* Bytes of a record that goes through the memory, at most. */
static brio_off longest(const struct brio_file *f, enum brio_dir dir)
{
    if (dir == BRIO_WRITE)
        return room(f);
    return is_roomy(f) ? ROOMY : SHORT;
}

/* What a rank brings, and what those before it have brought: a rank looks at its own only,
 * for the others may have come again. */
struct entry {
    int64_t etypes, bytes, vote;
    int64_t etypes_before, bytes_before;
    int64_t here; /* bytes of its record that lie in the memory */
    char pad[LINE - 6 * sizeof(int64_t)];
};

/* The memory begins with this; behind it an entry of each rank, then a record of each. What is
 * told stays until all have come again, and lies beside the bell: who hears it, has it. */
struct brio_ordered_head {
    _Atomic uint32_t arrived; /* ranks, and whether the last of them acts (ANYBODY) */
    char pad[LINE - sizeof(uint32_t)];
    struct brio_bell bell; /* rung at the end of each meeting */
    enum brio_err err;     /* everybody's */
    bool over;             /* the access is done, too */
    int64_t at, total;     /* etypes: the first place, and how many were taken */
    int64_t moved;         /* bytes of all ranks' data, one behind the other */
    int64_t worst;         /* of what the ranks brought */
    char text[BRIO_ERR_TEXT];
    struct entry entry[] __attribute__((aligned(LINE)));
};

static char *record(const struct brio_file *f, int rank)
{
    return (char *)&f->ordered.head->entry[f->team.nranks] + rank * room(f);
}

/* Short ones are mapped by the page as they come. */
static void touch(struct brio_file *f, int rank, brio_off bytes)
{
    struct brio_region *region = &f->ordered.region;
    if (bytes > SHORT)
        brio_region_touch(region, (size_t)(record(f, rank) - region->mem), (size_t)bytes);
}

/* Collective, at the first such call of the file. */
static bool need_memory(struct brio_file *f)
{
    struct brio_ordered *o = &f->ordered;
    const size_t n = (size_t)f->team.nranks;
    enum brio_err err = brio_calloc(2 * n, sizeof *o->len, (void **)&o->len);
    if (!brio_agree(&f->team, err)) {
        brio_region_init(&o->region, &f->crew.team, f->slot, &f->page);
        brio_region_need(&o->region,
                         sizeof *o->head + n * (sizeof(struct entry) + (size_t)room(f)));
        while (!brio_region_step(&o->region, BRIO_BLOCK, &err))
            ;
        o->head = (struct brio_ordered_head *)(void *)o->region.mem;
    }
    o->refused = !o->head;
    return o->head;
}

bool brio_ordered_serves(struct brio_file *f, const struct brio_call *call)
{
    const struct brio_ordered *o = &f->ordered;
    if (!call->coll || call->ptr != BRIO_SHARED || !f->team.meet || f->team.nranks == 1 ||
        !f->sharedfp)
        return false;
    return o->head || (!o->refused && need_memory(f));
}

void brio_ordered_close(struct brio_ordered *o)
{
    if (o->head)
        brio_region_close(&o->region);
    brio_map_unref(o->mem);
    free(o->len);
    *o = (struct brio_ordered){.head = NULL};
}

/* The records in the memory as one pattern; made anew when lengths change. */
static BRIO_ERR map_records(struct brio_file *f)
{
    struct brio_ordered *o = &f->ordered;
    const int n = f->team.nranks;
    brio_off *len = o->len, *off = len + n;
    bool same = o->mem;
    for (int r = 0; r < n; r++) {
        same &= len[r] == o->head->entry[r].bytes;
        len[r] = o->head->entry[r].bytes;
        off[r] = r * room(f);
        touch(f, r, len[r]);
    }
    if (same)
        return BRIO_OK;
    struct brio_node *byte, *root;
    brio_map_unref(o->mem);
    o->mem = NULL;
    enum brio_err err = brio_node_bytes(1, 0, &byte);
    if (!err)
        err = brio_node_blocks(byte, 1, (size_t)n, len, off, &root);
    return err ? err : brio_map_new(root, 0, n * room(f), &o->mem);
}

/* How a meeting is timed: now and then, if the records are small. */
struct watch {
    int weight;   /* meetings that this one stands for; 0: it is not timed */
    int64_t file; /* nanoseconds of the access */
};

/* By the rank that acts, for all; their views are the same. */
static BRIO_ERR move_records(struct brio_file *f, enum brio_dir dir, brio_off bytes,
                             struct watch *watch)
{
    struct brio_ordered_head *head = f->ordered.head;
    struct brio_io io = {.dir = dir,
                         .file = f->view.map,
                         .base = f->view.disp,
                         .buf = record(f, 0),
                         .bytes = bytes};
    enum brio_err err = brio_view_place(&f->view, head->at, bytes, &io.pos);
    if (!err)
        err = map_records(f);
    if (err)
        return err;
    io.mem = f->ordered.mem;
    if (watch->weight)
        watch->file = -brio_now();
    struct brio_result result = brio_lane_access(&f->coll, &io);
    if (watch->weight)
        watch->file += brio_now();
    head->moved = result.bytes;
    return result.err;
}

/* By one rank, when all have come. */
static void act(struct brio_file *f, enum brio_dir dir, struct watch *watch)
{
    struct brio_ordered_head *head = f->ordered.head;
    brio_off bytes = 0, most = 0;
    bool here = true;
    head->total = head->moved = head->worst = 0;
    for (int r = 0; r < f->team.nranks; r++) {
        struct entry *e = &head->entry[r];
        e->etypes_before = head->total;
        e->bytes_before = bytes;
        head->total += e->etypes;
        bytes += e->bytes;
        head->worst = brio_max(head->worst, e->vote);
        most = brio_max(most, e->bytes);
        here &= dir == BRIO_READ || e->here == e->bytes;
    }
    head->err = BRIO_OK;
    if (brio_file_log(f))
        head->err = brio_shared_stand(f, head->total, &head->at);
    else
        head->err = brio_shared_take(f, head->total, &head->at);
    head->over = head->err || (here && most <= longest(f, dir));
    if (head->over && !head->err && bytes > 0)
        head->err = move_records(f, dir, bytes, watch);
    if (head->err)
        brio_err_save(head->text);
}

/* Whether one rank writes all records, and so much that the others had better sleep. */
static bool is_long(const struct brio_file *f, brio_off bytes)
{
    const int n = f->team.nranks;
    return bytes <= room(f) && !is_roomy(f) && !brio_yields_serve() &&
           bytes * n >= brio_max(SLEEP, (brio_off)SLEEP_ONE * brio_cores() / n);
}

/* Where ranks share cores, giving the core away costs less than being woken, above all if that
 * means to wake a core, too; and what is left to do while the access is made is known. */
static void await(struct brio_file *f, uint32_t heard, brio_off bytes)
{
    struct brio_ordered_head *head = f->ordered.head;
    const uint32_t all = (uint32_t)f->team.nranks;
    const bool sleeps = is_long(f, bytes);
    int round = sleeps ? BRIO_BELL_ASLEEP : 0;
    for (int looks = 0; brio_bell_heard(&head->bell) == heard; looks++) {
        uint32_t now = atomic_load_explicit(&head->arrived, memory_order_relaxed);
        bool acts = (now & ~ANYBODY) == all;
        if (!is_roomy(f) && !sleeps && looks < (acts ? MORE_YIELDS : YIELDS))
            brio_breathe(&f->team);
        else
            brio_bell_wait(&f->team, &head->bell, heard, &round);
    }
}

/* Whether this rank acts for all. Where every rank has a core it is rank 0 if the others come
 * soon: what the system keeps of the file then stays in the cache of one core. Else it is the
 * last to come. */
static bool arrive(struct brio_file *f)
{
    _Atomic uint32_t *arrived = &f->ordered.head->arrived;
    const uint32_t all = (uint32_t)f->team.nranks;
    const bool first = f->team.rank == 0;
    uint32_t seen = atomic_fetch_add(arrived, first && !is_roomy(f) ? 1 + ANYBODY : 1) + 1;
    if (!first || !is_roomy(f))
        return (seen & ~ANYBODY) == all && (first || seen & ANYBODY);
    for (int looks = 0; looks < SOON && seen != all; looks++) {
        brio_look_closely(&f->team, arrived, seen);
        seen = atomic_load(arrived);
    }
    return seen == all || atomic_fetch_or(arrived, ANYBODY) == all;
}

static void meet(struct brio_file *f, const struct brio_ready *r, int64_t vote)
{
    struct watch watch = {.weight = brio_sample(f->stats, r->io.bytes)};
    int64_t began = watch.weight ? brio_now() : 0;
    struct brio_ordered_head *head = f->ordered.head;
    struct entry *mine = &head->entry[f->team.rank];
    uint32_t now = brio_bell_heard(&head->bell);
    mine->etypes = r->etypes;
    mine->bytes = r->io.bytes;
    mine->vote = vote;
    mine->here = r->io.bytes <= room(f) ? r->io.bytes : 0;
    if (r->io.dir == BRIO_WRITE && mine->here > 0) {
        touch(f, f->team.rank, mine->here);
        brio_pack(record(f, f->team.rank), r->io.mem, r->io.buf, 0, mine->here);
    }
    if (arrive(f)) {
        act(f, r->io.dir, &watch);
        atomic_store_explicit(&head->arrived, 0, memory_order_relaxed); /* the bell tells */
        brio_bell_ring(&head->bell);
    }
    await(f, now, r->io.bytes);
    if (!watch.weight)
        return;
    brio_count(f->stats, BRIO_N_PHASE + BRIO_PHASE_FILE, watch.weight * watch.file);
    brio_count(f->stats, BRIO_N_PHASE + BRIO_PHASE_WAIT,
               watch.weight * (brio_now() - began - watch.file));
}

static BRIO_ERR settle(const struct brio_file *f, const struct brio_io *io)
{
    return brio_file_cache(f)->settle(&f->plain, io);
}

/* This rank's place in the file. */
static BRIO_ERR place(const struct brio_file *f, enum brio_err mine, struct brio_ready *r)
{
    const struct brio_ordered_head *head = f->ordered.head;
    if (mine)
        return mine;
    enum brio_err err = brio_view_place(
        &f->view, head->at + head->entry[f->team.rank].etypes_before, r->io.bytes, &r->io.pos);
    if (err)
        r->io.bytes = 0;
    return err;
}

/* What became of it here. */
static struct brio_result reap(struct brio_file *f, enum brio_err mine, struct brio_ready *r)
{
    const struct brio_ordered_head *head = f->ordered.head;
    const brio_off before = head->entry[f->team.rank].bytes_before;
    struct brio_result result = {.err = mine ? mine : head->err};
    if (!mine && head->err)
        brio_err_restore(head->text);
    else if (!mine)
        result.err = brio_verdict_read(head->worst);
    result.bytes = brio_min(brio_max(head->moved - before, 0), r->io.bytes);
    if (!result.err)
        result.err = place(f, BRIO_OK, r);
    if (!result.err)
        result.err = settle(f, &r->io);
    if (r->io.dir == BRIO_READ && result.bytes > 0)
        brio_unpack(r->io.buf, r->io.mem, record(f, f->team.rank), 0, result.bytes);
    return result;
}

/* Collective. Long records side by side: each rank writes or reads its own. */
static struct brio_result move_alone(struct brio_file *f, enum brio_err mine,
                                     const struct brio_ready *r)
{
    struct brio_result result = {.err = mine};
    if (!mine)
        result.err = settle(f, &r->io);
    brio_phase_begin(f->stats, r->io.bytes);
    brio_phase(f->stats, BRIO_PHASE_FILE);
    if (!result.err && r->io.bytes > 0)
        result = brio_lane_access(&f->coll, &r->io);
    brio_phase(f->stats, BRIO_PHASE_WAIT);
    result.err = brio_agree(&f->team, result.err);
    brio_phase(f->stats, BRIO_PHASE_NONE);
    return result;
}

bool brio_ordered_run(struct brio_file *f, enum brio_err *mine, struct brio_ready *r,
                      struct brio_result *result)
{
    char text[BRIO_ERR_TEXT];
    if (!*mine) /* where it is to be is not known yet */
        *mine = settle(f, &(struct brio_io){.dir = r->io.dir});
    if (*mine) {
        brio_err_save(text);
        r->etypes = 0;
        r->io.bytes = 0;
    }
    brio_shared_touch(f);
    enum brio_err err = brio_shared_settle(f);
    if (!err)
        meet(f, r, brio_verdict_vote(&f->team, *mine));
    if (*mine)
        brio_err_restore(text);
    if (err) {
        *result = (struct brio_result){.err = *mine ? *mine : err};
        return true;
    }
    const struct brio_ordered_head *head = f->ordered.head;
    if (!head->err && brio_file_log(f))
        brio_shared_move(f, head->at + head->total);
    if (head->over) {
        *result = reap(f, *mine, r);
        return true;
    }
    *mine = place(f, *mine, r);
    if (!f->view.map->contiguous)
        return false;
    *result = move_alone(f, *mine, r);
    return true;
}
