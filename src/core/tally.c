/* Records of single accesses, for a report. */
#include "core/tally.h"

/* The phases of all threads: of accesses that go on at the same time, each gets what it sees.
 */
void brio_tally_note(const struct brio_file *f, struct brio_tally *t)
{
    for (int i = 1; i < BRIO_PHASES; i++)
        t->phase[i] = brio_stats_get(f->stats, BRIO_N_PHASE + i);
    t->began = brio_now();
}

void brio_tally_record(struct brio_file *f, int kind, brio_off bytes,
                       const struct brio_tally *t)
{
    struct brio_record r = {
        .kind = kind, .n = 1, .begin = t->began, .end = brio_now(), .bytes = bytes};
    for (int i = 1; i < BRIO_PHASES; i++)
        r.phase[i] =
            brio_min(brio_stats_get(f->stats, BRIO_N_PHASE + i) - t->phase[i], r.end - r.begin);
    brio_trace_add(f->stats->trace, &r);
}

BRIO_ERR brio_file_counter(const struct brio_file *f, const char *name, int64_t *out)
{
    int counter = brio_counter_named(name);
    if (counter < 0)
        return brio_fail(BRIO_EARG, "there is no counter \"%s\"", name);
    *out = brio_stats_get(f->stats, counter);
    return BRIO_OK;
}
