/* The program's accesses as the counters see them. */
#ifndef BRIO_CORE_TALLY_H
#define BRIO_CORE_TALLY_H

#include "core/core.h"
#include "core/file.h"

/* BRIO_N_INDEPENDENT, ... */
static inline int brio_tally_kind(const struct brio_call *call)
{
    if (call->coll)
        return call->ptr == BRIO_SHARED ? BRIO_N_ORDERED : BRIO_N_COLLECTIVE;
    return call->ptr == BRIO_SHARED ? BRIO_N_SHARED : BRIO_N_INDEPENDENT;
}

/* An access is over. */
static inline void brio_tally(struct brio_file *f, const struct brio_call *call,
                              enum brio_err err, brio_off bytes)
{
    brio_count_access(f->stats, brio_tally_kind(call), call->dir, bytes);
    if (__builtin_expect(err != BRIO_OK, 0))
        brio_count(f->stats, BRIO_N_FAILED + (int)call->dir, 1);
}

#endif
