/* Medians, spreads, and whether a difference is more than noise. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"

enum {
    FEWEST = 5, /* repetitions for an interval to mean something */
    RESAMPLES = 2000
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which a part `q` of the sorted ones lies. */
static double quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    double rest = at - (double)i;
    return i + 1 < n ? sorted[i] * (1 - rest) + sorted[i + 1] * rest : sorted[i];
}

static double *sorted_copy(const double *v, size_t n)
{
    double *copy = brio_memory(n * sizeof *copy);
    memcpy(copy, v, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, by_value);
    return copy;
}

double brio_sample_median(const double *v, size_t n)
{
    if (n == 0)
        return NAN;
    double *s = sorted_copy(v, n), m = quantile(s, n, 0.5);
    free(s);
    return m;
}

double brio_sample_spread(const double *v, size_t n)
{
    if (n < 2)
        return 0;
    double *s = sorted_copy(v, n);
    double spread = (quantile(s, n, 0.75) - quantile(s, n, 0.25)) / 2 / quantile(s, n, 0.5);
    free(s);
    return spread;
}

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double resampled_median(const double *v, size_t n, double *room, uint64_t *state)
{
    for (size_t i = 0; i < n; i++)
        room[i] = v[draw(state) % n];
    qsort(room, n, sizeof *room, by_value);
    return quantile(room, n, 0.5);
}

struct brio_ratio brio_sample_ratio(const double *a, size_t na, const double *b, size_t nb)
{
    struct brio_ratio r = {.value = NAN, .low = NAN, .high = NAN, .noise = true};
    size_t n = na < nb ? na : nb;
    if (n == 0)
        return r;
    double *pair = brio_memory(n * sizeof *pair), *room = brio_memory(n * sizeof *room);
    double *all = brio_memory(RESAMPLES * sizeof *all);
    for (size_t i = 0; i < n; i++)
        pair[i] = b[i] / a[i];
    r.value = brio_sample_median(pair, n);
    r.known = n >= FEWEST;
    uint64_t state = 88172645463325252u; /* the same result for the same times */
    for (size_t i = 0; i < RESAMPLES && r.known; i++)
        all[i] = resampled_median(pair, n, room, &state);
    if (r.known) {
        qsort(all, RESAMPLES, sizeof *all, by_value);
        r.low = quantile(all, RESAMPLES, 0.025);
        r.high = quantile(all, RESAMPLES, 0.975);
        r.noise = r.low <= 1 && r.high >= 1;
    }
    free(all);
    free(room);
    free(pair);
    return r;
}
