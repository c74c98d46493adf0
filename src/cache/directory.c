/* A hash table of pages with chains, and a heap of waiters; both are numbered from 1: zeroed
 * buckets are an empty table. */
#include "cache/directory.h"

#include <stdatomic.h>
#include <string.h>

struct entry {
    brio_off page;
    int32_t owner;
    uint32_t frame;
    bool ready, alone; /* alone: one has it */
    uint32_t readers;
    uint32_t first, last; /* who wait */
    uint32_t next;        /* in the chain, or of the free ones */
};

struct brio_directory {
    uint32_t nbuckets; /* a power of two */
    uint32_t npages, nwaiters;
    uint32_t pages_used, waiters_used; /* so many have ever been */
    uint32_t free_pages, free_waiters; /* chains */
    uint32_t count;
};

static uint32_t round_up(uint32_t n)
{
    uint32_t power = 64;
    while (power < n && power < (uint32_t)1 << 30)
        power *= 2;
    return power;
}

static uint32_t *bucket_array(const struct brio_directory *d)
{
    return (uint32_t *)(d + 1);
}

static struct entry *entry_at(const struct brio_directory *d, uint32_t i)
{
    return (struct entry *)(bucket_array(d) + d->nbuckets) + (i - 1);
}

static struct brio_waiter *waiter_at(const struct brio_directory *d, uint32_t i)
{
    return (struct brio_waiter *)(entry_at(d, d->npages) + 1) + (i - 1);
}

size_t brio_directory_room(uint32_t npages, uint32_t nwaiters)
{
    return sizeof(struct brio_directory) + round_up(npages) * sizeof(uint32_t) +
           npages * sizeof(struct entry) + nwaiters * sizeof(struct brio_waiter);
}

void brio_directory_init(struct brio_directory *d, uint32_t npages, uint32_t nwaiters)
{
    *d = (struct brio_directory){
        .nbuckets = round_up(npages), .npages = npages, .nwaiters = nwaiters};
    memset(bucket_array(d), 0, d->nbuckets * sizeof(uint32_t));
}

void brio_directory_clear(struct brio_directory *d)
{
    if (d->pages_used > 0)
        brio_directory_init(d, d->npages, d->nwaiters);
}

uint32_t brio_directory_count(const struct brio_directory *d)
{
    return d->count;
}

static uint32_t *find_bucket(const struct brio_directory *d, brio_off page)
{
    uint64_t hash = (uint64_t)page * 0x9e3779b97f4a7c15u;
    return &bucket_array(d)[hash >> 32 & (d->nbuckets - 1)];
}

static struct entry *find(const struct brio_directory *d, brio_off page)
{
    uint32_t i = *find_bucket(d, page);
    while (i && entry_at(d, i)->page != page)
        i = entry_at(d, i)->next;
    return i ? entry_at(d, i) : NULL;
}

/* NULL if there is no room. */
static struct entry *add(struct brio_directory *d, brio_off page)
{
    uint32_t i = d->free_pages, *bucket = find_bucket(d, page);
    if (i)
        d->free_pages = entry_at(d, i)->next;
    else if (d->pages_used < d->npages)
        i = ++d->pages_used;
    else
        return NULL;
    struct entry *e = entry_at(d, i);
    *e = (struct entry){.page = page, .owner = -1, .next = *bucket};
    *bucket = i;
    d->count++;
    return e;
}

/* If nothing is known of it any more. */
static void drop(struct brio_directory *d, struct entry *e)
{
    uint32_t *at = find_bucket(d, e->page);
    if (e->alone || e->readers > 0 || e->first || e->owner >= 0)
        return;
    while (entry_at(d, *at) != e)
        at = &entry_at(d, *at)->next;
    uint32_t i = *at;
    *at = e->next;
    e->next = d->free_pages;
    d->free_pages = i;
    d->count--;
}

static bool is_free(const struct entry *e, bool alone)
{
    return !e->alone && (e->readers == 0 || (!alone && e->ready));
}

static void take(struct entry *e, bool alone, struct brio_grant *out)
{
    alone |= !e->ready;
    e->alone = alone;
    e->readers += !alone;
    *out = (struct brio_grant){
        .owner = e->owner, .frame = e->frame, .ready = e->ready, .alone = alone};
}

static uint32_t draw_ticket(struct brio_directory *d)
{
    uint32_t i = d->free_waiters;
    if (i)
        d->free_waiters = waiter_at(d, i)->next;
    else if (d->waiters_used < d->nwaiters)
        i = ++d->waiters_used;
    return i;
}

enum brio_lock_answer brio_directory_lock(struct brio_directory *d,
                                          const struct brio_wish *wish, struct brio_grant *out,
                                          uint32_t *ticket)
{
    struct entry *e = find(d, wish->page);
    if (!e)
        e = add(d, wish->page);
    if (!e)
        return BRIO_BUSY;
    if (!e->first && is_free(e, wish->alone)) {
        take(e, wish->alone, out);
        return BRIO_GRANTED;
    }
    uint32_t i = wish->wait ? draw_ticket(d) : 0;
    if (!i)
        return BRIO_BUSY;
    struct brio_waiter *w = waiter_at(d, i);
    *w = (struct brio_waiter){.rank = wish->rank, .page = wish->page, .alone = wish->alone};
    if (e->first)
        waiter_at(d, e->last)->next = i;
    else
        e->first = i;
    e->last = i;
    *ticket = i - 1;
    return BRIO_WAITS;
}

struct brio_waiter *brio_directory_waiter(struct brio_directory *d, uint32_t ticket)
{
    return waiter_at(d, ticket + 1);
}

void brio_directory_collect(struct brio_directory *d, uint32_t ticket, struct brio_grant *out)
{
    struct brio_waiter *w = waiter_at(d, ticket + 1);
    *out = w->grant;
    w->next = d->free_waiters;
    d->free_waiters = ticket + 1;
}

/* Those at the head of the queue whose turn it is. */
static uint32_t let_in(struct brio_directory *d, struct entry *e)
{
    uint32_t granted = 0;
    while (e->first && is_free(e, waiter_at(d, e->first)->alone)) {
        uint32_t i = e->first;
        struct brio_waiter *w = waiter_at(d, i);
        e->first = w->next;
        take(e, w->alone, &w->grant);
        w->next = granted;
        granted = i;
        atomic_store(&w->granted, 1);
    }
    return granted;
}

uint32_t brio_directory_unlock(struct brio_directory *d, brio_off page,
                               const struct brio_grant *grant)
{
    struct entry *e = find(d, page);
    if (!e)
        return 0;
    if (grant->alone) {
        e->alone = false;
        e->owner = grant->owner;
        e->frame = grant->frame;
        e->ready = grant->owner >= 0 && grant->ready;
    } else {
        e->readers--;
    }
    uint32_t granted = let_in(d, e);
    drop(d, e);
    return granted;
}
