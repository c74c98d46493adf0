/* Lines to standard error, one write each so that ranks do not mix theirs. */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int verbosity(void)
{
    static _Atomic int level = -1;
    int now = atomic_load_explicit(&level, memory_order_relaxed);
    if (now < 0) {
        const char *text = getenv("BRIO_VERBOSE");
        now = text && *text >= '0' && *text <= '9' ? *text - '0' : BRIO_WARN;
        atomic_store_explicit(&level, now, memory_order_relaxed);
    }
    return now;
}

void brio_log(enum brio_level level, const char *fmt, ...)
{
    if ((int)level > verbosity())
        return;
    char line[1024];
    int n = snprintf(line, sizeof line, "brio: ");
    va_list args;
    va_start(args, fmt);
    vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, args);
    va_end(args);
    size_t len = strlen(line);
    line[len++] = '\n';
    /* Nothing can be done if standard error is gone. */
    if (write(STDERR_FILENO, line, len) < 0)
        return;
}
