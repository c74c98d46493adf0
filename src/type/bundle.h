/* A few small pieces repeated many times: the array of C structs. Walking it gives a run for
 * every piece or two; copied piece by piece across the turns, each piece is one strided
 * loop. Not for other rooms. */
#ifndef BRIO_TYPE_BUNDLE_H
#define BRIO_TYPE_BUNDLE_H

#include "type/map.h"

enum {
    BRIO_BUNDLE_PIECES = 16
};

struct brio_bundle {
    int npieces;
    brio_off at[BRIO_BUNDLE_PIECES];    /* of the piece in the first turn */
    brio_off start[BRIO_BUNDLE_PIECES]; /* data bytes before it in a turn */
    brio_off len[BRIO_BUNDLE_PIECES];
    brio_off size, stride; /* data bytes of a turn; from turn to turn */
    brio_off pos, turns;   /* whole turns from data byte pos on */
};

/* Looks for whole turns among data bytes [pos, pos+bytes). False if there are too few to be
 * worth it. */
bool brio_bundle_find(const struct brio_map *map, brio_off pos, brio_off bytes,
                      struct brio_bundle *out);

#endif
