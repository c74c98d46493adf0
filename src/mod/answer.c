/* The reason behind a module's priority: one text per thread. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mod/module.h"

static _Thread_local char last[BRIO_WHY];

int brio_answer(int priority, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(last, sizeof last, fmt, args);
    va_end(args);
    return priority;
}

void brio_answer_take(char why[BRIO_WHY])
{
    memcpy(why, last, sizeof last);
    last[0] = '\0';
}
