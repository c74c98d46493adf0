/* One owner per so many bytes, but no more than can work at the same time. */
#include "fcoll/aggregators.h"

#include <unistd.h>

/* An owner with less than this to move costs more than it gains. */
#define SATURATION ((brio_off)4 << 20)

int brio_aggregators(const struct brio_extent *e)
{
    if (e->owners > 0)
        return (int)brio_min(e->owners, e->nranks);
    brio_off volume = brio_min(e->hi - e->lo, e->most * e->nranks);
    brio_off n = brio_max(1, volume / SATURATION);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    n = brio_min(n, brio_max(1, cores));
    return (int)brio_min(n, e->nranks);
}
