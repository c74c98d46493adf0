/* A bell in memory that ranks of one node share: one rings it, the others look, doze or sleep
 * until it has been rung. Nobody makes a system call for a rank that is awake. */
#ifndef BRIO_COMM_BELL_H
#define BRIO_COMM_BELL_H

#include <stdatomic.h>

#include "base/base.h"

struct brio_team;

/* All zero at first. */
struct brio_bell {
    _Atomic uint32_t rung; /* so often */
    _Atomic uint32_t sleepers;
};

static inline uint32_t brio_bell_heard(struct brio_bell *bell)
{
    return atomic_load(&bell->rung);
}

void brio_bell_ring(struct brio_bell *bell);

enum {
    BRIO_BELL_ASLEEP = 20 /* the round from which ranks that share cores sleep */
};

/* Dozes until it is rung again after `heard`, but not for long: a little more each `round`.
 * MPI is given a chance before, for a rank that sleeps in here may be one that another rank's
 * message waits for. */
void brio_bell_wait(const struct brio_team *team, struct brio_bell *bell, uint32_t heard,
                    int *round);

/* Looks for a few microseconds whether *word is no longer `seen`, if every rank of the team
 * has a core. */
void brio_look_closely(const struct brio_team *team, _Atomic uint32_t *word, uint32_t seen);

/* A moment for others to go on: some hundred nanoseconds if every rank of the team has a core,
 * else this one's core. */
void brio_breathe(const struct brio_team *team);

/* Whether a rank that gives its core away gives it to those it waits for. Not so where each is
 * in a group of processes of its own: then it is soon back, and if it has long to wait, a rank
 * that sleeps is out of the others' way. */
bool brio_yields_serve(void);

/* Sleeps while *word is `seen`, but may wake without a reason. For what others do without this
 * rank's calling MPI. */
void brio_sleep_on(_Atomic uint32_t *word, uint32_t seen);

/* Wakes all who sleep on the word. */
void brio_rouse(_Atomic uint32_t *word);

/* Processors of this node that are online, asked once. */
int brio_cores(void);

#endif
