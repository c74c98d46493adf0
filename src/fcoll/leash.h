/* Collective reads in which no rank has bytes for an owner, one after the other: after some of
 * them the ranks no longer meet. Each goes on by itself until one has bytes for an owner
 * again; then all meet from the same read on. Between ranks that share memory only. */
#ifndef BRIO_FCOLL_LEASH_H
#define BRIO_FCOLL_LEASH_H

#include "comm/meet.h"

/* One rank's end. All zero at first. */
struct brio_leash {
    int run; /* meetings in a row at which no rank had bytes for an owner */
    uint32_t epoch;
    uint32_t reads; /* since this epoch began, this one included */
};

/* What the ranks found at a meeting for a read: nothing for an owner, or anything else. */
void brio_leash_met(struct brio_leash *leash, bool nothing);

/* Whether the read that begins is each rank's own affair: the same on all ranks, although they
 * come at different times. A rank that has bytes for an owner may have to do without. */
bool brio_leash_is_off(struct brio_leash *leash, const struct brio_team *team, bool nothing);

#endif
