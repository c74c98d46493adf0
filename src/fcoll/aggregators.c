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
    n = brio_min(n, brio_max(e->servers, cores));
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

int brio_equal_domains(const struct brio_extent *e, struct brio_owner *owners)
{
    int n = brio_aggregators(e);
    int count = 0;
    brio_off lo = e->lo;
    for (int i = 0; i < n && lo < e->hi; i++) {
        brio_off hi = i == n - 1 ? e->hi : e->lo + (e->hi - e->lo) / n * (i + 1);
        if (e->align > 0 && hi < e->hi)
            hi -= hi % e->align;
        if (hi <= lo)
            continue;
        owners[count++] = (struct brio_owner){.rank = (int)((int64_t)i * e->nranks / n),
                                              .lo = lo,
                                              .hi = hi,
                                              .last = e->nranks - 1};
        lo = hi;
    }
    return count;
}
