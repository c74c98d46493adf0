/* The next definition of a function that Brio puts its own in front of. */
#ifndef BRIO_MPI_NEXT_H
#define BRIO_MPI_NEXT_H

#include <stdatomic.h>

#include "comm/real.h"

static inline void *brio_next(_Atomic(void *) *kept, const char *name)
{
    void *fn = atomic_load_explicit(kept, memory_order_relaxed);
    if (__builtin_expect(!fn, 0)) {
        fn = brio_real(name);
        atomic_store_explicit(kept, fn, memory_order_relaxed);
    }
    return fn;
}

/* BRIO_NEXT(MPI_Wait)(request, status) calls it. Looked up at the first use: when Brio is
 * loaded first, the MPI is not there yet. */
#define BRIO_NEXT(name)                                                                        \
    (__extension__({                                                                           \
        static _Atomic(void *) kept_;                                                          \
        (__typeof__(name) *)brio_next(&kept_, #name);                                          \
    }))

#endif
