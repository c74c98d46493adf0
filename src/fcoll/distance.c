/* Trials of the pieces that are long enough to tell something. */
#include "fcoll/distance.h"

#include "base/stats.h"

enum {
    TELLING = 4096 /* bytes */
};

/* From the files before. */
static struct brio_trial known[BRIO_DISTANCES];

struct brio_use brio_distance_begin(struct brio_distance *d, enum brio_distance_of what,
                                    brio_off bytes)
{
    if (bytes < TELLING)
        return (struct brio_use){.other = false};
    if (atomic_load(&d->trial[what].uses) == 0)
        brio_trial_copy(&d->trial[what], &known[what]);
    return brio_trial_begin(&d->trial[what]);
}

void brio_distance_end(struct brio_distance *d, enum brio_distance_of what,
                       const struct brio_use *use, brio_off bytes)
{
    if (bytes < TELLING)
        return;
    brio_trial_end(&d->trial[what], use, bytes);
    brio_trial_copy(&known[what], &d->trial[what]);
}

void brio_distance_next(struct brio_distance *d, enum brio_distance_of what, bool past,
                        int64_t began, brio_off bytes)
{
    if (bytes >= TELLING)
        brio_trial_note(&d->trial[what], BRIO_PAYS_NEXT, past, brio_now() - began, bytes);
}
