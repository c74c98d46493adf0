/* The insides of pages: what lies in the memory that the ranks share, and what a rank knows of
 * it. For pages.c and pages_memory.c. */
#ifndef BRIO_CACHE_PAGES_PARTS_H
#define BRIO_CACHE_PAGES_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "cache/pages.h"
#include "comm/bell.h"
#include "comm/region.h"

enum {
    BRIO_PLACES = 8,     /* of a shelf */
    BRIO_MAX_WAITING = 2 /* full pages that are passed on and that nobody writes yet: one more
                            than keeps a writer busy, since they should still be in a cache */
};

enum brio_sheet_state {
    BRIO_EMPTY,
    BRIO_HELD,   /* some of it is dirty */
    BRIO_LEAVING /* being written */
};

struct brio_sheet {
    brio_off page;
    enum brio_sheet_state state;
    uint32_t slot;   /* its memory */
    uint32_t age;    /* when it was last put to, in pages begun */
    uint32_t failed; /* the flush in which it could not be written */
};

struct brio_shelf {
    pthread_mutex_t lock;
    pthread_cond_t left; /* some page here is no longer BRIO_LEAVING */
    struct brio_sheet place[BRIO_PLACES];
};

/* At the beginning of the shared memory. */
struct brio_pages_head {
    pthread_mutex_t lock; /* of the stack of free slots */
    pthread_cond_t changed;
    uint32_t nfree;
    uint32_t changes;       /* pages that have been written, or could not be */
    _Atomic uint32_t begun; /* pages */
    _Atomic uint32_t word;  /* the caller's */
    _Atomic uint32_t hand;  /* the shelf where the search for something old goes on */
    brio_off waiting[BRIO_MAX_WAITING];     /* full pages, for ranks that have time; */
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
    bool shares;               /* ranks write for each other: each of several has a core */
    bool crowded;              /* they have not */
    _Atomic bool ahead;        /* this rank has begun a page while many are not full; */
    _Atomic uint32_t unwaited; /* it may begin so many before it waits for others again, */
    _Atomic uint32_t vain;     /* and so many after it has waited in vain */
    struct brio_region region;
    struct brio_pages_head *head; /* the parts of the region */
    _Atomic uint32_t *wrote;      /* by rank: pages */
    struct brio_shelf *shelves;
    uint32_t *free_slots;
    char *runs, *data;
};

/* Collective over the crew: gets the memory and furnishes it. */
BRIO_ERR brio_pages_share(struct brio_pages *p);

#endif
