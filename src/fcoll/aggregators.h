/* How many owners (aggregators) an access gets: from its volume, not from the number of
 * ranks (paper 003). Pure. */
#ifndef BRIO_FCOLL_AGGREGATORS_H
#define BRIO_FCOLL_AGGREGATORS_H

#include "fcoll/plan.h"

int brio_aggregators(const struct brio_extent *extent);

/* As many groups of neighbouring ranks, each with its first rank as the owner of all its data.
 * Returns how many. */
int brio_groups(const struct brio_extent *extent, struct brio_owner *owners);

#endif
