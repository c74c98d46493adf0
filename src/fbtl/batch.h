/* Pieces of an access taken together, for systems that take a list of places in the file and a
 * list of places in memory at once, but not too long ones. Pure. */
#ifndef BRIO_FBTL_BATCH_H
#define BRIO_FBTL_BATCH_H

#include "lane/walk.h"

enum {
    BRIO_BATCH_PIECES = 64
};

struct brio_batch {
    brio_off bytes;
    int nfile, nmem;
    struct brio_extent {
        brio_off off, len;
    } file[BRIO_BATCH_PIECES];
    struct iovec mem[BRIO_BATCH_PIECES]; /* no two of them touch */
};

/* The next pieces, as many as are at most BRIO_BATCH_PIECES when they are cut at every end of a
 * piece of the file, of a piece of memory and of a stripe (0: there are none); but no more
 * than max_bytes. A piece that has more stripes than that comes alone, and is not cut. False
 * when all has been handed out. */
bool brio_batch_next(struct brio_walk *walk, brio_off max_bytes, brio_off stripe,
                     struct brio_batch *out);

/* The same for one stretch of the file at `off`: as much of the vector as fits, its first piece
 * at least, but no more than max_bytes. */
void brio_batch_vector(const struct iovec *iov, int niov, brio_off off, brio_off max_bytes,
                       brio_off stripe, struct brio_batch *out);

/* Of a file that is dealt out to nobjects objects, a stripe to each in turn: whether all pieces
 * of the batch lie in one of them; and how many bytes the object with the most has got. */
bool brio_batch_is_one(const struct brio_batch *b, brio_off stripe, int nobjects,
                       brio_off *most);

/* The pieces that lie in one object. *from is 0 at first, and then as it was left, for the next
 * object, until false tells that there are no more. Not for a batch of a single piece that is
 * not cut. */
bool brio_batch_part(const struct brio_batch *b, brio_off stripe, int nobjects, int *from,
                     struct brio_batch *out);

#endif
