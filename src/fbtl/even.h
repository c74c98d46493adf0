/* Long reads to memory that lies unevenly. The kernel copies what it has of a file folio by
 * folio, and some x86 processors do this at half their speed, or less, if the copy does not
 * begin at a half or whole cache line, as with what malloc gives (64 MiB, ms: even 9.6, 16
 * bytes beside it 12.9, 8 bytes 28; with larger folios 4.7, 11.5). So a piece is read some
 * bytes before its place, where it lies evenly, and moved there while it is still in the cache
 * (10.1 wherever it lies). Others do not mind, and would lose a tenth: both ways are tried. */
#ifndef BRIO_FBTL_EVEN_H
#define BRIO_FBTL_EVEN_H

#include <sys/uio.h>

#include "base/trial.h"

/* One read on its way. */
struct brio_even {
    brio_off shift;      /* bytes; 0: it goes to its place */
    struct brio_use use; /* of the trial */
    char before[BRIO_LINE];
};

enum {
    BRIO_EVEN_LEAST = 1 << 20 /* bytes of a read: a shorter one may be in the cache, and lose */
};

/* Before a read from offset `off` to `piece`, which is behind `room` bytes of the same access
 * that are there already: the piece may get shorter, and be shifted. Nothing behind what was
 * read is ever written to. */
void brio_even_begin(struct brio_even *e, struct brio_trial *trial, struct iovec *piece,
                     brio_off off, brio_off room);

/* After it: `n` bytes were read. */
void brio_even_end(const struct brio_even *e, struct brio_trial *trial,
                   const struct iovec *piece, brio_off n);

#endif
