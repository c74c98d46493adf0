/* How far the other ranks' cores are. Where two cores share a cache, what one has written is
 * soon read by the other. Where they do not, a line of it takes several times as long as from
 * memory, and so does writing to it again. (Two cores of one processor, 64 MiB through windows
 * of 1 MiB: 6-7 ms near, 16-28 far; 6-8 far if what changes hands is in memory only.)
 *
 * A beacon is a few cache lines of each rank, in the area. A rank lights it when it has had to
 * do with a window; the owner reads that of the rank that was the last, which takes as long as
 * it is far. Ranks move from core to core, and a virtual machine's cores do: so it is looked at
 * again and again. */
#ifndef BRIO_FCOLL_BEACON_H
#define BRIO_FCOLL_BEACON_H

#include "base/cache_lines.h"

enum {
    BRIO_BEACON_LINES = 4
};

struct brio_beacon {
    struct {
        _Atomic int64_t lit;  /* when; of the first */
        _Atomic int64_t next; /* of the lines: whoever follows them cannot read ahead */
        char pad[4 * BRIO_LINE - 2 * sizeof(int64_t)]; /* nor does the processor by itself */
    } line[BRIO_BEACON_LINES];
};

/* What an owner thinks of the others. */
struct brio_distance {
    bool far;
    int64_t line; /* picoseconds that one takes, of late */
};

void brio_beacon_light(struct brio_beacon *mine);

/* Looks at another rank's. One that was lit some time ago is no longer in that rank's cache,
 * and says nothing. */
void brio_distance_look(struct brio_distance *d, const struct brio_beacon *other);

/* What a look that took so long says. Pure. */
void brio_distance_judge(struct brio_distance *d, int64_t ns);

#endif
