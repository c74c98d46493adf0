/* The inspector: from what each rank accesses to a plan. Ranks tell owners which of their
 * bytes they access; owners unite that, cut it into windows, and tell the ranks. */
#ifndef BRIO_FCOLL_INSPECT_H
#define BRIO_FCOLL_INSPECT_H

#include "comm/mail.h"
#include "fcoll/plan.h"

struct brio_inspect {
    const struct brio_team *team;
    struct brio_crew *crew;
    struct brio_extent extent;
    brio_domains *domains;
    struct brio_map *mine;     /* until the plan has it */
    struct brio_share *shares; /* nranks */
    int *order;                /* nranks */
    int place;                 /* of this rank in the order */
    brio_off *box_at;          /* nranks: of one window, */
    struct brio_boxes *boxes;  /* by crew */
    size_t area;               /* bytes of shared memory that the plan will need, it seems */
    MPI_Request gathered;
    struct brio_plan *plan; /* in the making */
    enum brio_inspect_stage {
        BRIO_INSPECT_GATHER,
        BRIO_INSPECT_ASK,
        BRIO_INSPECT_ANSWER,
        BRIO_INSPECT_OVER
    } stage;
    enum brio_err err; /* of this rank */
    struct brio_mail mail;
};

BRIO_ERR brio_inspect_open(struct brio_inspect *in, const struct brio_team *team,
                           struct brio_crew *crew);
void brio_inspect_close(struct brio_inspect *in);

/* Collective. `mine` is what this rank accesses, one tile (taken over, may be NULL after
 * `err`). The shares that extent->ordered asks for are gathered here. Memory that is made for
 * the letters has at least `area` bytes, so that none must be made for the data. */
void brio_inspect_start(struct brio_inspect *in, const struct brio_extent *extent, size_t area,
                        brio_domains *domains, struct brio_map *mine, enum brio_err err);

/* True when it is over; then *out is the plan, the caller's, or NULL if this rank failed. It
 * may be used if no rank did, which the ranks have yet to agree on. */
bool brio_inspect_step(struct brio_inspect *in, enum brio_wait how, struct brio_plan **out);

#endif
