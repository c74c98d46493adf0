/* The shared pointer as an atomic number in memory that all ranks of a node map: no lock,
 * no side file, nothing to clean up. Serves files whose ranks all run on one node. */
#include <stdatomic.h>

#include "sharedfp/sharedfp.h"

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (!facts->attach)
        return brio_answer(-1, "the %d ranks do not all share memory", facts->nranks);
    return brio_answer(50, "all ranks share memory");
}

static BRIO_ERR open_pointer(const struct brio_sharedfp_env *env, const void *conf, void **self)
{
    (void)conf;
    if (!env->slot)
        return brio_fail(BRIO_EUNSUPOP, "rank 0's shared page cannot be mapped");
    if (env->team->rank == 0) /* nobody looks before the open is agreed on */
        atomic_store(&env->slot->value, env->start);
    *self = env->slot;
    return BRIO_OK;
}

static BRIO_ERR add(void *self, brio_off n, brio_off *old)
{
    struct brio_page_slot *slot = self;
    *old = atomic_fetch_add(&slot->value, n);
    return BRIO_OK;
}

static BRIO_ERR set(void *self, brio_off value)
{
    struct brio_page_slot *slot = self;
    atomic_store(&slot->value, value);
    return BRIO_OK;
}

static void close_pointer(void *self, bool used)
{
    (void)self, (void)used; /* the slot is core's */
}

const struct brio_sharedfp brio_sharedfp_sm = {
    .base = {.name = "sm",
             .about = "atomic number in memory shared by the ranks of one node",
             .query = query},
    .open = open_pointer,
    .add = add,
    .set = set,
    .close = close_pointer,
};
