/* Memory whose absence is an error like any other. */
#ifndef BRIO_BASE_MEM_H
#define BRIO_BASE_MEM_H

#include "base/base.h"
#include "base/door.h"

BRIO_DOOR_BEGIN

/* n elements of `size` bytes, zeroed; n or size may be 0 (a unique pointer comes back).
 * *out is set only on success. */
BRIO_ERR brio_calloc(size_t n, size_t size, void **out);

/* A copy of a string. */
BRIO_ERR brio_strdup(const char *s, char **out);

BRIO_DOOR_END

#endif
