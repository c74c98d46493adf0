/* One run of the program that brio tune is asked to make fast: in a process group of its own,
 * within a time, with its output kept and looked through. */
#ifndef BRIO_CLI_TRIAL_H
#define BRIO_CLI_TRIAL_H

#include <regex.h>
#include <stdbool.h>

struct brio_trial {
    const char *const *argv;
    char *const *set;     /* NAME=VALUE for its environment, ended by NULL */
    const regex_t *match; /* of the number that it prints, or NULL: the time it takes */
    double limit;         /* seconds; 0: none */
};

enum brio_trial_end {
    BRIO_TRIAL_DONE,
    BRIO_TRIAL_FAILED,
    BRIO_TRIAL_INTERRUPTED /* by a signal to us; the program was ended */
};

struct brio_trial_result {
    double value; /* what was asked for, */
    double took;  /* and seconds */
    char *said;   /* the end of its output, to be freed */
    char why[200];
};

enum brio_trial_end brio_trial_run(const struct brio_trial *t, struct brio_trial_result *out);

/* The last number in `text' that the pattern finds: its first group, or all of the match. */
bool brio_trial_number(const regex_t *match, const char *text, double *out);

#endif
