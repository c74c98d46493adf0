/* What a cache does that holds nothing back: nothing. */
#include <stdio.h>

#include "cache/cache.h"

bool brio_cache_plain_atomic(const struct brio_lane *lane, bool on)
{
    (void)lane;
    (void)on;
    return false;
}

enum brio_err brio_cache_plain_size(const struct brio_lane *lane, brio_off *size)
{
    (void)lane;
    (void)size;
    return BRIO_OK;
}

enum brio_err brio_cache_plain_resized(const struct brio_lane *lane, brio_off size)
{
    (void)lane;
    (void)size;
    return BRIO_OK;
}

enum brio_err brio_cache_plain_settle(const struct brio_lane *lane, const struct brio_io *io)
{
    (void)lane;
    (void)io;
    return BRIO_OK;
}

struct brio_lane brio_cache_plain_lane(const struct brio_lane *lane)
{
    return *lane;
}

void brio_cache_plain_tell(const struct brio_lane *lane, char *out, size_t size)
{
    (void)lane;
    snprintf(out, size, "%s", "");
}
