/* Whether results say what the paper said, as far as their spread lets one tell. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/results.h"
#include "cli/search.h"

const char *const brio_verdict_text[BRIO_VERDICTS] = {
    [BRIO_AGREES] = "agrees",
    [BRIO_DISAGREES] = "does not agree here",
    [BRIO_NOISE] = "within noise",
    [BRIO_NOT_MEASURED] = "not measured",
};

/* How much larger one is than another, and whether that may be chance. */
struct factor {
    double value; /* NAN: not known */
    double error; /* of its logarithm: the standard error */
    size_t freedom;
};

static const struct brio_curve *named(const struct brio_curves *c, const char *label)
{
    for (size_t i = 0; label && i < c->n; i++)
        if (strcmp(c->curve[i].label, label) == 0)
            return &c->curve[i];
    return NULL;
}

/* The geometric mean over the points that both have, which stand at the same places of the
 * lists as long as none gave up. */
static struct factor compare(const struct brio_curve *a, const struct brio_curve *b)
{
    double sum = 0, variance = 0;
    size_t n = 0, freedom = 0;
    for (size_t i = 0; a && b && i < a->n; i++)
        for (size_t k = 0; k < b->n; k++) {
            const struct brio_point *p = &a->point[i], *q = &b->point[k];
            if (p->x != q->x || (a->n == b->n && i != k))
                continue;
            sum += log(p->y / q->y);
            variance += p->variance + q->variance;
            freedom += p->freedom + q->freedom;
            n++;
        }
    if (n == 0)
        return (struct factor){.value = NAN};
    return (struct factor){
        .value = exp(sum / (double)n), .error = sqrt(variance) / (double)n, .freedom = freedom};
}

/* The largest point against the smallest. */
static struct factor range_of(const struct brio_curve *a)
{
    const struct brio_point *lo = NULL, *hi = NULL;
    for (size_t i = 0; a && i < a->n; i++) {
        const struct brio_point *p = &a->point[i];
        lo = !lo || p->y < lo->y ? p : lo;
        hi = !hi || p->y > hi->y ? p : hi;
    }
    if (!lo || a->n < 2)
        return (struct factor){.value = NAN};
    return (struct factor){.value = hi->y / lo->y,
                           .error = sqrt(lo->variance + hi->variance),
                           .freedom = lo->freedom + hi->freedom};
}

/* Chance makes such a difference in less than one of 20 cases; without repetitions nothing is
 * known of chance. */
static bool is_certain(const struct factor *f)
{
    double t = fabs(log(f->value)) / f->error;
    return f->freedom == 0 || f->error == 0 || brio_student(t, f->freedom) < 0.05;
}

static enum brio_verdict_word verdict(const struct factor *f, bool agrees, bool needs_proof)
{
    if (!isfinite(f->value))
        return BRIO_NOT_MEASURED;
    if (agrees && !needs_proof)
        return BRIO_AGREES;
    return !is_certain(f) ? BRIO_NOISE : agrees ? BRIO_AGREES : BRIO_DISAGREES;
}

/* ---- How near the best ---------------------------------------------------------------------
 */

struct tally {
    size_t all, near, maybe; /* cases; near the best; or not, but by chance perhaps */
};

/* One case in one direction: the contender against the fastest of Brio's. */
static void count_case(const struct brio_json *of_case, const char *dir, const char *label,
                       double part, struct tally *t)
{
    const struct brio_json *who = brio_json_get(of_case, "contenders");
    struct brio_point best = {.y = 0}, own = {.y = 0}, p;
    for (size_t j = 0; j < who->n; j++) {
        const struct brio_json *one = brio_json_at(who, j);
        if (strncmp(brio_json_text(brio_json_get(one, "io")), "Brio", 4) != 0 ||
            !brio_point_of(of_case, brio_json_get(brio_json_get(one, dir), "seconds"), &p))
            continue;
        best = p.y > best.y ? p : best;
        if (strcmp(brio_json_text(brio_json_get(one, "label")), label) == 0)
            own = p;
    }
    if (own.y == 0)
        return;
    const struct factor behind = {.value = best.y / own.y / (1 + part),
                                  .error = sqrt(best.variance + own.variance),
                                  .freedom = best.freedom + own.freedom};
    t->all++;
    if (behind.value <= 1)
        t->near++;
    else
        t->maybe += !is_certain(&behind);
}

static struct tally count_near(const struct brio_outcome *o, const char *label, double part)
{
    struct tally t = {0};
    for (size_t i = 0; i < o->n; i++) {
        const struct brio_json *cases =
            brio_json_get(brio_json_get(o->line[i], "run"), "cases");
        for (size_t k = 0; k < cases->n; k++) {
            count_case(brio_json_at(cases, k), "write", label, part, &t);
            count_case(brio_json_at(cases, k), "read", label, part, &t);
        }
    }
    return t;
}

static enum brio_verdict_word judge_near(const struct brio_outcome *o,
                                         const struct brio_claim *claim, char *said,
                                         size_t size)
{
    double part = claim->relation == BRIO_WITHIN_10 ? 0.10 : 0.25;
    double want = strtod(claim->b, NULL) / 100;
    struct tally t = count_near(o, claim->a, part);
    if (t.all == 0)
        return BRIO_NOT_MEASURED;
    snprintf(
        said, size,
        "%s is within %.0f %% of the best in %zu of %zu cases, %.0f %%; in %zu more it may "
        "be, by their spread",
        claim->a, 100 * part, t.near, t.all, 100.0 * (double)t.near / (double)t.all, t.maybe);
    if ((double)t.near >= want * (double)t.all)
        return BRIO_AGREES;
    return (double)(t.near + t.maybe) >= want * (double)t.all ? BRIO_NOISE : BRIO_DISAGREES;
}

static enum brio_verdict_word judge_few(const struct brio_outcome *o,
                                        const struct brio_claim *claim, char *said, size_t size)
{
    struct brio_curves c = brio_curves_of(o, "write");
    size_t ten = 0, quarter = 0, n = c.n;
    double best = 0;
    for (size_t i = 0; i < n; i++)
        best = fmax(best, c.curve[i].point[0].y);
    for (size_t i = 0; i < n; i++) {
        ten += c.curve[i].point[0].y * 1.10 >= best;
        quarter += c.curve[i].point[0].y * 1.25 >= best;
    }
    brio_curves_free(&c);
    if (n == 0)
        return BRIO_NOT_MEASURED;
    snprintf(said, size, "of %zu, %zu are within 10 %% of the best, %zu within 25 %%", n, ten,
             quarter);
    bool few = 100 * (double)quarter <= strtod(claim->b, NULL) * (double)n;
    return few ? BRIO_AGREES : BRIO_DISAGREES;
}

/* ---- Claims --------------------------------------------------------------------------------
 */

/* What `label` did in one case, or NULL. */
static const struct brio_json *in_case(const struct brio_json *of_case, const char *label)
{
    const struct brio_json *who = brio_json_get(of_case, "contenders");
    for (size_t j = 0; j < who->n; j++) {
        const struct brio_json *one = brio_json_at(who, j);
        if (strcmp(brio_json_text(brio_json_get(one, "label")), label) == 0)
            return one;
    }
    return NULL;
}

/* What a contender did over all cases. */
struct deeds {
    double calls;    /* system calls that write; NAN: not known */
    const char *why; /* it failed, or "" */
};

static struct deeds deeds_of(const struct brio_outcome *o, const char *label)
{
    struct deeds d = {.calls = NAN, .why = ""};
    for (size_t i = 0; label && i < o->n; i++) {
        const struct brio_json *cases =
            brio_json_get(brio_json_get(o->line[i], "run"), "cases");
        for (size_t k = 0; k < cases->n; k++) {
            const struct brio_json *one = in_case(brio_json_at(cases, k), label);
            if (!one)
                continue;
            double n = brio_json_number(brio_json_get(
                brio_json_get(brio_json_get(one, "write"), "counts"), "write_calls"));
            d.calls = isnan(d.calls) ? n : d.calls + n;
            if (!*d.why)
                d.why = brio_json_text(brio_json_get(one, "why"));
        }
    }
    return d;
}

/* Why a claim could not be judged, where one of the two says so. */
static void tell_failure(const struct brio_outcome *o, const struct brio_claim *claim,
                         char *said, size_t size)
{
    const char *const label[] = {claim->a, claim->b};
    for (int i = 0; i < 2; i++) {
        struct deeds d = deeds_of(o, label[i]);
        if (*d.why && !*said)
            snprintf(said, size, "%s failed: %s", label[i], d.why);
    }
}

/* Half of the interval in which the factor is in 19 of 20 cases, in percent. */
static double give_or_take(const struct factor *f)
{
    return 100 * (exp(2 * f->error) - 1);
}

static enum brio_verdict_word judge_pair(const struct brio_claim *claim, const struct factor *f,
                                         char *said, size_t size)
{
    double ratio = f->value;
    if (isfinite(ratio))
        snprintf(said, size, "%s is %.2f times as fast as %s, give or take %.0f %%", claim->a,
                 ratio, claim->b, give_or_take(f));
    if (claim->relation == BRIO_FASTER)
        return verdict(f, ratio > 1.05, true);
    if (claim->relation == BRIO_NOT_SLOWER)
        return verdict(f, ratio > 0.95, false);
    return verdict(f, ratio > 0.8 && ratio < 1.25, false);
}

static enum brio_verdict_word judge_range(const struct brio_claim *claim,
                                          const struct factor *f, char *said, size_t size)
{
    bool changes = claim->relation == BRIO_CHANGES;
    if (isfinite(f->value))
        snprintf(said, size, "%s's largest value is %.2f times its smallest", claim->a,
                 f->value);
    return verdict(f, (f->value >= 2) == changes, changes);
}

/* What one point is of another, and x likewise. */
static enum brio_verdict_word judge_growth(const struct brio_curve *a, char *said, size_t size)
{
    if (!a || a->n < 2)
        return BRIO_NOT_MEASURED;
    const struct brio_point *first = &a->point[0], *last = &a->point[a->n - 1];
    double y = last->y / first->y, x = last->x / first->x;
    snprintf(said, size, "%.4g times as many take %s %.2f times as long", x, a->label, y);
    return y < x ? BRIO_AGREES : BRIO_DISAGREES;
}

static enum brio_verdict_word judge(const struct brio_outcome *o,
                                    const struct brio_claim *claim, char *said, size_t size)
{
    struct brio_curves c = brio_curves_of(o, "write");
    const struct brio_curve *a = named(&c, claim->a);
    if (claim->relation == BRIO_GROWS_LESS) {
        enum brio_verdict_word growth = judge_growth(a, said, size);
        brio_curves_free(&c);
        return growth;
    }
    const struct factor pair = compare(a, named(&c, claim->b)), range = range_of(a);
    brio_curves_free(&c);
    switch (claim->relation) {
    case BRIO_FASTER:
    case BRIO_NOT_SLOWER:
    case BRIO_ALIKE:
        return judge_pair(claim, &pair, said, size);
    case BRIO_FLAT:
    case BRIO_CHANGES:
        return judge_range(claim, &range, said, size);
    case BRIO_FEWER_CALLS: {
        double fewer = deeds_of(o, claim->b).calls / deeds_of(o, claim->a).calls;
        if (isfinite(fewer))
            snprintf(said, size, "%s makes %.0f times as many writes as %s", claim->b, fewer,
                     claim->a);
        return !isfinite(fewer) ? BRIO_NOT_MEASURED : fewer > 1 ? BRIO_AGREES : BRIO_DISAGREES;
    }
    case BRIO_FEW_NEAR:
        return judge_few(o, claim, said, size);
    case BRIO_WITHIN_10:
    case BRIO_WITHIN_25:
    case BRIO_GROWS_LESS:
        break;
    }
    return judge_near(o, claim, said, size);
}

enum brio_verdict_word brio_judge(const struct brio_outcome *o, const struct brio_claim *claim,
                                  char *said, size_t size)
{
    said[0] = '\0';
    enum brio_verdict_word v = judge(o, claim, said, size);
    if (v == BRIO_NOT_MEASURED)
        tell_failure(o, claim, said, size);
    return v;
}
