/* Elements to and from external32: big-endian, in the standard's sizes. The file side is
 * contiguous, the memory side strided. Not for other rooms. */
#ifndef BRIO_TYPE_EXTERNAL32_H
#define BRIO_TYPE_EXTERNAL32_H

#include "type/flatten.h"

/* File bytes of one tile of a typed map. */
brio_off brio_external32_size(const struct brio_map *typed);

/* run->count elements of kind run->kind around `base`. BRIO_ECONV if a value does not fit:
 * cutting it would lose data silently. */
BRIO_ERR brio_external32_encode(const void *base, const struct brio_run *run, void *file);
BRIO_ERR brio_external32_decode(void *base, const struct brio_run *run, const void *file);

/* One x87 extended number (10 bytes, little-endian) to big-endian binary128, exactly; and
 * back, rounded to nearest even. The 6 bytes of padding behind it in memory become zero. */
void brio_extended_to_quad(const unsigned char *x87, unsigned char *quad);
void brio_quad_to_extended(const unsigned char *quad, unsigned char *x87);

#endif
