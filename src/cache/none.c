/* No cache: the lane stays as it is. */
#include "cache/cache.h"

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)facts;
    (void)conf;
    return brio_answer(10, "nothing is kept back");
}

static BRIO_ERR open_none(const struct brio_cache_env *env, const struct brio_lane *below,
                          const void *conf, struct brio_lane *out)
{
    (void)env;
    (void)conf;
    *out = *below;
    return BRIO_OK;
}

static BRIO_ERR close_none(struct brio_lane *lane)
{
    (void)lane;
    return BRIO_OK;
}

const struct brio_cache brio_cache_none = {
    .base = {.name = "none", .about = "every access goes to the system", .query = query},
    .atomic = brio_cache_plain_atomic,
    .open = open_none,
    .close = close_none,
    .size = brio_cache_plain_size,
    .resized = brio_cache_plain_resized,
    .settle = brio_cache_plain_settle,
    .collective = brio_cache_plain_lane,
    .tell = brio_cache_plain_tell,
};
