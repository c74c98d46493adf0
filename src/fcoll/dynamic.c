/* Dynamic segmentation (paper 004): the ranks form groups, each with an owner of its own, who
 * goes through the data of its group in file order. Groups have nothing to do with each
 * other. */
#include "fcoll/engine.h"

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)facts;
    return brio_coll_answer(conf, 20,
                            "one owner for each group of ranks, in the order of the file");
}

const struct brio_plan_maker brio_fcoll_dynamic = {
    .fcoll = {.base = {.name = "dynamic",
                       .about = "groups of ranks, each gathered by its own owner in file order",
                       BRIO_ENGINE_HINTS,
                       .query = query},
              BRIO_ENGINE_OPS},
    .domains = brio_groups,
    .grouped = true,
};
