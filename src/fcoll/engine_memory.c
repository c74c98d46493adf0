/* What an engine is made of, from set_view to set_view, and what it remembers. */
#include <stdlib.h>

#include "base/mem.h"
#include "fcoll/engine_parts.h"

static BRIO_ERR make_parts(struct engine *e)
{
    size_t n = (size_t)e->env.team->nranks;
    enum brio_err err =
        brio_fcoll_individual.open(&brio_fcoll_individual, &e->env, NULL, &e->direct);
    if (!err && e->conf.exchange == BRIO_EXCHANGE_MESSAGES) {
        err = brio_crew_alone(&e->alone, e->env.team);
        e->env.crew = &e->alone;
    }
    if (!err)
        err = brio_inspect_open(&e->inspect, e->env.team, e->env.crew);
    if (!err)
        err = brio_calloc(n, sizeof *e->rounds.next, (void **)&e->rounds.next);
    if (!err)
        err = brio_map_bytes(1, &e->rounds.flat);
    if (!err)
        err = brio_calloc(n, sizeof *e->rounds.keepers, (void **)&e->rounds.keepers);
    if (!err)
        err = brio_calloc(2 * n, sizeof *e->rounds.strands, (void **)&e->rounds.strands);
    if (!err)
        err = brio_seats_open(&e->seats, &e->env, &e->conf, e->maker->grouped);
    return err;
}

BRIO_ERR brio_engine_open(const struct brio_fcoll *me, const struct brio_coll_env *env,
                          const void *conf, void **self)
{
    struct engine *e;
    enum brio_err err = brio_calloc(1, sizeof *e, (void **)&e);
    if (err)
        return err;
    e->env = *env;
    e->conf = *(const struct brio_coll_conf *)conf;
    e->maker = (const struct brio_plan_maker *)me;
    e->phased = e->conf.exchange == BRIO_EXCHANGE_AUTO
                    ? e->maker->phased
                    : e->conf.exchange == BRIO_EXCHANGE_PHASES;
    e->phases.rounds = &e->rounds;
    e->nnodes = env->crew->ncrews;
    err = make_parts(e);
    if (err) {
        brio_engine_close(e);
        return err;
    }
    brio_berth_open(&e->berth, &e->env.crew->team, e->conf.move_ranks);
    e->rounds.io = &e->io;
    e->rounds.team = env->team;
    e->rounds.lane = env->lane;
    e->rounds.crew = e->env.crew;
    e->rounds.stats = env->stats;
    *self = e;
    return BRIO_OK;
}

void brio_engine_close(void *self)
{
    struct engine *e = self;
    brio_shelf_clear(&e->shelf);
    brio_plan_free(e->made);
    brio_inspect_close(&e->inspect);
    if (e->direct)
        brio_fcoll_individual.close(e->direct);
    brio_rounds_release(&e->rounds);
    brio_phases_release(&e->phases);
    brio_map_unref(e->rounds.flat);
    if (e->env.crew == &e->alone)
        brio_crew_close(&e->alone);
    brio_seats_close(&e->seats);
    free(e->rounds.strands);
    free(e->rounds.keepers);
    free(e->rounds.next);
    free(e);
}

void brio_engine_last(const void *self, struct brio_coll_last *out)
{
    const struct engine *e = self;
    bool planned = !e->direct_why && e->found && e->found->plan;
    *out = (struct brio_coll_last){
        .plan = planned ? e->found->plan : NULL,
        .why = e->direct_why ? e->direct_why
               : !planned    ? "what the ranks access together is too ragged for a plan"
               : e->fresh    ? "a new plan"
                             : "the plan of an access before it",
    };
}
