/* The processor's caches, where they are in the way. */
#ifndef BRIO_BASE_CACHE_LINES_H
#define BRIO_BASE_CACHE_LINES_H

#include "base/base.h"

enum {
    BRIO_LINE = 64 /* bytes that move between caches together */
};

/* Whether brio_lines_drop does anything on this processor. */
bool brio_lines_droppable(void);

/* Takes n bytes out of the caches of all cores; they are then in memory only. */
void brio_lines_drop(void *mem, size_t n);

#endif
