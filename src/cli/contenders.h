/* Who is measured: from what the user chose to a list of contenders. */
#ifndef BRIO_CLI_CONTENDERS_H
#define BRIO_CLI_CONTENDERS_H

#include "cli/bench.h"

/* Takes one of the options that choose; 1, 0 if it is none, -1, after a message, if wrong. */
int brio_choice_take(struct brio_choice *choice, const char *name, const char *value);

/* The MPI asked for, or any, if all that a measurement needs of it is there; unknown, after a
 * message, if not. */
enum brio_mpi brio_contenders_mpi(enum brio_mpi asked);

/* Fills in the plan's contenders: Brio, the variants, the limit, the others. False, after a
 * message, if one is not to be had. */
bool brio_contenders(const struct brio_choice *choice, struct brio_bench_plan *plan);

/* The modules of a framework, asked of the library; an empty list if it does not say. */
struct brio_words brio_modules_of(enum brio_mpi mpi, const char *framework);

#endif
