/* Allocation that says what was asked for when it fails. */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

BRIO_ERR brio_calloc(size_t n, size_t size, void **out)
{
    if (n == 0 || size == 0)
        n = size = 1;
    void *p = calloc(n, size);
    if (!p)
        return brio_fail(BRIO_ENOMEM, "cannot allocate %zu x %zu bytes", n, size);
    *out = p;
    return BRIO_OK;
}

BRIO_ERR brio_strdup(const char *s, char **out)
{
    size_t n = strlen(s) + 1;
    char *p = malloc(n);
    if (!p)
        return brio_fail(BRIO_ENOMEM, "cannot allocate %zu bytes", n);
    memcpy(p, s, n);
    *out = p;
    return BRIO_OK;
}
