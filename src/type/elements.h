/* Counting the elements (named types) of a counted map, see brio_sizer.counted. Not for other
 * rooms. */
#ifndef BRIO_TYPE_ELEMENTS_H
#define BRIO_TYPE_ELEMENTS_H

#include "type/map.h"

/* A number of elements, and their bytes in the file and in memory. */
struct brio_elements {
    brio_off count, file, mem;
};

/* Of one tile. */
struct brio_elements brio_elements_of_tile(const struct brio_map *counted);

/* Those that lie whole in the first `bytes` file bytes of the tiled map. */
struct brio_elements brio_elements_within(const struct brio_map *counted, brio_off bytes);

/* The file bytes of each element if they are all alike, else 0. */
brio_off brio_elements_len(const struct brio_map *counted);

#endif
