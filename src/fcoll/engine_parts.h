/* The insides of the engine, for engine.c and engine_memory.c. */
#ifndef BRIO_FCOLL_ENGINE_PARTS_H
#define BRIO_FCOLL_ENGINE_PARTS_H

#include "fcoll/accord.h"
#include "fcoll/engine.h"
#include "fcoll/inspect.h"
#include "fcoll/phases.h"
#include "fcoll/rounds.h"
#include "fcoll/seats.h"
#include "fcoll/shelf.h"

enum stage {
    MOVING,     /* this rank's bytes, which need no owner */
    AGREEING,   /* on what is accessed, and whether a plan is there */
    INSPECTING, /* a plan is made */
    MEASURING,  /* do all ranks have it, and how much memory does a crew need? */
    EQUIPPING,  /* that is made */
    MUSTERING,  /* do all crews have it? */
    RUNNING,
    ENDING, /* the verdict */
    DIRECT  /* each rank for itself */
};

struct engine {
    struct brio_coll_env env;
    struct brio_coll_conf conf;
    const struct brio_plan_maker *maker;
    void *direct;           /* fcoll/individual, for accesses that need no owners */
    struct brio_crew alone; /* if data goes by messages only */
    int nnodes;
    bool phased;
    struct brio_seats seats;
    struct brio_shelf shelf;

    enum stage stage;
    struct brio_io io;         /* what is left of the access after MOVING */
    struct brio_ticket ticket; /* of MOVING */
    enum brio_err mine;
    char text[BRIO_ERR_TEXT]; /* of mine */
    struct brio_kept *found;
    bool sure;              /* it is the only one that serves this rank, not just the newest */
    struct brio_plan *made; /* not kept yet */
    const char *direct_why; /* the last access was direct, and this is why; NULL: it was not */
    bool fresh;             /* its plan was a new one */
    bool owned;             /* in the last run, this rank was an owner */
    brio_off shift;
    struct brio_accord accord; /* the last one */
    struct brio_extent extent;
    struct brio_reduce reduce;
    struct brio_inspect inspect;
    struct brio_berth berth;
    struct brio_rounds rounds;
    struct brio_phases phases;
    size_t nrounds; /* of phases */
};

#endif
