/* Dynamic segmentation (paper 004): the ranks form groups, each with an owner of its own, who
 * goes through the data of its group in file order. Groups have nothing to do with each
 * other. */
#include "fcoll/engine.h"

static int query(const struct brio_facts *facts, const void *conf)
{
    const struct brio_coll_conf *c = conf;
    (void)facts;
    return c->buffering ? 20 : 0;
}

const struct brio_plan_maker brio_fcoll_dynamic = {
    .fcoll = {.base = {.name = "dynamic",
                       .about = "groups of ranks, each gathered by its own owner in file order",
                       BRIO_ENGINE_HINTS,
                       .query = query},
              BRIO_ENGINE_OPS},
    .domains = brio_groups,
};
