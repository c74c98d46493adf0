/* Two-phase I/O: the accessed range of the file is cut into as many equal domains as there
 * are owners, in file order. */
#include "fcoll/engine.h"

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)facts;
    return brio_coll_answer(conf, 50, "parts of the file in its order, one for each owner");
}

const struct brio_plan_maker brio_fcoll_two_phase = {
    .fcoll =
        {.base = {.name = "two_phase",
                  .about =
                      "equal file domains, gathered by owners and accessed in large pieces",
                  BRIO_ENGINE_HINTS,
                  .query = query},
         BRIO_ENGINE_OPS},
    .domains = brio_equal_domains,
};
