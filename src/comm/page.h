/* A page of memory of one process that the other processes of its node can map, without a
 * name in any file system: nothing to collide with, nothing left behind. */
#ifndef BRIO_COMM_PAGE_H
#define BRIO_COMM_PAGE_H

#include "base/base.h"
#include "comm/meet.h"

/* Where a slot is: plain data, sent to others. */
struct brio_page_ref {
    int64_t pid;
    int64_t nonce; /* so that a reused pid is noticed */
    int32_t fd;
    int32_t slot;
};

/* What the ranks of one file share. */
struct brio_page_slot {
    _Atomic int64_t value; /* the shared pointer, on a cache line of its own */
    char pad[56];
    struct brio_meet meet;
    _Atomic int64_t region_id; /* of comm/region.h: the memory, */
    _Atomic int32_t region_fd; /* and rank 0's descriptor of it */
    _Atomic uint32_t bell;     /* of comm/porter.h: rung so often */
    _Atomic uint32_t asleep;   /* its owner sleeps until it is rung */
};

/* Takes a fresh slot of this process's page. */
BRIO_ERR brio_page_take(struct brio_page_ref *ref, struct brio_page_slot **out);
void brio_page_give(const struct brio_page_ref *ref);

/* Maps the page of another process (kept: a page is mapped once). */
BRIO_ERR brio_page_attach(const struct brio_page_ref *ref, struct brio_page_slot **out);

#endif
