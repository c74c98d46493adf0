/* Long reads to memory that lies unevenly. The kernel copies what it has of a file folio by
 * folio, and an x86 processor does this at half its speed, or less, if the copy does not begin
 * at a half or whole cache line, as with what malloc gives (64 MiB, ms: even 9.6, 16 bytes
 * beside it 12.9, 8 bytes 28; with larger folios 4.7, 11.5). So a piece is read some bytes
 * before its place, where it lies evenly, and moved there while it is still in the cache (10.1
 * wherever it lies). */
#ifndef BRIO_FBTL_EVEN_H
#define BRIO_FBTL_EVEN_H

#include <sys/uio.h>

#include "base/base.h"

enum {
#if defined(__x86_64__)
    BRIO_EVEN_PAYS = true
#else
    BRIO_EVEN_PAYS = false
#endif
};

/* One read on its way. */
struct brio_even {
    brio_off shift; /* bytes; 0: it goes to its place */
    char before[BRIO_LINE];
};

/* Before a read from offset `off` to `piece`, which is behind `room` bytes of the same access
 * that are there already: the piece may get shorter, and be shifted. Nothing behind what was
 * read is ever written to. */
void brio_even_begin(struct brio_even *e, struct iovec *piece, brio_off off, brio_off room);

/* After it: `n` bytes were read. */
void brio_even_end(const struct brio_even *e, const struct iovec *piece, brio_off n);

#endif
