/* Copies that go past the processor's caches, straight to memory: for bytes that a core which
 * shares no cache with this one reads next, and for those that nobody reads soon. For pieces of
 * many cache lines; to one place, of some. */
#ifndef BRIO_TYPE_STREAM_H
#define BRIO_TYPE_STREAM_H

#include "type/pack.h"

/* memcpy; what is no whole cache line of `to` goes the usual way. */
void brio_stream(void *to, const void *from, size_t n);

/* brio_copy. */
brio_copier brio_stream_copy;

#endif
