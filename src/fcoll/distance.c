/* One trial for each direction, of the pieces that are long enough to tell something. */
#include "fcoll/distance.h"

#include "base/stats.h"

enum {
    TELLING = 4096 /* bytes */
};

/* From the files before. */
static struct brio_trial known[2];

struct brio_use brio_distance_begin(struct brio_distance *d, enum brio_dir dir, brio_off bytes)
{
    if (bytes < TELLING)
        return (struct brio_use){.other = false};
    if (atomic_load(&d->trial[dir].uses) == 0)
        brio_trial_copy(&d->trial[dir], &known[dir]);
    return brio_trial_begin(&d->trial[dir]);
}

void brio_distance_end(struct brio_distance *d, enum brio_dir dir, const struct brio_use *use,
                       brio_off bytes)
{
    if (bytes < TELLING)
        return;
    brio_trial_end(&d->trial[dir], use, bytes);
    brio_trial_copy(&known[dir], &d->trial[dir]);
}

void brio_distance_next(struct brio_distance *d, enum brio_dir dir, bool past, int64_t began,
                        brio_off bytes)
{
    if (bytes >= TELLING)
        brio_trial_note(&d->trial[dir], BRIO_PAYS_NEXT, past, brio_now() - began, bytes);
}
