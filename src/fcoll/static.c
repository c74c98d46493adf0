/* Static segmentation (paper 004): the ranks form groups, each with an owner of its own, and in
 * every round each rank contributes the same number of bytes, the next ones of its own data.
 * Nothing has to be put in order. */
#include "fcoll/engine.h"

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)facts;
    return brio_coll_answer(conf, 18,
                            "one owner for each group of ranks, in the order of their data");
}

static int make_domains(const struct brio_extent *e, struct brio_owner *owners)
{
    int n = brio_groups(e, owners);
    for (int i = 0; i < n && !e->in_file_order; i++)
        owners[i].segment = brio_max(1, e->buffer / (owners[i].last - owners[i].first + 1));
    return n;
}

const struct brio_plan_maker brio_fcoll_static = {
    .fcoll =
        {.base = {.name = "static",
                  .about =
                      "groups of ranks, each rank with the same number of bytes in every round",
                  BRIO_ENGINE_HINTS,
                  .query = query},
         BRIO_ENGINE_OPS},
    .domains = make_domains,
    .grouped = true,
};
