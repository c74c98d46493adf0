/* Which rank owns a page, and how large pages are. Pure. */
#ifndef BRIO_CACHE_OWNER_H
#define BRIO_CACHE_OWNER_H

#include "base/base.h"

/* Pages go round the ranks. Where page i lies on server i mod nservers of several, they go
 * round in such a way that a rank has to do with as few servers as possible: with one, if
 * there are as many ranks as servers. (Some ranks own nothing if the numbers do not fit.) */
static inline int brio_page_owner(brio_off page, int nranks, int nservers)
{
    if (nservers < 2 || nranks < 2)
        return (int)(page % nranks);
    brio_off server = page % nservers;
    brio_off rounds = nranks / nservers; /* ranks for each server */
    if (rounds < 2)
        return (int)(server % nranks);
    return (int)(server + nservers * (page / nservers % rounds));
}

/* The stripe, in whole parts if it is large and several if it is small; else a number of the
 * file system's blocks near `wish`. */
static inline brio_off brio_page_size(brio_off stripe, brio_off block, brio_off wish)
{
    brio_off size = stripe;
    if (size > 0) {
        while (size > 4 * wish && size % 2 == 0)
            size /= 2;
        return size <= 4 * wish ? size * brio_max(1, wish / 4 / size) : wish;
    }
    if (block <= 0 || block > wish)
        return brio_max(block, wish);
    return (wish + block - 1) / block * block;
}

#endif
