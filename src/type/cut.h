/* A part of a tiled map as a map of its own: for handing to another rank just what concerns
 * it. As compact as the map it is cut from. */
#ifndef BRIO_TYPE_CUT_H
#define BRIO_TYPE_CUT_H

#include "type/map.h"

/* Data bytes [pos, pos+bytes) of the map, with offsets counted from where `base` counts from:
 * one tile that stands for itself. bytes >= 0. Only for plain bytes (kind 0). */
BRIO_ERR brio_map_cut(const struct brio_map *map, brio_off base, brio_off pos, brio_off bytes,
                      struct brio_map **out);

/* The number of data bytes of such a map, one tile, at offsets below `off`. Monotone maps. */
static inline brio_off brio_cut_below(const struct brio_map *cut, brio_off off)
{
    if (cut->size == 0 || off <= cut->lo)
        return 0;
    return off >= cut->hi ? cut->size : brio_map_below(cut, off);
}

#endif
