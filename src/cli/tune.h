/* A search of brio tune, as its files share it. */
#ifndef BRIO_CLI_TUNE_H
#define BRIO_CLI_TUNE_H

#include <regex.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/search.h"
#include "cli/space.h"
#include "cli/trial.h"

struct brio_tune {
    /* What was asked for. */
    const char *space_path;
    char *journal_path;
    const char *match_text; /* NULL: the time */
    regex_t match;
    bool larger, as_is, fresh, list;
    double limit; /* seconds; 0: from the default's */
    const char *program, *file, *mount, *profile;
    bool no_profile;
    char **command;         /* the user's words behind the space */
    struct brio_words line; /* what is run */

    struct brio_search search;
    struct brio_space space;
    int *combination; /* search.n of space.n indices; the first is the default */
    char **name;      /* of each */
    struct brio_sample *sample;
    FILE *journal;
    size_t recalled, done; /* runs */
    double slowest;        /* run of the default, in seconds */
    bool warned;
    struct brio_tune_progress {
        double begin;
        size_t before; /* runs that were done then */
        bool shown;
    } progress;
};

/* 0, or the exit code for what is wrong, which has been said. */
int brio_tune_options(struct brio_tune *t, int argc, char **argv);

/* A bar on a terminal, else a line for each run. `left' runs are to come, this one too. */
void brio_progress_show(struct brio_tune *t, size_t at, size_t left);
void brio_progress_ran(struct brio_tune *t, size_t at);
void brio_progress_clear(struct brio_tune *t);

/* Prints what was found and writes the profile; returns the exit code. */
int brio_tune_report(struct brio_tune *t);

#endif
