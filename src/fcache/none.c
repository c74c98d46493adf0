/* The layout of a file that is not striped: one server has it all. */
#include "fcache/fcache.h"

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)facts;
    (void)conf;
    return brio_answer(10, "nothing is known of servers behind the file");
}

static BRIO_ERR open_none(const struct brio_layout *layout, const void *conf, void **self)
{
    (void)layout;
    (void)conf;
    *self = NULL;
    return BRIO_OK;
}

static void map(const void *self, brio_off off, brio_off len, struct brio_part *out)
{
    (void)self;
    *out = (struct brio_part){.extent = -1, .off = off, .local_off = off, .len = len};
}

static brio_off find(const void *self, const struct brio_part *part)
{
    (void)self;
    return part->extent == -1 && part->object == 0 && part->local_off >= 0 ? part->local_off
                                                                           : -1;
}

static int servers(const void *self)
{
    (void)self;
    return 1;
}

static brio_off period(const void *self)
{
    (void)self;
    return 1;
}

static void close_none(void *self)
{
    (void)self;
}

const struct brio_fcache brio_fcache_none = {
    .base = {.name = "none", .about = "the file is taken as one piece", .query = query},
    .open = open_none,
    .map = map,
    .find = find,
    .servers = servers,
    .period = period,
    .close = close_none,
};
