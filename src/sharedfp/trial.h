/* Whether locks on a file work, found out within a bounded time. */
#ifndef BRIO_SHAREDFP_TRIAL_H
#define BRIO_SHAREDFP_TRIAL_H

#include "base/base.h"

/* Makes the file if it is not there, and tries on it whether a lock is granted and whether it
 * keeps another open out. Some network file systems grant what they do not keep, some never
 * answer: after `seconds` that is BRIO_EUNSUPOP, too. */
BRIO_ERR brio_trial_locks(const char *name, double seconds);

#endif
