/* The inspector: from what each rank accesses to a plan. Ranks tell owners which of their
 * bytes they access; owners unite that, cut it into windows, and tell the ranks. */
#ifndef BRIO_FCOLL_INSPECT_H
#define BRIO_FCOLL_INSPECT_H

#include "comm/mail.h"
#include "fcoll/plan.h"

struct brio_inspect {
    const struct brio_team *team;
    const struct brio_crew *crew;
    struct brio_extent extent;
    brio_domains *domains;
    struct brio_map *mine;     /* until the plan has it */
    struct brio_share *shares; /* nranks */
    int *order;                /* nranks */
    int place;                 /* of this rank in the order */
    MPI_Request gathered;
    struct brio_plan *plan; /* in the making */
    enum brio_inspect_stage {
        BRIO_INSPECT_GATHER,
        BRIO_INSPECT_ASK,
        BRIO_INSPECT_ANSWER,
        BRIO_INSPECT_AGREE
    } stage;
    enum brio_err err; /* of this rank: then all go without a plan */
    struct brio_mail mail;
    struct brio_reduce reduce;
};

BRIO_ERR brio_inspect_open(struct brio_inspect *in, const struct brio_team *team,
                           const struct brio_crew *crew);
void brio_inspect_close(struct brio_inspect *in);

/* Collective. `mine` is what this rank accesses, one tile (taken over, may be NULL after
 * `err`). The shares that extent->ordered asks for are gathered here. */
void brio_inspect_start(struct brio_inspect *in, const struct brio_extent *extent,
                        brio_domains *domains, struct brio_map *mine, enum brio_err err);

/* True when it is over; then *out is a plan on all ranks, or NULL on all ranks. */
bool brio_inspect_step(struct brio_inspect *in, enum brio_wait how, struct brio_plan **out);

#endif
