/* Two-stage write-behind (paper 001, section 4) for files that are only written, from the
 * first write on. */
#include "cache/behind.h"

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    return brio_behind_query(facts, 5);
}

static BRIO_ERR open_writebehind(const struct brio_cache_env *env,
                                 const struct brio_lane *below, const void *conf,
                                 struct brio_lane *out)
{
    return brio_behind_open(env, below, conf, "asked for", out);
}

static void tell(const struct brio_lane *lane, char *out, size_t size)
{
    (void)brio_behind_tell(lane, out, size, NULL);
}

const struct brio_cache brio_cache_writebehind = {
    .base = {.name = "writebehind",
             .about = "small writes to a write-only file leave in whole pages",
             .hints = brio_cache_hints,
             .conf_size = sizeof(struct brio_cache_conf),
             .query = query},
    .atomic = brio_cache_plain_atomic,
    .open = open_writebehind,
    .close = brio_behind_close,
    .size = brio_behind_size,
    .resized = brio_cache_plain_resized,
    .settle = brio_behind_settle,
    .collective = brio_behind_collective,
    .tell = tell,
};
