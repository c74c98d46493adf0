/* What Brio says on standard error. Nothing by default but warnings. */
#ifndef BRIO_BASE_LOG_H
#define BRIO_BASE_LOG_H

#include "base/door.h"

BRIO_DOOR_BEGIN

enum brio_level {
    BRIO_WARN = 1, /* something the user asked for could not be honoured */
    BRIO_NOTE = 2, /* choices and reasons */
    BRIO_DEBUG = 3
};

/* One whole line, "brio: " in front. BRIO_VERBOSE=0..3 in the environment sets what is
 * shown; 1 is the default. */
void brio_log(enum brio_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

BRIO_DOOR_END

#endif
