/* The program's accesses as the counters, and the list of a report, see them. */
#ifndef BRIO_CORE_TALLY_H
#define BRIO_CORE_TALLY_H

#include "base/trace.h"
#include "core/core.h"
#include "core/file.h"

/* How things stood when an access began. Filled only where a report is wanted. */
struct brio_tally {
    int64_t began;
    int64_t phase[BRIO_PHASES];
};

void brio_tally_note(const struct brio_file *f, struct brio_tally *t);
void brio_tally_record(struct brio_file *f, int kind, brio_off bytes,
                       const struct brio_tally *t);

static inline void brio_tally_begin(const struct brio_file *f, struct brio_tally *t)
{
    if (__builtin_expect(f->stats->trace != NULL, 0))
        brio_tally_note(f, t);
}

/* BRIO_N_INDEPENDENT, ... */
static inline int brio_tally_kind(const struct brio_call *call)
{
    if (call->coll)
        return call->ptr == BRIO_SHARED ? BRIO_N_ORDERED : BRIO_N_COLLECTIVE;
    return call->ptr == BRIO_SHARED ? BRIO_N_SHARED : BRIO_N_INDEPENDENT;
}

/* An access is over. */
static inline void brio_tally_access(struct brio_file *f, const struct brio_call *call,
                                     enum brio_err err, brio_off bytes,
                                     const struct brio_tally *t)
{
    int kind = brio_tally_kind(call);
    brio_count_access(f->stats, kind, call->dir, bytes);
    if (__builtin_expect(err != BRIO_OK, 0))
        brio_count(f->stats, BRIO_N_FAILED + (int)call->dir, 1);
    if (__builtin_expect(f->stats->trace != NULL, 0))
        brio_tally_record(f, kind + (int)call->dir, bytes, t);
}

/* Something else that is counted, such as a change of the view. */
static inline void brio_tally_other(struct brio_file *f, int kind, const struct brio_tally *t)
{
    brio_count(f->stats, kind, 1);
    if (__builtin_expect(f->stats->trace != NULL, 0))
        brio_tally_record(f, kind, 0, t);
}

#endif
