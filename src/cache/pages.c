/* Pages stand on shelves: a page's number says which, a shelf has a lock and a few places.
 * Memory for a page comes from one stack for all, so that what was used last, and is warm, is
 * used next. Nobody keeps a lock while it waits for the store; that of the stack is taken last.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "cache/dirty.h"
#include "cache/pages_parts.h"
#include "comm/verdict.h"

enum {
    MIN_RUNS = 64,   /* dirty runs of a page, at least; */
    RUN_BYTES = 256, /* and one for so many of its bytes */
    SMALL = 2000     /* bytes of a put that costs less than the way to its memory */
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

/* ---- Ranks that run ahead --------------------------------------------------------------- */

/* With more ranks than cores, one that has a core begins page after page, which the others
 * fill when they get theirs: memory that each of them must be given by the system first. So it
 * lets them catch up, unless they did nothing the last times. */
static void run_ahead(struct brio_pages *p)
{
    uint32_t left = atomic_load_explicit(&p->unwaited, memory_order_relaxed);
    if (left > 0)
        atomic_store_explicit(&p->unwaited, left - 1, memory_order_relaxed);
    else
        atomic_store_explicit(&p->ahead, true, memory_order_relaxed);
}

static void fall_back(struct brio_pages *p)
{
    enum {
        LONGEST = 100000, /* nanoseconds */
        MOST = 64
    };
    struct brio_pages_head *head = p->head;
    struct timespec until;
    int late = 0;
    atomic_store_explicit(&p->ahead, false, memory_order_relaxed);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LONGEST;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&head->lock);
    for (uint32_t seen = head->changes; head->changes == seen && !late;)
        late = pthread_cond_timedwait(&head->changed, &head->lock, &until);
    pthread_mutex_unlock(&head->lock);
    p->vain = late ? (uint32_t)brio_min(2 * (brio_off)p->vain + 1, MOST) : 0;
    atomic_store_explicit(&p->unwaited, p->vain, memory_order_relaxed);
}

/* ---- Slots of memory ----------------------------------------------------------------- */

static bool take_slot(struct brio_pages *p, uint32_t *out)
{
    pthread_mutex_lock(&p->head->lock);
    bool found = p->head->nfree > 0;
    if (found)
        *out = p->free_slots[--p->head->nfree];
    uint32_t used = p->nslots - p->head->nfree;
    pthread_mutex_unlock(&p->head->lock);
    if (p->crowded && used > (uint32_t)p->crew->team.nranks)
        run_ahead(p);
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

/* For those who found no memory, and every page BRIO_LEAVING, when there were `seen` changes.
 */
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
    sheet->state = BRIO_EMPTY;
    give_slot(p, sheet->slot);
}

/* With the shelf's lock held, which is given up meanwhile. */
static BRIO_ERR write_page(struct brio_pages *p, struct brio_shelf *shelf,
                           struct brio_sheet *sheet)
{
    sheet->state = BRIO_LEAVING;
    pthread_mutex_unlock(&shelf->lock);
    enum brio_err err = write_runs(p, sheet);
    pthread_mutex_lock(&shelf->lock);
    if (err) {
        sheet->state = BRIO_HELD;
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
    for (int i = 0; i < BRIO_PLACES; i++) {
        struct brio_sheet *sheet = &shelf->place[i];
        if (sheet->state == BRIO_HELD && (!oldest || now - sheet->age > now - oldest->age))
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
    for (int i = 0; i < BRIO_PLACES; i++)
        if (shelf->place[i].state != BRIO_EMPTY && shelf->place[i].page == page)
            return &shelf->place[i];
    return NULL;
}

static struct brio_sheet *find_place(struct brio_shelf *shelf)
{
    for (int i = 0; i < BRIO_PLACES; i++)
        if (shelf->place[i].state == BRIO_EMPTY)
            return &shelf->place[i];
    return NULL;
}

/* With the lock held, and perhaps given up meanwhile: gets nearer to a page that can be held,
 * and sets *out once it is there. */
static BRIO_ERR approach(struct brio_pages *p, struct brio_shelf *shelf, brio_off page,
                         struct brio_sheet **out)
{
    struct brio_sheet *sheet = find(shelf, page);
    uint32_t slot = 0;
    if (sheet && sheet->state == BRIO_HELD) {
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
    *place = (struct brio_sheet){.page = page, .state = BRIO_HELD, .slot = slot};
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
    struct brio_pages_head *head = p->head;
    if (!p->shares || (atomic_load(&head->nidle) == 0 && !has_written(p, true)))
        return false;
    pthread_mutex_lock(&head->lock);
    bool passed = head->nwaiting < BRIO_MAX_WAITING;
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
    struct brio_pages_head *head = p->head;
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
    if (sheet && sheet->state == BRIO_HELD && is_full(p, dirty_of(p, sheet)) &&
        write_page(p, shelf, sheet))
        brio_log(BRIO_NOTE, "not yet written: %s", brio_err_text());
    pthread_mutex_unlock(&shelf->lock);
    return true;
}

void brio_pages_help(struct brio_pages *p)
{
    struct brio_pages_head *head = p->head;
    if (atomic_load_explicit(&head->nwaiting, memory_order_relaxed) > 0 &&
        atomic_load_explicit(&head->nidle, memory_order_relaxed) == 0 && has_written(p, false))
        (void)write_waiting(p);
    if (atomic_load_explicit(&p->ahead, memory_order_relaxed))
        fall_back(p);
}

void brio_pages_attend(struct brio_pages *p, bool (*over)(void *self), void *self)
{
    struct brio_pages_head *head = p->head;
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
    while ((sheet = find(shelf, page)) && sheet->state == BRIO_LEAVING)
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
    for (int i = 0; i < BRIO_PLACES; i++) {
        struct brio_sheet *sheet = &shelf->place[i];
        *leaving |= sheet->state == BRIO_LEAVING;
        if (sheet->state == BRIO_HELD && sheet->failed != p->flushes)
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

/* ---- Opening and closing --------------------------------------------------------------- */

static BRIO_ERR new_pages(const struct brio_pages_env *env, struct brio_pages **out)
{
    struct brio_pages *p;
    enum brio_err err = brio_calloc(1, sizeof *p, (void **)&p);
    if (err)
        return err;
    p->crew = env->crew;
    p->shares = env->crew->team.nranks > 1 && env->crew->team.nranks <= brio_cores();
    p->crowded = env->crew->team.nranks > brio_cores();
    p->below = env->below;
    p->page = (uint32_t)env->page;
    p->nslots = (uint32_t)brio_min(brio_max(env->bytes / env->page, 2), 1 << 20);
    p->nshelves = (2 * p->nslots + BRIO_PLACES - 1) / BRIO_PLACES;
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
        err = brio_pages_share(p);
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
