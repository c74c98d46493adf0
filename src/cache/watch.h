/* What the writes of a file cost, and whether keeping them back would pay. Pure. */
#ifndef BRIO_CACHE_WATCH_H
#define BRIO_CACHE_WATCH_H

#include "base/base.h"

enum {
    BRIO_WATCH_WRITES = 64,        /* on which a judgement rests */
    BRIO_WATCH_COSTLY = 20 * 1000, /* nanoseconds: ten times what keeping a write costs */
    BRIO_WATCH_WORDS = 160
};

struct brio_watch {
    int writes, costly; /* small ones since the last judgement */
    brio_off bytes;
    int64_t ns;
};

/* A write of `bytes` that took `ns`, where pages have `page` bytes. True if it was the last
 * of so many small ones, nearly all of them costly (what a busy machine does to a few does
 * not count): then it pays to keep the next ones back. `why` says so in words, or why not;
 * it is left alone while it is too early to tell. */
bool brio_watch_add(struct brio_watch *w, brio_off bytes, int64_t ns, brio_off page,
                    char why[BRIO_WATCH_WORDS]);

#endif
