/* Patterns that interleave, moved together to or from where the data of each lies packed. Four
 * neighbours at a time take a third of what one after the other does: each line of the common
 * memory is touched once (4-byte pieces of four patterns, 64 MiB by 256 KiB: 3.5 ms, 10 one by
 * one). Pure. */
#ifndef BRIO_TYPE_WEAVE_H
#define BRIO_TYPE_WEAVE_H

#include "type/map.h"

/* Data bytes [pos, pos+bytes) of a map, and where they lie packed. */
struct brio_strand {
    const struct brio_map *map;
    brio_off pos, bytes;
    char *flat;
};

/* BRIO_WRITE: from the strands to memory around `base`, from which the maps' offsets are
 * counted; BRIO_READ: from there to the strands. No byte belongs to two strands that are
 * written. Uses the strands up. */
void brio_weave(void *base, struct brio_strand *strands, int n, enum brio_dir dir);

#endif
