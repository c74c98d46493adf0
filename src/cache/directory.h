/* Where the pages of a file are cached, and who may use them: of each page that is locked or
 * cached, its place, its lock (shared by readers, or held by one alone) and who wait for it,
 * in the order they came. Pure, and without pointers: it lies in shared memory. The caller
 * keeps others out while it calls. */
#ifndef BRIO_CACHE_DIRECTORY_H
#define BRIO_CACHE_DIRECTORY_H

#include "base/base.h"

struct brio_directory;

/* What a lock gives. */
struct brio_grant {
    int32_t owner;  /* the rank that has the page, or -1: nobody */
    uint32_t frame; /* and where */
    bool ready;     /* all of it can be read as it is there */
    bool alone;     /* nobody else has a lock; then the three above may be changed */
};

enum brio_lock_answer {
    BRIO_GRANTED,
    BRIO_WAITS, /* a ticket has been drawn */
    BRIO_BUSY   /* it is not free, and the caller would not wait or there is no room to */
};

/* Who waits. */
struct brio_waiter {
    _Atomic uint32_t granted; /* becomes 1 */
    _Atomic uint32_t asleep;  /* the caller's: it must be woken then */
    int32_t rank;             /* of the caller's choice */
    uint32_t next;            /* of those granted together: 1 + ticket, or 0 */
    struct brio_grant grant;  /* once granted */
    brio_off page;
    bool alone;
};

size_t brio_directory_room(uint32_t npages, uint32_t nwaiters);

/* The memory may hold anything. */
void brio_directory_init(struct brio_directory *d, uint32_t npages, uint32_t nwaiters);

/* A lock that is asked for: alone, or shared with other readers. */
struct brio_wish {
    brio_off page;
    bool alone;
    bool wait; /* else it is to be had now or not at all */
    int rank;  /* of brio_waiter */
};

/* A page that is not ready cannot be shared: its first reader gets it alone, to make it so. */
enum brio_lock_answer brio_directory_lock(struct brio_directory *d,
                                          const struct brio_wish *wish, struct brio_grant *out,
                                          uint32_t *ticket);

struct brio_waiter *brio_directory_waiter(struct brio_directory *d, uint32_t ticket);

/* The lock of a waiter that has been granted; its ticket is gone. */
void brio_directory_collect(struct brio_directory *d, uint32_t ticket, struct brio_grant *out);

/* Gives a lock back, with what the page is now if it was held alone. Returns 1 + ticket of
 * the first who got a lock by that, or 0; its `next` is another one. */
uint32_t brio_directory_unlock(struct brio_directory *d, brio_off page,
                               const struct brio_grant *grant);

/* Forgets all pages; nobody may hold or wait for any. */
void brio_directory_clear(struct brio_directory *d);

/* Pages that are locked or cached. */
uint32_t brio_directory_count(const struct brio_directory *d);

#endif
