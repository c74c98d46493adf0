/* Copy kernels: between a strided pattern in memory and a contiguous buffer, or between
 * two patterns. Pure. Speed matters here: fixed-size loops for pieces of 1, 2, 4, 8 and
 * 16 bytes, memcpy for the rest. Buffers may be unaligned. */
#ifndef BRIO_TYPE_PACK_H
#define BRIO_TYPE_PACK_H

#include "type/map.h"

/* One run. `base` is the address that run->off is counted from. */
void brio_gather_run(void *contig, const void *base, const struct brio_run *run);
void brio_scatter_run(void *base, const void *contig, const struct brio_run *run);

/* Data bytes [pos, pos+bytes) of the map around `base` into / out of `contig`. */
void brio_pack(void *contig, const struct brio_map *map, const void *base, brio_off pos,
               brio_off bytes);
void brio_unpack(void *base, const struct brio_map *map, const void *contig, brio_off pos,
                 brio_off bytes);

/* brio_copy, and its like in stream.h. */
typedef void brio_copier(void *to, struct brio_cursor *dst, const void *from,
                         struct brio_cursor *src, brio_off bytes);

/* Moves up to `bytes` bytes from pattern to pattern, both cursors go on behind them. `from`
 * and `to` are the addresses that the cursors' offsets are counted from. Strided on both
 * sides with equal piece length takes one loop, without a buffer in between. */
brio_copier brio_copy;

#endif
