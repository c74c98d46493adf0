/* How far the cores of a node are from each other, and what follows from it: a rank writes what
 * another is going to read straight to the node's memory, the lines of which may be in that
 * one's caches; or past all caches. Straight is faster where cores share a cache, past where
 * they do not (64 MiB, 4 ranks on 2 cores, pieces of 4 bytes and of 1 KiB, read: straight 5.9
 * ms and 6.3 near, 14.6 and 13.6 far; past 7.6 and 7.4 near, 6.5 and 6.6 far). The ranks of a
 * file find out together, for one that goes another way than the rest slows all down. What is
 * read in pieces of some lines lies in the order of the file where cores share a cache: nobody
 * has to put it anywhere. */
#ifndef BRIO_FCOLL_DISTANCE_H
#define BRIO_FCOLL_DISTANCE_H

#include "base/trial.h"

enum brio_distance_of {
    BRIO_DISTANCE_READ,
    BRIO_DISTANCE_WRITE,
    BRIO_DISTANCE_READ_COARSE, /* in pieces of some lines */
    BRIO_DISTANCES
};

/* All zero at first, in memory that the ranks share. */
struct brio_distance {
    struct brio_trial trial[BRIO_DISTANCES];
};

/* Before data is put there: `other' says past. */
struct brio_use brio_distance_begin(struct brio_distance *d, enum brio_distance_of what,
                                    brio_off bytes);

/* It is there. A rank remembers what is known then for its next file. */
void brio_distance_end(struct brio_distance *d, enum brio_distance_of what,
                       const struct brio_use *use, brio_off bytes);

/* It has been fetched, since `began`. */
void brio_distance_next(struct brio_distance *d, enum brio_distance_of what, bool past,
                        int64_t began, brio_off bytes);

#endif
