/* A map as plain numbers, to be sent to another rank or kept as a key. */
#ifndef BRIO_TYPE_WIRE_H
#define BRIO_TYPE_WIRE_H

#include "type/map.h"

/* How many numbers the map takes. */
size_t brio_wire_size(const struct brio_map *map);

/* Writes them and returns the place behind them. */
int64_t *brio_wire_put(const struct brio_map *map, int64_t *at);

/* Reads a map of at most `room` numbers; *used says how many there were. What was not
 * written by brio_wire_put is BRIO_EINTERN, not a crash. */
BRIO_ERR brio_wire_get(const int64_t *at, size_t room, size_t *used, struct brio_map **out);

#endif
