/* What became of a run: of the whole, which is the same on all ranks, and of this rank's data.
 */
#ifndef BRIO_FCOLL_ENDING_H
#define BRIO_FCOLL_ENDING_H

#include "comm/reduce.h"
#include "fcoll/rounds.h"

/* Unless brio_rounds_good, collective: begins an agreement on it. */
void brio_ending_agree(struct brio_reduce *reduce, const struct brio_rounds *r);

/* What that came to. */
struct brio_result brio_ending_judge(const struct brio_reduce *reduce,
                                     const struct brio_rounds *r);

#endif
