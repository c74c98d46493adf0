/* Owners (aggregators): how many an access gets, from its volume and not from the number of
 * ranks (paper 003), and the usual ways to share the data out among them. Pure. */
#ifndef BRIO_FCOLL_AGGREGATORS_H
#define BRIO_FCOLL_AGGREGATORS_H

#include "fcoll/plan.h"

BRIO_DOOR_BEGIN

int brio_aggregators(const struct brio_extent *extent);

/* Groups of ranks, each with one of its ranks as the owner of all its data. With extent->shares
 * the groups are cut out of extent->order where it goes on to other data of the file, or else
 * where each has its part of the bytes; without, they are alike in ranks. Returns how many. */
int brio_groups(const struct brio_extent *extent, struct brio_owner *owners);

/* Equal parts of the accessed range, in file order, owned by ranks spread over all. Returns
 * how many. */
int brio_equal_domains(const struct brio_extent *extent, struct brio_owner *owners);

/* The ranks of n owners: spread over the nodes, in rising order. */
void brio_spread_owners(const struct brio_extent *extent, struct brio_owner *owners, int n);

/* Ranks such that any so many of the first are on as many crews as they can be. `order` has
 * room for nranks. */
BRIO_ERR brio_spread(const struct brio_crew *crew, int nranks, int *order);

/* Ranks in the order of their first byte in the file; those without data last. */
void brio_order_by_data(const struct brio_share *shares, int nranks, int *order);

BRIO_DOOR_END

#endif
