/* Inspector-executor collective I/O (paper 002): every rank owns one equal part of the file,
 * and data gets there in log2(P) phases. The paper's rule for block-cyclic vectors on 2^n
 * ranks is here one case of any views on any number of ranks: the inspector knows patterns
 * as a few numbers each, however many blocks they have. */
#include "fcoll/engine.h"

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)facts;
    return brio_coll_answer(conf, 16, "every rank an owner, reached in log2(P) phases");
}

/* As many parts as ranks, unless the user wants fewer. */
static int make_domains(const struct brio_extent *e, struct brio_owner *owners)
{
    struct brio_extent all = *e;
    if (all.owners == 0)
        all.owners = e->nranks;
    return brio_equal_domains(&all, owners);
}

const struct brio_plan_maker brio_fcoll_iec = {
    .fcoll = {.base = {.name = "iec",
                       .about = "equal parts for all ranks, reached in log2(P) phases",
                       BRIO_ENGINE_HINTS,
                       .query = query},
              BRIO_ENGINE_OPS},
    .domains = make_domains,
    .phased = true,
};
