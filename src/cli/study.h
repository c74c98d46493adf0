/* A study of paper 004: `brio tune` searches a space of settings for a workload of brio bench,
 * and its journal becomes a result like those of brio bench. */
#ifndef BRIO_CLI_STUDY_H
#define BRIO_CLI_STUDY_H

#include <stdio.h>

#include "cli/cli.h"
#include "cli/experiments.h"

struct brio_study {
    const struct brio_experiment *what; /* with a space */
    const char *options;                /* of the search */
    const char *journal;                /* an interrupted search goes on from it */
    const char *dir;                    /* where the measured file goes */
    enum brio_mpi mpi;
    void (*progress)(void *self, const char *text, double part);
    void *self;
};

/* The command, as a user would write it; to be freed. */
char *brio_study_command(const struct brio_study *s);

/* Searches, and writes the result to `out`; false, after a message, if that failed, and without
 * one if it was interrupted. */
bool brio_study_run(const struct brio_study *s, FILE *out);

#endif
