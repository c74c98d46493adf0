/* Orders of trials, and Student's t. */
#include "cli/search.h"

#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"

static double log_mean(const struct brio_sample *sample, size_t most)
{
    size_t n = sample->n < most ? sample->n : most;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += log(sample->cost[i]);
    return n ? sum / (double)n : 0;
}

/* What qsort's comparison looks at; one thread. */
static struct {
    const struct brio_sample *sample;
    size_t runs;
} sorted;

static int by_cost(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    double p = log_mean(&sorted.sample[x], sorted.runs);
    double q = log_mean(&sorted.sample[y], sorted.runs);
    if (p != q)
        return p < q ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Best first, by the first `runs` runs of each. */
static void sort(const struct brio_sample *sample, size_t *list, size_t n, size_t runs)
{
    sorted.sample = sample;
    sorted.runs = runs;
    qsort(list, n, sizeof *list, by_cost);
}

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void shuffle(size_t *list, size_t n, uint64_t seed)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)(draw(&seed) % i), kept = list[i - 1];
        list[i - 1] = list[k];
        list[k] = kept;
    }
}

static size_t *make_list(size_t n)
{
    size_t *list = calloc(n ? n : 1, sizeof *list);
    if (!list) {
        brio_say("out of memory");
        exit(1);
    }
    return list;
}

/* Those that are tried at all: the default first. */
static size_t candidates(const struct brio_search *s, size_t *list)
{
    for (size_t i = 0; i < s->n; i++)
        list[i] = i;
    if (s->trials == 0 || s->trials + 1 >= s->n)
        return s->n;
    shuffle(list + 1, s->n - 1, s->seed);
    return s->trials + 1;
}

/* One more run for each of the list that has fewer than `want`, in an order of chance: what
 * changes with time shall not favour anyone. */
static bool one_more(const struct brio_search *s, const struct brio_sample *sample,
                     const size_t *list, size_t n, size_t want, size_t *next)
{
    size_t *order = make_list(n);
    bool found = false;
    for (size_t run = 1; run <= want && !found; run++) {
        for (size_t i = 0; i < n; i++)
            order[i] = list[i];
        if (run == 1) /* the default first of all: it shows whether the program runs */
            shuffle(order + 1, n - 1, s->seed + run);
        else
            shuffle(order, n, s->seed + run);
        for (size_t i = 0; i < n && !found; i++)
            if (!sample[order[i]].failed && sample[order[i]].n < run) {
                *next = order[i];
                found = true;
            }
    }
    free(order);
    return found;
}

static size_t missing(const struct brio_sample *sample, const size_t *list, size_t n,
                      size_t want)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        if (!sample[list[i]].failed && sample[list[i]].n < want)
            left += want - sample[list[i]].n;
    return left;
}

/* The better half by the first `runs` runs, and the default, which stays in place. */
static size_t halve(const struct brio_sample *sample, size_t *list, size_t n, size_t runs)
{
    size_t good = 1;
    for (size_t i = 1; i < n; i++)
        if (!sample[list[i]].failed)
            list[good++] = list[i];
    sort(sample, list + 1, good - 1, runs);
    return 1 + good / 2;
}

static bool next_of_halving(const struct brio_search *s, const struct brio_sample *sample,
                            size_t *list, size_t n, size_t *next, size_t *left)
{
    for (size_t runs = 1;; runs = 2 * runs < s->repeats ? 2 * runs : s->repeats) {
        if (one_more(s, sample, list, n, runs, next)) {
            *left = missing(sample, list, n, runs);
            while (runs < s->repeats) { /* what comes after, if none fails */
                size_t more = 2 * runs < s->repeats ? 2 * runs : s->repeats;
                n = 1 + n / 2;
                *left += n * (more - runs);
                runs = more;
            }
            return true;
        }
        if (runs == s->repeats)
            return false;
        n = halve(sample, list, n, runs);
    }
}

bool brio_search_next(const struct brio_search *s, const struct brio_sample *sample,
                      size_t *next, size_t *left)
{
    size_t *list = make_list(s->n);
    size_t n = candidates(s, list);
    bool found;
    *left = 0;
    if (s->kind == BRIO_SEARCH_HALVING) {
        found = next_of_halving(s, sample, list, n, next, left);
    } else {
        found = one_more(s, sample, list, n, s->repeats, next);
        *left = missing(sample, list, n, s->repeats);
    }
    free(list);
    return found;
}

/* ---- What the numbers say -------------------------------------------------------------- */

double brio_sample_mean(const struct brio_sample *sample, size_t most)
{
    return exp(log_mean(sample, most));
}

struct brio_spread brio_spread_of(const struct brio_sample *sample, size_t n)
{
    double squares = 0;
    size_t freedom = 0;
    for (size_t i = 0; i < n; i++) {
        if (sample[i].failed || sample[i].n < 2)
            continue;
        double mean = log_mean(&sample[i], sample[i].n);
        for (size_t k = 0; k < sample[i].n; k++) {
            double d = log(sample[i].cost[k]) - mean;
            squares += d * d;
        }
        freedom += sample[i].n - 1;
    }
    return (struct brio_spread){.sigma = freedom ? sqrt(squares / (double)freedom) : 0,
                                .freedom = freedom};
}

/* The regularized incomplete beta function of x, a and b, by its continued fraction (Lentz),
 * for x < (a + 1) / (a + b + 2). */
static double beta(double x, double a, double b)
{
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a;
    double d = 1 / (1 - (a + b) * x / (a + 1)), c = 1, f = d;
    for (int i = 1; i < 300; i++) {
        double m = i, even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        f *= d * c;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        f *= d * c;
        if (fabs(d * c - 1) < 1e-12)
            break;
    }
    return front * f;
}

double brio_student(double t, size_t freedom)
{
    double v = (double)freedom, x = v / (v + t * t), a = v / 2, b = 0.5;
    if (t == 0 || freedom == 0)
        return 1;
    return x < (a + 1) / (a + b + 2) ? beta(x, a, b) : 1 - beta(1 - x, b, a);
}

bool brio_differs(const struct brio_sample *a, const struct brio_sample *b,
                  const struct brio_spread *spread, size_t among)
{
    if (spread->freedom == 0 || a->n == 0 || b->n == 0)
        return false;
    double d = fabs(log_mean(a, a->n) - log_mean(b, b->n));
    double error = spread->sigma * sqrt(1 / (double)a->n + 1 / (double)b->n);
    if (d == 0 || error == 0)
        return d > 0;
    return brio_student(d / error, spread->freedom) * (double)among < 0.05;
}

size_t brio_search_rank(const struct brio_sample *sample, size_t n, size_t *out)
{
    size_t have = 0;
    for (size_t i = 0; i < n; i++)
        if (!sample[i].failed && sample[i].n > 0)
            out[have++] = i;
    sort(sample, out, have, SIZE_MAX);
    return have;
}
