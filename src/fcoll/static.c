/* Static segmentation (paper 004): the ranks form groups, each with an owner of its own, and in
 * every round each rank contributes the same number of bytes, the next ones of its own data.
 * Nothing has to be put in order. */
#include "fcoll/aggregators.h"
#include "fcoll/engine.h"

static int query(const struct brio_facts *facts, const void *conf)
{
    const struct brio_coll_conf *c = conf;
    if (facts->atomic)
        return -1;
    return c->buffering ? 18 : 0;
}

static int make_domains(const struct brio_extent *e, struct brio_owner *owners)
{
    int n = brio_aggregators(e);
    for (int i = 0; i < n; i++) {
        int first = (int)((int64_t)i * e->nranks / n);
        int last = (int)((int64_t)(i + 1) * e->nranks / n) - 1;
        owners[i] = (struct brio_owner){
            .rank = first,
            .lo = e->lo,
            .hi = e->hi,
            .first = first,
            .last = last,
            .segment = brio_max(1, e->buffer / (last - first + 1)),
        };
    }
    return n;
}

static BRIO_ERR open_coll(const struct brio_coll_env *env, const void *conf, void **self)
{
    return brio_engine_open(env, conf, make_domains, self);
}

const struct brio_fcoll brio_fcoll_static = {
    .base = {.name = "static",
             .about = "groups of ranks, each rank with the same number of bytes in every round",
             .hints = brio_coll_hints,
             .conf_size = sizeof(struct brio_coll_conf),
             .query = query},
    .open = open_coll,
    .start = brio_engine_start,
    .step = brio_engine_step,
    .close = brio_engine_close,
};
