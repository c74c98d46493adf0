/* Words that every room uses. */
#ifndef BRIO_BASE_BASE_H
#define BRIO_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A place or a length in a file, in bytes. Memory is measured in size_t. */
typedef int64_t brio_off;
#define BRIO_OFF_MAX INT64_MAX

enum {
    BRIO_LINE = 64 /* bytes that move between the processor's caches together */
};

/* Some nanoseconds in which the core's other thread, if it has one, has the units that looking
 * would use, and fetches of memory come in. */
static inline void brio_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

enum brio_dir {
    BRIO_READ,
    BRIO_WRITE
};

enum brio_wait {
    BRIO_POLL, /* do what can be done now and return */
    BRIO_BLOCK /* return when it is done */
};

static inline brio_off brio_min(brio_off a, brio_off b)
{
    return a < b ? a : b;
}

static inline brio_off brio_max(brio_off a, brio_off b)
{
    return a > b ? a : b;
}

/* a*b into *out; false if it does not fit. */
static inline bool brio_mul(brio_off a, brio_off b, brio_off *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static inline bool brio_add(brio_off a, brio_off b, brio_off *out)
{
    return !__builtin_add_overflow(a, b, out);
}

#endif
