/* Pages stand on shelves: a page's number says which, a shelf has a lock and a few places.
 * Memory for a page comes from one stack for all, so that what was used last, and is warm, is
 * used next. Nobody keeps a lock while it waits for the store; that of the stack is taken last.
 */
#include "cache/pages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cache/dirty.h"
#include "comm/verdict.h"

enum {
    PLACES = 8,      /* of a shelf */
    MIN_RUNS = 64,   /* dirty runs of a page, at least; */
    RUN_BYTES = 256, /* and one for so many of its bytes */
    SMALL = 2000,    /* bytes of a put that costs less than the way to its memory */
    MAX_WAITING = 4  /* full pages that are passed on and not yet written */
};

enum state {
    EMPTY,
    HELD,   /* some of it is dirty */
    LEAVING /* being written */
};

struct brio_sheet {
    brio_off page;
    enum state state;
    uint32_t slot;   /* its memory */
    uint32_t age;    /* when it was last put to, in pages begun */
    uint32_t failed; /* the flush in which it could not be written */
};

struct brio_shelf {
    pthread_mutex_t lock;
    pthread_cond_t left; /* some page here is no longer LEAVING */
    struct brio_sheet place[PLACES];
};

/* At the beginning of the shared memory. */
struct head {
    pthread_mutex_t lock; /* of the stack of free slots */
    pthread_cond_t changed;
    uint32_t nfree;
    uint32_t changes;              /* pages that have been written, or could not be */
    _Atomic uint32_t begun;        /* pages */
    _Atomic uint32_t word;         /* the caller's */
    _Atomic uint32_t hand;         /* the shelf where the search for something old goes on */
    brio_off waiting[MAX_WAITING]; /* full pages, for ranks that have time; */
    _Alignas(64) _Atomic uint32_t nwaiting; /* so many. Changed with the lock */
    _Atomic uint32_t nidle;                 /* ranks that wait for the others */
    struct brio_bell passed;                /* a page has been, or a rank has come */
};

struct brio_pages {
    const struct brio_crew *crew;
    struct brio_lane below;
    struct brio_map *flat; /* contiguous bytes */
    uint32_t page;         /* bytes */
    uint32_t nslots, nshelves, max_runs;
    uint32_t flushes;
    bool shares; /* ranks write for each other: each of several has a core */
    struct brio_region region;
    struct head *head;       /* the parts of the region */
    _Atomic uint32_t *wrote; /* by rank: pages */
    struct brio_shelf *shelves;
    uint32_t *free_slots;
    char *runs, *data;
};

static char *data_of(const struct brio_pages *p, const struct brio_sheet *sheet)
{
    return p->data + (size_t)sheet->slot * p->page;
}

static struct brio_dirty *dirty_of(const struct brio_pages *p, const struct brio_sheet *sheet)
{
    return (struct brio_dirty *)(p->runs + sheet->slot * brio_dirty_room(p->max_runs));
}

static struct brio_shelf *shelf_of(const struct brio_pages *p, brio_off page)
{
    uint64_t mixed = (uint64_t)page * 0x9e3779b97f4a7c15u;
    return &p->shelves[(mixed >> 32) % p->nshelves];
}

static bool is_full(const struct brio_pages *p, const struct brio_dirty *dirty)
{
    return dirty->n == 1 && dirty->run[0].lo == 0 && dirty->run[0].hi == p->page;
}

/* ---- Slots of memory ----------------------------------------------------------------- */

static bool take_slot(struct brio_pages *p, uint32_t *out)
{
    pthread_mutex_lock(&p->head->lock);
    bool found = p->head->nfree > 0;
    if (found)
        *out = p->free_slots[--p->head->nfree];
    pthread_mutex_unlock(&p->head->lock);
    return found;
}

static void give_slot(struct brio_pages *p, uint32_t slot)
{
    pthread_mutex_lock(&p->head->lock);
    p->free_slots[p->head->nfree++] = slot;
    pthread_mutex_unlock(&p->head->lock);
}

static uint32_t count_changes(struct brio_pages *p)
{
    pthread_mutex_lock(&p->head->lock);
    uint32_t changes = p->head->changes;
    pthread_mutex_unlock(&p->head->lock);
    return changes;
}

static void tell_change(struct brio_pages *p)
{
    pthread_mutex_lock(&p->head->lock);
    p->head->changes++;
    pthread_cond_broadcast(&p->head->changed);
    pthread_mutex_unlock(&p->head->lock);
}

/* For those who found no memory, and every page LEAVING, when there were `seen` changes. */
static void await_change(struct brio_pages *p, uint32_t seen)
{
    pthread_mutex_lock(&p->head->lock);
    while (p->head->nfree == 0 && p->head->changes == seen)
        pthread_cond_wait(&p->head->changed, &p->head->lock);
    pthread_mutex_unlock(&p->head->lock);
}

/* ---- Writing ------------------------------------------------------------------------- */

/* Its dirty runs, in file order; those that were written are clean then. */
static BRIO_ERR write_runs(struct brio_pages *p, const struct brio_sheet *sheet)
{
    struct brio_dirty *dirty = dirty_of(p, sheet);
    for (uint32_t i = 0; i < dirty->n; i++) {
        const struct brio_dirty_run run = dirty->run[i];
        struct brio_io io = brio_io_flat(BRIO_WRITE, sheet->page * p->page + run.lo,
                                         data_of(p, sheet) + run.lo, run.hi - run.lo, p->flat);
        struct brio_result r = brio_lane_access(&p->below, &io);
        if (r.err || r.bytes < io.bytes) {
            (void)brio_dirty_cut(dirty, 0, run.lo + (uint32_t)r.bytes);
            return r.err
                       ? r.err
                       : brio_fail(BRIO_EIO, "only %lld of %lld bytes at offset %lld",
                                   (long long)r.bytes, (long long)io.bytes, (long long)io.base);
        }
    }
    dirty->n = 0;
    return BRIO_OK;
}

static void vacate(struct brio_pages *p, struct brio_sheet *sheet)
{
    sheet->state = EMPTY;
    give_slot(p, sheet->slot);
}

/* With the shelf's lock held, which is given up meanwhile. */
static BRIO_ERR write_page(struct brio_pages *p, struct brio_shelf *shelf,
                           struct brio_sheet *sheet)
{
    sheet->state = LEAVING;
    pthread_mutex_unlock(&shelf->lock);
    enum brio_err err = write_runs(p, sheet);
    pthread_mutex_lock(&shelf->lock);
    if (err) {
        sheet->state = HELD;
    } else {
        vacate(p, sheet);
        atomic_fetch_add_explicit(&p->wrote[p->crew->team.rank], 1, memory_order_relaxed);
    }
    pthread_cond_broadcast(&shelf->left);
    tell_change(p);
    return err;
}

/* The page of this shelf that was left alone the longest; NULL if none can be written now.
 * With the lock held. */
static struct brio_sheet *find_oldest(const struct brio_pages *p, struct brio_shelf *shelf)
{
    uint32_t now = atomic_load_explicit(&p->head->begun, memory_order_relaxed);
    struct brio_sheet *oldest = NULL;
    for (int i = 0; i < PLACES; i++) {
        struct brio_sheet *sheet = &shelf->place[i];
        if (sheet->state == HELD && (!oldest || now - sheet->age > now - oldest->age))
            oldest = sheet;
    }
    return oldest;
}

/* Without any lock: writes the oldest page of the next shelf that has one. */
static BRIO_ERR make_room(struct brio_pages *p)
{
    uint32_t seen = count_changes(p);
    for (uint32_t i = 0; i < p->nshelves; i++) {
        struct brio_shelf *shelf =
            &p->shelves[atomic_fetch_add(&p->head->hand, 1) % p->nshelves];
        pthread_mutex_lock(&shelf->lock);
        struct brio_sheet *sheet = find_oldest(p, shelf);
        enum brio_err err = sheet ? write_page(p, shelf, sheet) : BRIO_OK;
        pthread_mutex_unlock(&shelf->lock);
        if (sheet)
            return err;
    }
    await_change(p, seen);
    return BRIO_OK;
}

/* ---- Pages in use -------------------------------------------------------------------- */

/* With the lock held; NULL if the page is not here. */
static struct brio_sheet *find(struct brio_shelf *shelf, brio_off page)
{
    for (int i = 0; i < PLACES; i++)
        if (shelf->place[i].state != EMPTY && shelf->place[i].page == page)
            return &shelf->place[i];
    return NULL;
}

static struct brio_sheet *find_place(struct brio_shelf *shelf)
{
    for (int i = 0; i < PLACES; i++)
        if (shelf->place[i].state == EMPTY)
            return &shelf->place[i];
    return NULL;
}

/* With the lock held, and perhaps given up meanwhile: gets nearer to a page that can be held,
 * and sets *out once it is there. */
static BRIO_ERR approach(struct brio_pages *p, struct brio_shelf *shelf, brio_off page,
                         struct brio_sheet **out)
{
    struct brio_sheet *sheet = find(shelf, page);
    uint32_t slot;
    if (sheet && sheet->state == HELD) {
        struct brio_dirty *dirty = dirty_of(p, sheet);
        if (dirty->n == dirty->max || is_full(p, dirty))
            return write_page(p, shelf, sheet);
        *out = sheet;
        return BRIO_OK;
    }
    struct brio_sheet *place = find_place(shelf), *oldest = find_oldest(p, shelf);
    if (sheet || (!place && !oldest)) {
        pthread_cond_wait(&shelf->left, &shelf->lock);
        return BRIO_OK;
    }
    if (!place)
        return write_page(p, shelf, oldest);
    if (!take_slot(p, &slot)) {
        pthread_mutex_unlock(&shelf->lock);
        enum brio_err err = make_room(p);
        pthread_mutex_lock(&shelf->lock);
        return err;
    }
    *place = (struct brio_sheet){.page = page, .state = HELD, .slot = slot};
    brio_dirty_init(dirty_of(p, place), p->max_runs);
    atomic_fetch_add_explicit(&p->head->begun, 1, memory_order_relaxed);
    *out = place;
    return BRIO_OK;
}

BRIO_ERR brio_pages_take(struct brio_pages *p, brio_off page, struct brio_hold *out)
{
    struct brio_shelf *shelf = shelf_of(p, page);
    struct brio_sheet *sheet = NULL;
    enum brio_err err = BRIO_OK;
    pthread_mutex_lock(&shelf->lock);
    while (!sheet && !err)
        err = approach(p, shelf, page, &sheet);
    if (err) {
        pthread_mutex_unlock(&shelf->lock);
        return err;
    }
    sheet->age = atomic_load_explicit(&p->head->begun, memory_order_relaxed);
    *out = (struct brio_hold){
        .data = data_of(p, sheet), .dirty = dirty_of(p, sheet), .shelf = shelf, .sheet = sheet};
    return BRIO_OK;
}

/* Each process gets its own way to memory that is shared, and page by page of the system's
 * that costs more than a small copy. With large ones a rank has its pages for itself, and not
 * those of the others in between. */
void brio_pages_ready(struct brio_pages *p, const struct brio_hold *hold, uint32_t lo,
                      uint32_t n)
{
    if (n <= SMALL)
        brio_region_touch(&p->region, (size_t)(hold->data + lo - p->region.mem), n);
}

/* ---- Pages that are passed on ---------------------------------------------------------- */

/* Where the parts of two ranks meet in a page, it is the slower one that fills it, and becomes
 * slower by writing it: in the end it would write all, while the other waits for it. */
static bool has_written(const struct brio_pages *p, bool more)
{
    uint32_t mine = atomic_load_explicit(&p->wrote[p->crew->team.rank], memory_order_relaxed);
    for (int r = 0; r < p->crew->team.nranks; r++) {
        uint32_t other = atomic_load_explicit(&p->wrote[r], memory_order_relaxed);
        if (more ? mine > other + 1 : mine < other)
            return true;
    }
    return false;
}

/* With the lock of the page's shelf held: leaves a full page to a rank with less to do. */
static bool pass_on(struct brio_pages *p, brio_off page)
{
    struct head *head = p->head;
    if (!p->shares || (atomic_load(&head->nidle) == 0 && !has_written(p, true)))
        return false;
    pthread_mutex_lock(&head->lock);
    bool passed = head->nwaiting < MAX_WAITING;
    if (passed)
        head->waiting[head->nwaiting++] = page;
    pthread_mutex_unlock(&head->lock);
    if (passed)
        brio_bell_ring(&head->passed);
    return passed;
}

/* The page that has waited longest, or -1. */
static brio_off take_over(struct brio_pages *p)
{
    struct head *head = p->head;
    brio_off page = -1;
    pthread_mutex_lock(&head->lock);
    if (head->nwaiting > 0) {
        page = head->waiting[0];
        head->nwaiting--;
        memmove(head->waiting, head->waiting + 1, head->nwaiting * sizeof page);
    }
    pthread_mutex_unlock(&head->lock);
    return page;
}

/* Somebody else may have written the page meanwhile. If it cannot be written it stays, and the
 * next flush will tell. */
static bool write_waiting(struct brio_pages *p)
{
    brio_off page = take_over(p);
    if (page < 0)
        return false;
    struct brio_shelf *shelf = shelf_of(p, page);
    pthread_mutex_lock(&shelf->lock);
    struct brio_sheet *sheet = find(shelf, page);
    if (sheet && sheet->state == HELD && is_full(p, dirty_of(p, sheet)) &&
        write_page(p, shelf, sheet))
        brio_log(BRIO_NOTE, "not yet written: %s", brio_err_text());
    pthread_mutex_unlock(&shelf->lock);
    return true;
}

void brio_pages_help(struct brio_pages *p)
{
    if (atomic_load_explicit(&p->head->nwaiting, memory_order_relaxed) > 0 &&
        has_written(p, false))
        (void)write_waiting(p);
}

void brio_pages_attend(struct brio_pages *p, bool (*over)(void *self), void *self)
{
    struct head *head = p->head;
    int round = 0;
    atomic_fetch_add(&head->nidle, 1);
    brio_bell_ring(&head->passed);
    for (;;) {
        uint32_t heard = brio_bell_heard(&head->passed);
        if (over(self))
            break;
        if (write_waiting(p))
            round = 0;
        else
            brio_bell_wait(&p->crew->team, &head->passed, heard, &round);
    }
    atomic_fetch_sub(&head->nidle, 1);
}

BRIO_ERR brio_pages_give(struct brio_pages *p, const struct brio_hold *hold)
{
    enum brio_err err = BRIO_OK;
    if (is_full(p, hold->dirty) && !pass_on(p, hold->sheet->page))
        err = write_page(p, hold->shelf, hold->sheet);
    pthread_mutex_unlock(&hold->shelf->lock);
    return err;
}

BRIO_ERR brio_pages_forget(struct brio_pages *p, brio_off page, uint32_t lo, uint32_t hi)
{
    struct brio_shelf *shelf = shelf_of(p, page);
    struct brio_sheet *sheet;
    enum brio_err err = BRIO_OK;
    pthread_mutex_lock(&shelf->lock);
    while ((sheet = find(shelf, page)) && sheet->state == LEAVING)
        pthread_cond_wait(&shelf->left, &shelf->lock);
    if (sheet && !brio_dirty_cut(dirty_of(p, sheet), lo, hi))
        err = write_page(p, shelf, sheet);
    else if (sheet && dirty_of(p, sheet)->n == 0)
        vacate(p, sheet);
    pthread_mutex_unlock(&shelf->lock);
    return err;
}

_Atomic uint32_t *brio_pages_word(struct brio_pages *p)
{
    return &p->head->word;
}

/* With the lock held. A page that failed once in this flush is left alone. */
static struct brio_sheet *find_unwritten(const struct brio_pages *p, struct brio_shelf *shelf,
                                         bool *leaving)
{
    *leaving = false;
    for (int i = 0; i < PLACES; i++) {
        struct brio_sheet *sheet = &shelf->place[i];
        *leaving |= sheet->state == LEAVING;
        if (sheet->state == HELD && sheet->failed != p->flushes)
            return sheet;
    }
    return NULL;
}

static BRIO_ERR flush_shelf(struct brio_pages *p, struct brio_shelf *shelf)
{
    enum brio_err err = BRIO_OK;
    char text[BRIO_ERR_TEXT];
    struct brio_sheet *sheet;
    bool leaving;
    pthread_mutex_lock(&shelf->lock);
    while ((sheet = find_unwritten(p, shelf, &leaving)) || leaving) {
        if (!sheet) {
            pthread_cond_wait(&shelf->left, &shelf->lock);
            continue;
        }
        sheet->failed = p->flushes;
        enum brio_err failed = write_page(p, shelf, sheet);
        if (failed && !err) {
            err = failed;
            brio_err_save(text);
        }
    }
    pthread_mutex_unlock(&shelf->lock);
    if (err)
        brio_err_restore(text);
    return err;
}

BRIO_ERR brio_pages_flush(struct brio_pages *p)
{
    enum brio_err err = BRIO_OK;
    uint32_t first =
        p->nshelves / (uint32_t)p->crew->team.nranks * (uint32_t)p->crew->team.rank;
    char text[BRIO_ERR_TEXT];
    p->flushes++; /* the same on all ranks */
    for (uint32_t i = 0; i < p->nshelves; i++) {
        enum brio_err failed = flush_shelf(p, &p->shelves[(first + i) % p->nshelves]);
        if (failed && !err) {
            err = failed;
            brio_err_save(text);
        }
    }
    if (err)
        brio_err_restore(text);
    return err;
}

/* ---- The memory ---------------------------------------------------------------------- */

static size_t align(size_t at, size_t to)
{
    return (at + to - 1) / to * to;
}

/* Where the parts are. With base == NULL it only counts. */
static size_t lay_out(struct brio_pages *p, char *base)
{
    size_t at = align(sizeof *p->head, 64);
    size_t wrote = at;
    at = align(at + (size_t)p->crew->team.nranks * sizeof *p->wrote, 64);
    size_t shelves = at;
    at = align(at + p->nshelves * sizeof *p->shelves, 64);
    size_t slots = at;
    at = align(at + p->nslots * sizeof *p->free_slots, 64);
    size_t runs = at;
    at = align(at + p->nslots * brio_dirty_room(p->max_runs), 4096);
    if (base) {
        p->head = (struct head *)base;
        p->wrote = (_Atomic uint32_t *)(base + wrote);
        p->shelves = (struct brio_shelf *)(base + shelves);
        p->free_slots = (uint32_t *)(base + slots);
        p->runs = base + runs;
        p->data = base + at;
    }
    return at + (size_t)p->nslots * p->page;
}

static BRIO_ERR init_lock(pthread_mutex_t *lock, pthread_cond_t *cond)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_settype(&mutex, PTHREAD_MUTEX_ADAPTIVE_NP); /* held for a copy only */
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    int failed = pthread_mutex_init(lock, &mutex);
    if (!failed)
        failed = pthread_cond_init(cond, &condition);
    return failed ? brio_fail_errno(failed, "a lock in shared memory") : BRIO_OK;
}

/* By one rank. */
static BRIO_ERR init_memory(struct brio_pages *p)
{
    memset(p->region.mem, 0, (size_t)(p->runs - p->region.mem));
    enum brio_err err = init_lock(&p->head->lock, &p->head->changed);
    for (uint32_t i = 0; i < p->nshelves && !err; i++)
        err = init_lock(&p->shelves[i].lock, &p->shelves[i].left);
    for (uint32_t i = 0; i < p->nslots; i++)
        p->free_slots[i] = p->nslots - 1 - i;
    p->head->nfree = p->nslots;
    return err;
}

/* Collective over the crew. */
static BRIO_ERR share_memory(struct brio_pages *p)
{
    const struct brio_team *team = &p->crew->team;
    enum brio_err err;
    brio_region_init(&p->region, team, p->crew->slot, &p->crew->page);
    p->region.second_hand = true;
    brio_region_need(&p->region, lay_out(p, NULL), BRIO_BLOCK);
    while (!brio_region_step(&p->region, BRIO_BLOCK, &err))
        ;
    if (err)
        return err;
    lay_out(p, p->region.mem);
    if (team->rank == 0)
        err = init_memory(p);
    return brio_agree(team, err); /* nobody looks before */
}

static BRIO_ERR new_pages(const struct brio_pages_env *env, struct brio_pages **out)
{
    struct brio_pages *p;
    enum brio_err err = brio_calloc(1, sizeof *p, (void **)&p);
    if (err)
        return err;
    p->crew = env->crew;
    p->shares = env->crew->team.nranks > 1 && env->crew->team.nranks <= brio_cores();
    p->below = env->below;
    p->page = (uint32_t)env->page;
    p->nslots = (uint32_t)brio_min(brio_max(env->bytes / env->page, 2), 1 << 20);
    p->nshelves = (2 * p->nslots + PLACES - 1) / PLACES;
    p->max_runs = (uint32_t)brio_max(env->page / RUN_BYTES, MIN_RUNS);
    p->region.fd = -1;
    err = brio_map_bytes(1, &p->flat);
    if (err) {
        free(p);
        return err;
    }
    *out = p;
    return BRIO_OK;
}

BRIO_ERR brio_pages_open(const struct brio_pages_env *env, struct brio_pages **out)
{
    struct brio_pages *p = NULL;
    enum brio_err err = brio_agree(&env->crew->team, new_pages(env, &p));
    if (!err)
        err = share_memory(p);
    if (err) {
        brio_pages_close(p);
        return err;
    }
    *out = p;
    return BRIO_OK;
}

void brio_pages_close(struct brio_pages *p)
{
    if (!p)
        return;
    /* The memory may be another file's soon. */
    p->region.second_hand = p->region.mem && brio_agree(&p->crew->team, BRIO_OK) == BRIO_OK;
    brio_region_close(&p->region);
    brio_map_unref(p->flat);
    free(p);
}
