/* The system calls of fbtl/posix: they loop until all is moved, or the file ends, or the
 * system refuses. */
#ifndef BRIO_FBTL_MOVE_H
#define BRIO_FBTL_MOVE_H

#include "base/stats.h"
#include "lane/lane.h"

/* Where the calls go, and where they are counted. */
struct brio_target {
    int fd;
    brio_off block;           /* a power of two: calls of whole blocks are the aligned ones */
    struct brio_stats *stats; /* or NULL */
};

/* `len` bytes at `addr`, from or to offset `off`. */
struct brio_result brio_move_flat(const struct brio_target *to, enum brio_dir dir, void *addr,
                                  brio_off off, brio_off len);

/* Any access, by vectored calls: one for each stretch of the file. */
struct brio_result brio_move_stretches(const struct brio_target *to, const struct brio_io *io);

/* Makes the file reach to `hi`, one past the last byte of the write `io`, by writing that
 * byte. Not by ftruncate: another rank may just have made the file longer. False if that
 * failed. */
bool brio_move_reach(const struct brio_target *to, const struct brio_io *io, brio_off hi);

/* Writes an access whose data lie in [lo, hi) of the file through a shared mapping, which
 * touches no other byte. False if that is not possible here or now; nothing is lost then,
 * though bytes of the access may have been written: write it by stretches, which tells what
 * is wrong. The descriptor must be readable and writable. */
bool brio_move_mapped(const struct brio_target *to, const struct brio_io *io, brio_off lo,
                      brio_off hi);

#endif
