/* What the machine's noise does not change: system calls and bytes of the ranks, and what
 * Brio counts where it is the library in use. */
#ifndef BRIO_BENCH_COUNT_H
#define BRIO_BENCH_COUNT_H

#include <mpi.h>

enum {
    COUNTS_MAX = 40
};

struct counts {
    long long value[COUNTS_MAX];
};

void counts_find(void);
/* This process's counters as they are now: the system's, and Brio's of an open file, if it is
 * one of Brio's. The others stay as they are. */
void counts_system(struct counts *c);
void counts_file(struct counts *c, MPI_File fh);
void counts_subtract(struct counts *c, const struct counts *before);
/* The sum of all ranks, on each. Collective. */
void counts_share(struct counts *c);
/* name=value, separated by blanks; none that is zero. */
void counts_print(const struct counts *c);

#endif
