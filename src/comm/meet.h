/* A meeting place in memory that all ranks of one node map: agreements without a message.
 * With more ranks than cores the waiting costs most, and here it is asleep. */
#ifndef BRIO_COMM_MEET_H
#define BRIO_COMM_MEET_H

#include <mpi.h>

#include "base/base.h"

enum {
    BRIO_MEET_WORDS = 14
};

struct brio_meet {
    _Atomic uint32_t arrived;
    _Atomic uint32_t epoch; /* meetings held */
    _Atomic int64_t most[2][BRIO_MEET_WORDS];
};

/* The ranks of a file. */
struct brio_team {
    MPI_Comm comm;
    int rank, nranks;
    struct brio_meet *meet; /* NULL if they do not all share memory */
};

/* By one rank, before any other can see it. */
void brio_meet_init(struct brio_meet *meet);

/* Brings n words to the meeting; *epoch is which one it is. */
void brio_meet_enter(const struct brio_team *team, const int64_t *words, int n,
                     uint32_t *epoch);

/* True when all have come; then the largest of each word is in `most`. */
bool brio_meet_over(const struct brio_team *team, uint32_t epoch, enum brio_wait how,
                    int64_t *most, int n);

/* Sleeps until *word is no longer `seen`, but not for long: a little more each `round`. MPI
 * is given a chance before, for a rank that sleeps in here may be one that another rank's
 * message waits for. */
void brio_doze(const struct brio_team *team, _Atomic uint32_t *word, uint32_t seen, int *round);

/* Looks for a few microseconds whether *word is no longer `seen`, if every rank of the team
 * has a core. */
void brio_look_closely(const struct brio_team *team, _Atomic uint32_t *word, uint32_t seen);

/* Sleeps while *word is `seen`, but may wake without a reason. For what others do without this
 * rank's calling MPI. */
void brio_sleep_on(_Atomic uint32_t *word, uint32_t seen);

/* Wakes all who doze or sleep on the word. */
void brio_rouse(_Atomic uint32_t *word);

#endif
