/* The one collective engine: agree, inspect (or find the plan kept from last time), run,
 * agree. Modules give it their plan maker and nothing else. */
#ifndef BRIO_FCOLL_ENGINE_H
#define BRIO_FCOLL_ENGINE_H

#include "fcoll/fcoll.h"
#include "fcoll/plan.h"

/* Settings of every module that works through owners. */
struct brio_coll_conf {
    bool buffering;
    brio_off nodes, buffer, block;
};
extern const struct brio_hint brio_coll_hints[];

/* For the modules' own open, start, step and close. */
BRIO_ERR brio_engine_open(const struct brio_coll_env *env, const struct brio_coll_conf *conf,
                          brio_domains *domains, void **self);
void brio_engine_start(void *self, const struct brio_io *io, enum brio_err mine,
                       enum brio_wait how);
void brio_engine_step(void *self, enum brio_wait how, bool *done, struct brio_result *out);
void brio_engine_close(void *self);

#endif
