/* The memory of the pages: where its parts are, and how it begins. */
#include <string.h>
#include <time.h>

#include "cache/dirty.h"
#include "cache/pages_parts.h"
#include "comm/verdict.h"

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
        p->head = (struct brio_pages_head *)base;
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
    pthread_condattr_setclock(&condition, CLOCK_MONOTONIC);
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

BRIO_ERR brio_pages_share(struct brio_pages *p)
{
    const struct brio_team *team = &p->crew->team;
    enum brio_err err;
    brio_region_init(&p->region, team, p->crew->slot, &p->crew->page);
    p->region.second_hand = true;
    brio_region_need(&p->region, lay_out(p, NULL));
    while (!brio_region_step(&p->region, BRIO_BLOCK, &err))
        ;
    if (err)
        return err;
    lay_out(p, p->region.mem);
    if (team->rank == 0)
        err = init_memory(p);
    return brio_agree(team, err); /* nobody looks before */
}
