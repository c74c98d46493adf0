/* Two-phase I/O: the accessed range of the file is cut into as many equal domains as there
 * are owners, in file order. */
#include "fcoll/aggregators.h"
#include "fcoll/engine.h"

static int query(const struct brio_facts *facts, const void *conf)
{
    const struct brio_coll_conf *c = conf;
    if (facts->atomic)
        return -1;
    return c->buffering ? 50 : 0;
}

static int make_domains(const struct brio_extent *e, struct brio_owner *owners)
{
    int n = brio_aggregators(e);
    int count = 0;
    brio_off lo = e->lo;
    for (int i = 0; i < n && lo < e->hi; i++) {
        brio_off hi = i == n - 1 ? e->hi : e->lo + (e->hi - e->lo) / n * (i + 1);
        if (e->align > 0 && hi < e->hi)
            hi -= hi % e->align;
        if (hi <= lo)
            continue;
        owners[count++] = (struct brio_owner){.rank = (int)((int64_t)i * e->nranks / n),
                                              .lo = lo,
                                              .hi = hi,
                                              .last = e->nranks - 1};
        lo = hi;
    }
    return count;
}

const struct brio_plan_maker brio_fcoll_two_phase = {
    .fcoll =
        {.base = {.name = "two_phase",
                  .about =
                      "equal file domains, gathered by owners and accessed in large pieces",
                  BRIO_ENGINE_HINTS,
                  .query = query},
         BRIO_ENGINE_OPS},
    .domains = make_domains,
};
