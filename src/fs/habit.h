/* What a mount did when it was tried: things that neither the standard nor the name of a file
 * system tells (a FUSE can be anything). Tried once for each mount, and kept as long as the
 * process lives. */
#ifndef BRIO_FS_HABIT_H
#define BRIO_FS_HABIT_H

#include "base/base.h"

enum brio_habit {
    BRIO_HABIT_DIRECT, /* reads past the page cache work */
    BRIO_HABIT_LOCKS,  /* a lock is seen on the other nodes */
    BRIO_HABITS
};

/* Of the mount that the descriptor's file is on: 1, 0, or -1 if nobody has tried. */
int brio_habit_known(int fd, enum brio_habit habit);

void brio_habit_learn(int fd, enum brio_habit habit, bool so);

#endif
