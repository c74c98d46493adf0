/* Takes an io apart for stages that talk to a system: one stretch of the file after the
 * other, each with the pieces of memory that belong to it. */
#ifndef BRIO_LANE_WALK_H
#define BRIO_LANE_WALK_H

#include <sys/uio.h>

#include "lane/lane.h"

BRIO_DOOR_BEGIN

/* One side: where its cursor is, and what is left of the run that it gave last. */
struct brio_walk_side {
    struct brio_cursor cursor;
    struct brio_run run;
    brio_off into; /* bytes of the run's first piece already handed out */
};

struct brio_walk {
    struct brio_walk_side file, mem;
    const struct brio_io *io;
    brio_off left; /* data bytes not yet handed out */
};

/* One contiguous stretch of the file. */
struct brio_stretch {
    brio_off off, len;
    int niov;
};

void brio_walk_init(struct brio_walk *walk, const struct brio_io *io);

/* The next stretch: at most max_bytes long, at most max_iov pieces of memory, which are put
 * into iov. False when all has been handed out. */
bool brio_walk_next(struct brio_walk *walk, brio_off max_bytes, int max_iov, struct iovec *iov,
                    struct brio_stretch *out);

BRIO_DOOR_END

#endif
