/* The global pages that the ranks of one crew hold together, in memory that they share: any
 * of them puts bytes into any page, without a message. Only bytes that were put are ever
 * written. A page that is full is written by the rank that filled it, or by one that has
 * written less or only waits for the others; one that must make room, by the rank that needs
 * the room. What cannot be written stays and is tried again. */
#ifndef BRIO_CACHE_PAGES_H
#define BRIO_CACHE_PAGES_H

#include "comm/crew.h"
#include "lane/lane.h"

struct brio_pages;

struct brio_pages_env {
    const struct brio_crew *crew; /* outlives the pages */
    struct brio_lane below;       /* to the file, for this rank */
    brio_off page;                /* bytes of one; below 2 GiB */
    brio_off bytes;               /* that all pages together may take; at least two do */
};

/* Collective over the crew: on all ranks of it or on none. */
BRIO_ERR brio_pages_open(const struct brio_pages_env *env, struct brio_pages **out);

/* Collective over the crew. What has not been flushed is lost. */
void brio_pages_close(struct brio_pages *p);

/* A page held by one thread; others wait, so not for long. */
struct brio_hold {
    char *data;               /* of the page */
    struct brio_dirty *dirty; /* what is put is added here by the holder */
    struct brio_shelf *shelf;
    struct brio_sheet *sheet;
};

/* May write pages out to make room, and fails if none could be. There is room for at least
 * one more dirty run. */
BRIO_ERR brio_pages_take(struct brio_pages *p, brio_off page, struct brio_hold *out);

/* Before bytes [lo, lo + n) of the page are put: this process may have to get memory. */
void brio_pages_ready(struct brio_pages *p, const struct brio_hold *hold, uint32_t lo,
                      uint32_t n);

/* Fails if the page was full and could not be written; it stays then, nothing is lost. */
BRIO_ERR brio_pages_give(struct brio_pages *p, const struct brio_hold *hold);

/* While this rank holds nothing: writes a full page that another rank has left to those who
 * have written less, if this is one of them and nobody is idle; lets others go on if it has run
 * ahead of them. */
void brio_pages_help(struct brio_pages *p);

/* By all ranks of the crew, each when it has nothing to do until all others have come and it is
 * `over`: writes meanwhile what they fill. */
void brio_pages_attend(struct brio_pages *p, bool (*over)(void *self), void *self);

/* Bytes [lo, hi) of the page will be overwritten past it: what it holds of them is forgotten,
 * or written now. Fails if it could not be; then nothing is lost. */
BRIO_ERR brio_pages_forget(struct brio_pages *p, brio_off page, uint32_t lo, uint32_t hi);

/* A word for the caller that all ranks of the crew see, 0 at first. */
_Atomic uint32_t *brio_pages_word(struct brio_pages *p);

/* By all ranks of the crew, while none of them puts anything: they share the work. Fails if
 * some page that this rank tried could not be written. */
BRIO_ERR brio_pages_flush(struct brio_pages *p);

#endif
