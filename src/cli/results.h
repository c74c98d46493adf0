/* The results of an experiment, as `brio reproduce` keeps them: gathered into curves
 * (results.c), and judged by what the paper said (judge.c). */
#ifndef BRIO_CLI_RESULTS_H
#define BRIO_CLI_RESULTS_H

#include "cli/experiments.h"
#include "cli/json.h"

/* What was measured of one experiment: the lines kept of it, one for each number of ranks. */
struct brio_outcome {
    const struct brio_experiment *what;
    struct brio_json **line;
    size_t n;
};

/* The median of the repetitions, their extremes, and how sure it is: the variance of its
 * logarithm, by so many degrees of freedom (0: nothing is known of that). */
struct brio_point {
    double x, y, low, high;
    double variance;
    size_t freedom;
};

struct brio_curve {
    char *label;
    struct brio_point *point;
    size_t n;
};

/* The curves of one direction, "write" or "read". */
struct brio_curves {
    struct brio_curve *curve;
    size_t n;
};

/* MB/s, or milliseconds if the experiment shows a counter. */
struct brio_curves brio_curves_of(const struct brio_outcome *o, const char *dir);
void brio_curves_free(struct brio_curves *c);

/* For showing: of many contenders with one point each, the fastest and the automatic choice.
 * Returns how many there were. */
size_t brio_curves_trim(struct brio_curves *c);

/* What the repetitions of one contender in one case say: MB/s. False if there are none. */
bool brio_point_of(const struct brio_json *of_case, const struct brio_json *seconds,
                   struct brio_point *out);

enum brio_verdict_word {
    BRIO_AGREES,
    BRIO_DISAGREES,
    BRIO_NOISE, /* the repetitions differ too much to tell */
    BRIO_NOT_MEASURED,
    BRIO_VERDICTS
};

/* In words. */
extern const char *const brio_verdict_text[BRIO_VERDICTS];

/* Judges a claim by the medians and their spread; `said` gets the number that decided it. */
enum brio_verdict_word brio_judge(const struct brio_outcome *o, const struct brio_claim *claim,
                                  char *said, size_t size);

/* A figure as SVG, made by gnuplot; NULL if there is no gnuplot or nothing to show. */
char *brio_figure(const struct brio_outcome *o, const char *dir);

/* Where results were measured. */
struct brio_environment {
    char date[32], machine[256], system[256], files[512], mpis[128];
};
void brio_environment_of(const struct brio_outcome *o, size_t n, struct brio_environment *out);

/* The same as the page, as Markdown; figures are in a directory of the same name without its
 * ending. Only experiments that were run. */
bool brio_markdown(const char *path, const struct brio_outcome *o, size_t n, const char *mode);

/* Writes the whole report; false, after a message, if it cannot be written. */
bool brio_page(const char *path, const struct brio_outcome *o, size_t n, const char *mode);

#endif
