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

/* How far a rank is; written by it alone. */
struct brio_way {
    _Atomic uint32_t left; /* the last meeting that it wants nothing of any more */
    uint32_t clear;        /* one that it sat in, and that all have left */
} __attribute__((aligned(128)));

struct brio_meet {
    _Atomic uint32_t arrived;
    char pad[60];
    struct brio_bell over; /* rung at the end of each */
    char rest[56];
    _Atomic uint32_t patient; /* ranks who no longer look at the seats only */
    _Atomic bool no_skipping;
    char more[56];
    _Atomic int64_t most[2][BRIO_MEET_WORDS];
    struct brio_seat seat[2][BRIO_MEET_SEATS]; /* if there are no more ranks than seats */
    struct brio_way way[BRIO_MEET_SEATS];
};

/* The ranks of a file. */
struct brio_team {
    MPI_Comm comm;
    int rank, nranks;
    struct brio_meet *meet; /* NULL if they do not all share memory */
};

/* By one rank, before any other can see it. */
void brio_meet_init(struct brio_meet *meet);

/* Brings n words to the meeting; *epoch is which one it is. Those who sleep may not know before
 * brio_meet_call. */
void brio_meet_enter(const struct brio_team *team, const int64_t *words, int n,
                     uint32_t *epoch);
void brio_meet_call(const struct brio_team *team, uint32_t epoch);

/* True when all have come; then the largest of each word is in `most`, and whether a rank has
 * skipped it in `skipped`. */
bool brio_meet_over(const struct brio_team *team, uint32_t epoch, enum brio_wait how,
                    int64_t *most, int n, bool *skipped);

/* Where ranks have seats, one that neither brings nor wants anything can skip meetings: it is
 * as if it had come, without a word, to the next n. False, and nothing is done, where ranks
 * have none, while one is still in the last meeting that this rank sat in, when it has skipped
 * very many, and after brio_meet_forbid_skipping. */
bool brio_meet_skip(const struct brio_team *team, uint32_t n);
void brio_meet_forbid_skipping(const struct brio_team *team);

/* True when all others are as far as this rank. Only where ranks have seats. */
bool brio_meet_caught_up(const struct brio_team *team, enum brio_wait how);

static inline bool brio_meet_has_seats(const struct brio_team *team)
{
    return team->meet && team->nranks <= BRIO_MEET_SEATS;
}

#endif
