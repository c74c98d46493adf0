/* By CLFLUSHOPT, which newer x86 processors have; elsewhere nothing. */
#include "base/cache_lines.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

bool brio_lines_droppable(void)
{
    static _Atomic int known = -1;
    if (known < 0) {
        unsigned a, b = 0, c, d;
        known = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_CLFLUSHOPT;
    }
    return known;
}

__attribute__((target("clflushopt"))) void brio_lines_drop(void *mem, size_t n)
{
    char *first = (char *)((uintptr_t)mem & ~(uintptr_t)(BRIO_LINE - 1));
    for (char *at = first; at < (char *)mem + n; at += BRIO_LINE)
        _mm_clflushopt(at);
    _mm_sfence();
}

#else

bool brio_lines_droppable(void)
{
    return false;
}

void brio_lines_drop(void *mem, size_t n)
{
    (void)mem;
    (void)n;
}

#endif
