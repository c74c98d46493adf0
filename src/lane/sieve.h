/* How a noncontiguous access is best taken apart. Pure: it decides, the last stage of the
 * lane acts. Unlike what is usually called data sieving, no way of writing here ever writes
 * a byte that is not part of the access: gaps belong to others. */
#ifndef BRIO_LANE_SIEVE_H
#define BRIO_LANE_SIEVE_H

#include "lane/lane.h"
#include "mod/module.h"

enum {
    BRIO_LARGE_PAGE = 2 << 20 /* windows for writing that are as long end at multiples of it */
};

enum brio_way {
    BRIO_WAY_STRETCH, /* vectored calls, one stretch of the file after the other */
    BRIO_WAY_PACK,    /* memory in small pieces: through a contiguous buffer */
    BRIO_WAY_WINDOW   /* file in small pieces: a whole window of it at once */
};

/* What the stage can do, and what the user wants. */
struct brio_sieve {
    enum brio_switch read, write;
    brio_off read_window, write_window; /* bytes of the file, at most */
    brio_off call_bytes; /* what can be moved in the time that a call takes; 0: as for files
                          * of this kernel */
    bool mapped; /* it can write a window without touching the gaps: through a mapping */
};

/* The next bytes of an access and how to move them. */
struct brio_bite {
    enum brio_way way;
    brio_off bytes;  /* data bytes, > 0 */
    brio_off lo, hi; /* BRIO_WAY_WINDOW: the first byte in the file, and one past the last */
};

/* For io->bytes > 0. The caller moves the bite and asks again for the rest. Windows for
 * writing end at page boundaries, long ones at those of large pages, unless the access does
 * not. */
void brio_sieve_next(const struct brio_sieve *sieve, const struct brio_io *io,
                     struct brio_bite *out);

#endif
