/* A blocking access done by a thread of the pool, for stages that have no other way not to
 * make their caller wait. */
#ifndef BRIO_LANE_TASK_H
#define BRIO_LANE_TASK_H

#include "base/stats.h"
#include "lane/lane.h"

/* A whole access, blocking. */
typedef struct brio_result brio_mover(void *self, const struct brio_io *io);

/* The submit of a stage: with BRIO_POLL a thread calls move(self, io), if one can be had, and
 * its time counts as time at the file in stats, if that is not NULL; otherwise the caller
 * does it. */
void brio_task_submit(brio_mover *move, void *self, struct brio_stats *stats,
                      const struct brio_io *io, enum brio_wait how, struct brio_ticket *ticket);

/* The reap that belongs to it. */
void brio_task_reap(struct brio_ticket *ticket, enum brio_wait how);

#endif
