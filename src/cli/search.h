/* In which order combinations are tried, and what can be said of the times: pure functions of
 * what was measured, so that an interrupted search goes on where it was. A cost is what is to
 * be small; number 0 is the default, with nothing set, which is measured like the others. */
#ifndef BRIO_CLI_SEARCH_H
#define BRIO_CLI_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum brio_search_kind {
    BRIO_SEARCH_EXHAUSTIVE,
    BRIO_SEARCH_RANDOM, /* some of all */
    BRIO_SEARCH_HALVING /* all (or some) once; the better half of them twice, the better half
                           of these four times, and so on up to `repeats' */
};

struct brio_search {
    enum brio_search_kind kind;
    size_t n;       /* combinations, with the default */
    size_t trials;  /* of them that are tried, the default not counted; 0: all */
    size_t repeats; /* runs of each; with halving, of the last ones */
    uint64_t seed;
};

struct brio_sample {
    double *cost;
    size_t n;
    bool failed; /* is not tried again, and cannot win */
};

/* Which combination is to be run next; false when all is done. *left is how many runs there
 * are from here on if none fails. */
bool brio_search_next(const struct brio_search *s, const struct brio_sample *sample,
                      size_t *next, size_t *left);

/* The geometric mean of the first `most` costs. */
double brio_sample_mean(const struct brio_sample *sample, size_t most);

/* How much runs of one combination differ: the standard deviation of the logarithms, pooled
 * over all combinations, with so many degrees of freedom. */
struct brio_spread {
    double sigma;
    size_t freedom;
};
struct brio_spread brio_spread_of(const struct brio_sample *sample, size_t n);

/* How likely it is that chance alone makes Student's t so large, to either side. */
double brio_student(double t, size_t freedom);

/* True if the difference of the two means is larger than chance makes it in one of 20 searches
 * among so many combinations (t on the logarithms, Bonferroni's correction: the best of many is
 * the luckiest, too). Never without repetitions. */
bool brio_differs(const struct brio_sample *a, const struct brio_sample *b,
                  const struct brio_spread *spread, size_t among);

/* The combinations that were measured, best first; returns their number. `out' has room for
 * all. */
size_t brio_search_rank(const struct brio_sample *sample, size_t n, size_t *out);

#endif
