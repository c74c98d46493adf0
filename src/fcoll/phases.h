/* The other executor (paper 002): instead of sending each owner its part, the ranks pass data
 * on in log2(P) phases, one message to one partner in each, and each message carries all that
 * goes that way. Few large messages where there would be many small ones, for data that is
 * sent log2(P) / 2 times. Any number of ranks: the partner of phase j is 2^j ranks on. */
#ifndef BRIO_FCOLL_PHASES_H
#define BRIO_FCOLL_PHASES_H

#include "comm/cargo.h"
#include "fcoll/rounds.h"

/* Data on its way from a rank to an owner, or back. */
struct brio_parcel {
    int64_t from, to; /* ranks */
    int64_t bytes;
    int64_t valid; /* reads: there is data below this offset only */
    char *data;
};

struct brio_phases {
    struct brio_rounds *rounds; /* what the executors have in common */
    size_t nrounds, round;      /* all owners' windows of one number are one round */
    enum brio_phases_stage {
        BRIO_PHASES_ACCESS, /* reads: owners first */
        BRIO_PHASES_PASS,
        BRIO_PHASES_DELIVER /* writes: owners last */
    } stage;
    bool begun;
    int phase;
    brio_off visited; /* bytes of this rank that have been sent, or have come */
    struct brio_parcel *parcels;
    size_t nparcels, room;
    char *window; /* an owner's */
    char *out;    /* this phase's message */
    struct brio_cargo cargo;
};

BRIO_ERR brio_phases_prepare(struct brio_phases *p);
void brio_phases_release(struct brio_phases *p);

/* Collective. nrounds is the largest number of windows that an owner has. */
void brio_phases_start(struct brio_phases *p, size_t nrounds);
bool brio_phases_step(struct brio_phases *p, enum brio_wait how);

#endif
