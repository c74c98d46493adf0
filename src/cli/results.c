/* Curves from kept results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/results.h"

static struct brio_curve *curve_of(struct brio_curves *c, const char *label)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->curve[i].label, label) == 0)
            return &c->curve[i];
    c->curve = brio_memory_again(c->curve, (c->n + 1) * sizeof *c->curve);
    c->curve[c->n] = (struct brio_curve){.label = brio_copy(label)};
    return &c->curve[c->n++];
}

static void add_point(struct brio_curves *c, const char *label, struct brio_point point)
{
    struct brio_curve *curve = curve_of(c, label);
    curve->point = brio_memory_again(curve->point, (curve->n + 1) * sizeof *curve->point);
    curve->point[curve->n++] = point;
}

/* Of the logarithms of n values, about their mean. */
static double log_variance(const double *v, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += log(v[i]);
    for (size_t i = 0; i < n; i++)
        squares += pow(log(v[i]) - sum / (double)n, 2);
    return n > 1 ? squares / (double)(n - 1) : 0;
}

bool brio_point_of(const struct brio_json *of_case, const struct brio_json *seconds,
                   struct brio_point *out)
{
    double bytes = brio_json_number(brio_json_get(of_case, "bytes"));
    size_t n = seconds->n;
    if (n == 0)
        return false;
    double *v = brio_memory(n * sizeof *v), least = INFINITY, most = 0;
    for (size_t i = 0; i < n; i++) {
        v[i] = brio_json_number(brio_json_at(seconds, i));
        least = fmin(least, v[i]);
        most = fmax(most, v[i]);
    }
    const double median = n > 2 ? M_PI / 2 : 1; /* it is that much less certain than a mean */
    *out = (struct brio_point){.y = bytes / brio_sample_median(v, n) / 1e6,
                               .low = bytes / most / 1e6,
                               .high = bytes / least / 1e6,
                               .variance = median * log_variance(v, n) / (double)n,
                               .freedom = n - 1};
    free(v);
    return isfinite(out->y) && out->y > 0;
}

/* Where a point belongs. */
struct spot {
    const struct brio_json *run, *of_case;
    double x;
    const char *dir;
};

static void add_series(struct brio_curves *c, const char *label, const struct spot *at,
                       const struct brio_json *seconds)
{
    struct brio_point point;
    if (!brio_point_of(at->of_case, seconds, &point))
        return;
    point.x = at->x;
    add_point(c, label, point);
}

/* In milliseconds a rank. */
static void add_counter(struct brio_curves *c, const char *label, const struct spot *at,
                        const struct brio_json *counts, const char *counter)
{
    double ns = brio_json_number(brio_json_get(counts, counter));
    double ms = ns / brio_json_number(brio_json_get(at->run, "ranks")) / 1e6;
    if (isfinite(ms))
        add_point(c, label, (struct brio_point){.x = at->x, .y = ms, .low = ms, .high = ms});
}

/* One contender of one case. */
static void add_contender(struct brio_curves *c, const struct brio_outcome *o,
                          const struct spot *at, const struct brio_json *one)
{
    const char *label = brio_json_text(brio_json_get(one, "label"));
    const struct brio_json *series = brio_json_get(one, at->dir);
    if (o->what->counter) {
        add_counter(c, label, at, brio_json_get(series, "counts"), o->what->counter);
        char *elapsed = brio_text("%s, elapsed", label);
        if (o->what->beside)
            add_counter(c, elapsed, at, brio_json_get(series, "counts"), o->what->beside);
        free(elapsed);
        return;
    }
    add_series(c, label, at, brio_json_get(series, "seconds"));
    if (strcmp(label, "individual") == 0 && strncmp(o->what->id, "000", 3) == 0)
        add_series(c, "individual, before merge", at, brio_json_get(series, "access"));
}

struct brio_curves brio_curves_of(const struct brio_outcome *o, const char *dir)
{
    struct brio_curves c = {0};
    for (size_t i = 0; i < o->n; i++) {
        const struct brio_json *run = brio_json_get(o->line[i], "run");
        const struct brio_json *cases = brio_json_get(run, "cases");
        for (size_t k = 0; k < cases->n; k++) {
            const struct brio_json *one = brio_json_at(cases, k);
            const struct brio_json *who = brio_json_get(one, "contenders");
            struct spot at = {.run = run, .of_case = one, .dir = dir};
            at.x = brio_json_number(o->what->axis == BRIO_BY_RANKS ? brio_json_get(run, "ranks")
                                                                   : brio_json_get(one, "x"));
            for (size_t j = 0; j < who->n; j++)
                add_contender(&c, o, &at, brio_json_at(who, j));
        }
    }
    return c;
}

static int by_speed(const void *a, const void *b)
{
    const struct brio_curve *x = a, *y = b;
    return (x->point[0].y < y->point[0].y) - (x->point[0].y > y->point[0].y);
}

size_t brio_curves_trim(struct brio_curves *c)
{
    enum {
        MANY = 24,
        SHOWN = 20
    };
    size_t n = c->n, kept = 0;
    for (size_t i = 0; i < n; i++)
        if (n <= MANY || c->curve[i].n != 1)
            return n;
    qsort(c->curve, n, sizeof *c->curve, by_speed);
    for (size_t i = 0; i < n; i++) {
        if (i < SHOWN || strcmp(c->curve[i].label, "automatic") == 0) {
            c->curve[kept++] = c->curve[i];
        } else {
            free(c->curve[i].label);
            free(c->curve[i].point);
        }
    }
    c->n = kept;
    return n;
}

void brio_curves_free(struct brio_curves *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->curve[i].label);
        free(c->curve[i].point);
    }
    free(c->curve);
    *c = (struct brio_curves){0};
}
