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

int brio_groups(const struct brio_extent *e, struct brio_owner *owners)
{
    int n = brio_aggregators(e);
    for (int i = 0; i < n; i++) {
        int first = (int)((int64_t)i * e->nranks / n);
        int last = (int)((int64_t)(i + 1) * e->nranks / n) - 1;
        owners[i] = (struct brio_owner){
            .rank = first, .lo = e->lo, .hi = e->hi, .first = first, .last = last};
    }
    return n;
}
