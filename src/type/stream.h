/* Copies that overwrite whole cache lines without fetching them first: for memory that is in
 * another core's cache. From core to core, 64 MiB through windows of 2 MiB take 3 ms if these
 * share no cache, 7 by plain stores. For pieces of many cache lines. */
#ifndef BRIO_TYPE_STREAM_H
#define BRIO_TYPE_STREAM_H

#include "type/pack.h"

/* memcpy. */
void brio_stream(void *to, const void *from, size_t n);

/* memcpy to where another core is going to read, which is then in no cache at all. */
void brio_stream_past(void *to, const void *from, size_t n);

/* brio_copy, likewise. */
brio_copier brio_stream_copy, brio_stream_copy_past;

#endif
