/* Ordered accesses where all ranks of the file share memory: one meeting, and if the records
 * are small, one access of the file for all of them. */
#ifndef BRIO_CORE_ORDERED_H
#define BRIO_CORE_ORDERED_H

#include "core/ready.h"

/* Collective if the call is; the same on all ranks: whether it goes this way. */
bool brio_ordered_serves(struct brio_file *f, const struct brio_call *call);

/* Collective. `mine` is what is already known to be wrong here; a rank that failed takes no
 * room. True: all is over, with *result. False: r has its place, and the access is to be made
 * with *mine; the same on all ranks. */
bool brio_ordered_run(struct brio_file *f, enum brio_err *mine, struct brio_ready *r,
                      struct brio_result *result);

void brio_ordered_close(struct brio_ordered *o);

#endif
