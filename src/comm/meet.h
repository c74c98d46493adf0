/* A meeting place in memory that all ranks of one node map: agreements without a message.
 * With more ranks than cores the waiting costs most, and here it is asleep. */
#ifndef BRIO_COMM_MEET_H
#define BRIO_COMM_MEET_H

#include <mpi.h>

#include "comm/bell.h"

enum {
    BRIO_MEET_WORDS = 15,
    BRIO_MEET_SEATS = 8
};

/* What one rank brings to a meeting, on cache lines of its own. */
struct brio_seat {
    _Atomic uint32_t epoch; /* of the meeting, set last */
    _Atomic int64_t word[BRIO_MEET_WORDS];
} __attribute__((aligned(128)));

struct brio_meet {
    _Atomic uint32_t arrived;
    char pad[60];
    struct brio_bell over; /* rung at the end of each */
    char rest[56];
    _Atomic uint32_t patient; /* ranks who no longer look at the seats only */
    char more[60];
    _Atomic int64_t most[2][BRIO_MEET_WORDS];
    struct brio_seat seat[2][BRIO_MEET_SEATS]; /* if there are no more ranks than seats */
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

#endif
