/* Writing through a shared mapping of the file. The descriptor of the port must be readable and
 * writable. */
#ifndef BRIO_FBTL_MAPPED_H
#define BRIO_FBTL_MAPPED_H

#include "fbtl/move.h"

/* Makes the file reach to `hi`, one past the last byte of the write `io`, by writing that
 * byte. Not by ftruncate: another rank may just have made the file longer. And not only if it
 * is shorter: one that has just become longer by another's write is still to be cleared up to
 * that, which Linux does after it has told the new length, and stores through a mapping would
 * be lost; a write waits until it is over. False if it failed. */
bool brio_mapped_reach(const struct brio_port *to, const struct brio_io *io, brio_off hi);

/* Asks for blocks for [lo, hi) at once if the file lacks some; one that cannot be had is told
 * by brio_mapped_write. */
void brio_mapped_allocate(const struct brio_port *to, brio_off lo, brio_off hi);

/* Writes an access whose data lie in [lo, hi) of the file, and touches no other byte. False if
 * that is not possible here or now; nothing is lost then, though bytes of the access may have
 * been written: write it by stretches, which tells what is wrong. */
bool brio_mapped_write(const struct brio_port *to, const struct brio_io *io, brio_off lo,
                       brio_off hi);

#endif
