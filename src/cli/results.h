/* The results of an experiment, as `brio reproduce` keeps them: gathered into curves, and
 * judged by what the paper said. */
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

struct brio_curve {
    char *label;
    double *x, *y;
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

enum brio_verdict_word {
    BRIO_AGREES,
    BRIO_DISAGREES,
    BRIO_NOT_MEASURED
};

/* Judges a claim; `said` gets the number that decided it. */
enum brio_verdict_word brio_judge(const struct brio_outcome *o, const struct brio_claim *claim,
                                  char *said, size_t size);

/* A figure as SVG, made by gnuplot; NULL if there is no gnuplot or nothing to show. */
char *brio_figure(const struct brio_outcome *o, const char *dir);

/* Where results were measured. */
struct brio_environment {
    char date[32], machine[256], system[256], files[512], mpis[128];
};
void brio_environment_of(const struct brio_outcome *o, size_t n, struct brio_environment *out);

/* The same as the page, as Markdown with figures beside it; only experiments that were run. */
bool brio_markdown(const char *dir, const struct brio_outcome *o, size_t n, const char *mode);

/* Writes the whole report; false, after a message, if it cannot be written. */
bool brio_page(const char *path, const struct brio_outcome *o, size_t n, const char *mode);

#endif
