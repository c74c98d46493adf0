/* Owners (aggregators): how many an access gets, from its volume and not from the number of
 * ranks (paper 003), and the usual ways to share the data out among them. Pure. */
#ifndef BRIO_FCOLL_AGGREGATORS_H
#define BRIO_FCOLL_AGGREGATORS_H

#include "fcoll/plan.h"

int brio_aggregators(const struct brio_extent *extent);

/* As many groups of neighbouring ranks, each with its first rank as the owner of all its data.
 * Returns how many. */
int brio_groups(const struct brio_extent *extent, struct brio_owner *owners);

/* Equal parts of the accessed range, in file order, owned by ranks spread over all. Returns
 * how many. */
int brio_equal_domains(const struct brio_extent *extent, struct brio_owner *owners);

#endif
