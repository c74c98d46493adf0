/* The one collective engine: agree, inspect (or find the plan kept from last time), run,
 * agree. Modules give it their plan maker and nothing else. */
#ifndef BRIO_FCOLL_ENGINE_H
#define BRIO_FCOLL_ENGINE_H

#include "fcoll/aggregators.h"
#include "fcoll/fcoll.h"
#include "fcoll/plan.h"

BRIO_DOOR_BEGIN

/* How data gets to its owners. */
enum brio_exchange {
    BRIO_EXCHANGE_AUTO,     /* as the plan maker says */
    BRIO_EXCHANGE_MEMORY,   /* within a node by memory, between nodes by messages */
    BRIO_EXCHANGE_MESSAGES, /* by messages always */
    BRIO_EXCHANGE_PHASES    /* passed on in log2(P) phases */
};

/* In which order ranks form groups. */
enum brio_grouping {
    BRIO_GROUPS_AUTO, /* by the grid if the communicator has one, else by the view */
    BRIO_GROUPS_VIEW, /* of their first byte */
    BRIO_GROUPS_GRID, /* of a Cartesian communicator: by its rows */
    BRIO_GROUPS_RANKS
};

/* Settings of every module that works through owners. */
struct brio_coll_conf {
    bool buffering, move_ranks;
    brio_off nodes, buffer, block;
    int exchange;            /* enum brio_exchange */
    int groups;              /* enum brio_grouping */
    enum brio_switch use[2]; /* owners, by enum brio_dir */
    enum brio_switch packed;
    char config_list[BRIO_HINT_MAX]; /* ROMIO's; see config_list.h */
};
extern const struct brio_hint brio_coll_hints[];

/* A module: its plan maker, and the engine. */
struct brio_plan_maker {
    struct brio_fcoll fcoll;
    brio_domains *domains;
    bool phased;     /* data goes to its owners in phases (phases.h), not at once (rounds.h) */
    bool grouped;    /* domains() wants the ranks' shares */
    bool everything; /* goes through owners, also large pieces */
};

extern const struct brio_plan_maker brio_fcoll_dynamic;
extern const struct brio_plan_maker brio_fcoll_iec;
extern const struct brio_plan_maker brio_fcoll_ioserver;
extern const struct brio_plan_maker brio_fcoll_static;
extern const struct brio_plan_maker brio_fcoll_two_phase;

/* Their answer to a query: the priority, unless the user wants no owners. */
int brio_coll_answer(const void *conf, int priority, const char *why);

/* What the modules have in common. `me` is a plan maker's. */
BRIO_ERR brio_engine_open(const struct brio_fcoll *me, const struct brio_coll_env *env,
                          const void *conf, void **self);
void brio_engine_start(void *self, const struct brio_io *io, enum brio_err mine,
                       enum brio_wait how);
void brio_engine_step(void *self, enum brio_wait how, bool *done, struct brio_result *out);
void brio_engine_last(const void *self, struct brio_coll_last *out);
void brio_engine_close(void *self);

#define BRIO_ENGINE_OPS                                                                        \
    .open = brio_engine_open, .start = brio_engine_start, .step = brio_engine_step,            \
    .last = brio_engine_last, .close = brio_engine_close

#define BRIO_ENGINE_HINTS .hints = brio_coll_hints, .conf_size = sizeof(struct brio_coll_conf)

BRIO_DOOR_END

#endif
