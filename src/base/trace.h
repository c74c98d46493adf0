/* What a rank did when: a bounded list of its accesses. Kept only for a report. When it is
 * full, neighbours are joined, so that it always covers the whole time, ever more coarsely. */
#ifndef BRIO_BASE_TRACE_H
#define BRIO_BASE_TRACE_H

#include "base/stats.h"

/* Plain data of 8-byte words: sent between ranks as it is. */
struct brio_record {
    int64_t kind;       /* the counter that it is counted by */
    int64_t n;          /* accesses that it stands for */
    int64_t begin, end; /* nanoseconds since the file was open */
    int64_t bytes;
    int64_t phase[BRIO_PHASES]; /* nanoseconds; [BRIO_PHASE_NONE] is nothing */
};

/* `zero` is the time of the clock that the records' times are counted from. */
BRIO_ERR brio_trace_new(size_t room, int64_t zero, struct brio_trace **out);
void brio_trace_free(struct brio_trace *t);

/* begin and end are times of the clock here. By any thread. */
void brio_trace_add(struct brio_trace *t, const struct brio_record *record);

/* All records, in the order in which they ended; nobody adds meanwhile. */
size_t brio_trace_records(const struct brio_trace *t, const struct brio_record **out);

#endif
