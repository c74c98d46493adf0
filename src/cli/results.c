/* Curves from kept results, and whether they say what the paper said. */
#include <math.h>
#include <stdio.h>
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

static void add_point(struct brio_curves *c, const char *label, double x, double y)
{
    if (!isfinite(y))
        return;
    struct brio_curve *curve = curve_of(c, label);
    curve->x = brio_memory_again(curve->x, (curve->n + 1) * sizeof *curve->x);
    curve->y = brio_memory_again(curve->y, (curve->n + 1) * sizeof *curve->y);
    curve->x[curve->n] = x;
    curve->y[curve->n++] = y;
}

static double least_of(const struct brio_json *list)
{
    double least = INFINITY;
    for (size_t i = 0; i < list->n; i++)
        least = fmin(least, brio_json_number(brio_json_at(list, i)));
    return list->n > 0 ? least : NAN;
}

/* The fastest repetition, as papers 000 and 004 have it: what else the machine does can only
 * make one slower. */
static double best_speed(const struct brio_json *of_case, const struct brio_json *series)
{
    double bytes = brio_json_number(brio_json_get(of_case, "bytes"));
    return bytes / least_of(brio_json_get(series, "seconds")) / 1e6;
}

/* Where a point belongs. */
struct spot {
    const struct brio_json *run, *of_case;
    double x;
    const char *dir;
};

/* One contender of one case. */
static void add_contender(struct brio_curves *c, const struct brio_outcome *o,
                          const struct spot *at, const struct brio_json *one)
{
    const char *label = brio_json_text(brio_json_get(one, "label"));
    const struct brio_json *series = brio_json_get(one, at->dir);
    if (o->what->counter) {
        const struct brio_json *counts = brio_json_get(series, "counts");
        double ns = brio_json_number(brio_json_get(counts, o->what->counter));
        double ranks = brio_json_number(brio_json_get(at->run, "ranks"));
        add_point(c, label, at->x, ns / ranks / 1e6);
        return;
    }
    add_point(c, label, at->x, best_speed(at->of_case, series));
    if (strcmp(label, "individual") == 0 && strncmp(o->what->id, "000", 3) == 0) {
        double bytes = brio_json_number(brio_json_get(at->of_case, "bytes"));
        double before = least_of(brio_json_get(series, "access"));
        add_point(c, "individual, before merge", at->x, bytes / before / 1e6);
    }
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

void brio_curves_free(struct brio_curves *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->curve[i].label);
        free(c->curve[i].x);
        free(c->curve[i].y);
    }
    free(c->curve);
    *c = (struct brio_curves){0};
}

/* ---- Judging ----------------------------------------------------------------------------- */

static const struct brio_curve *named(const struct brio_curves *c, const char *label)
{
    for (size_t i = 0; label && i < c->n; i++)
        if (strcmp(c->curve[i].label, label) == 0)
            return &c->curve[i];
    return NULL;
}

/* How much larger a is than b: the geometric mean over the points that both have, which stand
 * at the same places of the lists as long as none gave up. */
static double mean_ratio(const struct brio_curve *a, const struct brio_curve *b)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; a && b && i < a->n; i++)
        for (size_t k = 0; k < b->n; k++)
            if (a->x[i] == b->x[k] && (a->n != b->n || i == k)) {
                sum += log(a->y[i] / b->y[k]);
                n++;
            }
    return n > 0 ? exp(sum / (double)n) : NAN;
}

static double range_of(const struct brio_curve *a)
{
    double lo = INFINITY, hi = 0;
    for (size_t i = 0; a && i < a->n; i++) {
        lo = fmin(lo, a->y[i]);
        hi = fmax(hi, a->y[i]);
    }
    return a && a->n > 1 ? hi / lo : NAN;
}

/* Percent of the cases, in both directions, in which `label` is within a part of the fastest
 * of Brio's. */
static double percent_within(const struct brio_outcome *o, const char *label, double part)
{
    static const char *const dirs[] = {"write", "read"};
    size_t good = 0, all = 0;
    for (size_t i = 0; i < o->n; i++) {
        const struct brio_json *cases =
            brio_json_get(brio_json_get(o->line[i], "run"), "cases");
        for (size_t k = 0; k < cases->n * 2; k++) {
            const struct brio_json *of_case = brio_json_at(cases, k / 2);
            const struct brio_json *who = brio_json_get(of_case, "contenders");
            double best = 0, own = NAN;
            for (size_t j = 0; j < who->n; j++) {
                const struct brio_json *one = brio_json_at(who, j);
                double speed = best_speed(of_case, brio_json_get(one, dirs[k % 2]));
                if (strncmp(brio_json_text(brio_json_get(one, "io")), "Brio", 4) != 0)
                    continue;
                best = fmax(best, speed);
                if (strcmp(brio_json_text(brio_json_get(one, "label")), label) == 0)
                    own = speed;
            }
            all += isfinite(own);
            good += isfinite(own) && own * (1 + part) >= best;
        }
    }
    return all ? 100.0 * (double)good / (double)all : NAN;
}

/* System calls that write, over all cases. */
static double calls_of(const struct brio_outcome *o, const char *label)
{
    double sum = NAN;
    for (size_t i = 0; i < o->n; i++) {
        const struct brio_json *cases =
            brio_json_get(brio_json_get(o->line[i], "run"), "cases");
        for (size_t k = 0; k < cases->n; k++) {
            const struct brio_json *who = brio_json_get(brio_json_at(cases, k), "contenders");
            for (size_t j = 0; j < who->n; j++) {
                const struct brio_json *one = brio_json_at(who, j);
                if (strcmp(brio_json_text(brio_json_get(one, "label")), label) != 0)
                    continue;
                double n = brio_json_number(brio_json_get(
                    brio_json_get(brio_json_get(one, "write"), "counts"), "write_calls"));
                sum = isnan(sum) ? n : sum + n;
            }
        }
    }
    return sum;
}

static enum brio_verdict_word verdict(double value, bool agrees)
{
    return !isfinite(value) ? BRIO_NOT_MEASURED : agrees ? BRIO_AGREES : BRIO_DISAGREES;
}

enum brio_verdict_word brio_judge(const struct brio_outcome *o, const struct brio_claim *claim,
                                  char *said, size_t size)
{
    struct brio_curves c = brio_curves_of(o, "write");
    const struct brio_curve *a = named(&c, claim->a), *b = named(&c, claim->b);
    double ratio = mean_ratio(a, b), range = range_of(a);
    double part = claim->relation == BRIO_WITHIN_10 ? 0.10 : 0.25;
    double within = percent_within(o, claim->a, part);
    double want = claim->b ? strtod(claim->b, NULL) : 0;
    double fewer = claim->b ? calls_of(o, claim->b) / calls_of(o, claim->a) : NAN;
    brio_curves_free(&c);
    said[0] = '\0';
    switch (claim->relation) {
    case BRIO_FASTER:
    case BRIO_NOT_SLOWER:
    case BRIO_ALIKE:
        if (isfinite(ratio))
            snprintf(said, size, "%s is %.2f times as fast as %s", claim->a, ratio, claim->b);
        return verdict(ratio, claim->relation == BRIO_FASTER ? ratio > 1.05
                              : claim->relation == BRIO_NOT_SLOWER
                                  ? ratio > 0.95
                                  : ratio > 0.8 && ratio < 1.25);
    case BRIO_FLAT:
    case BRIO_CHANGES:
        if (isfinite(range))
            snprintf(said, size, "%s's largest value is %.2f times its smallest", claim->a,
                     range);
        return verdict(range, claim->relation == BRIO_FLAT ? range < 2 : range >= 2);
    case BRIO_FEWER_CALLS:
        if (isfinite(fewer))
            snprintf(said, size, "%s makes %.0f times as many writes as %s", claim->b, fewer,
                     claim->a);
        return verdict(fewer, fewer > 1);
    default:
        if (isfinite(within))
            snprintf(said, size, "%s is within %.0f %% of the best in %.0f %% of the cases",
                     claim->a, 100 * part, within);
        return verdict(within, within >= want);
    }
}
