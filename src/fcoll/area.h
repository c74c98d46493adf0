/* The shared memory of a crew during a run: for every owner a corner with two buffers and
 * their gates. A gate says whose turn it is: its number is the run and how often the buffer
 * has changed hands in it, so a rank that is late or early never mistakes a signal. */
#ifndef BRIO_FCOLL_AREA_H
#define BRIO_FCOLL_AREA_H

#include "comm/crew.h"
#include "fcoll/berth.h"
#include "fcoll/distance.h"

enum {
    BRIO_BUFFERS = 2,      /* of an owner: one is filled while the other is accessed */
    BRIO_DESK = 512 << 10, /* bytes of one of an owner's desks; see there */
    BRIO_BOX_HEAD = 64,    /* before the data in a buffer that travels: see struct brio_box */
};

/* How data lies in an owner's buffer. */
enum brio_laid {
    BRIO_LAID_PACKED, /* rank after rank, */
    BRIO_LAID_PAST,   /* put there past the caches */
    BRIO_LAID_IN_ORDER
};

struct brio_gate {
    _Atomic uint64_t turn; /* run << 32 | times its keeper was done with the buffer */
    _Atomic uint32_t left; /* ranks of the crew that have not done their part with it yet */
    _Atomic int64_t valid; /* reads: there is data below this offset only */
    _Atomic uint32_t laid; /* enum brio_laid; of a plan that is packed */
    char pad[36];
};

/* How a run ended. */
#define BRIO_END_FAILED UINT32_C(0x80000000) /* an access of the file did */

/* Of one rank: rung when a gate is opened for it, or all are through with one that it keeps.
 * With one bell for all, each would be woken for what is another's. */
struct brio_doorbell {
    struct brio_bell bell;
    char pad[BRIO_LINE - sizeof(struct brio_bell)];
};

struct brio_area {
    struct brio_bell over;  /* rung when a run has ended for all owners */
    _Atomic uint64_t ended; /* run << 32 | how it ended | owners that have accessed their last
                               windows */
    _Atomic int32_t owners; /* of the last run */
    char pad[BRIO_LINE - sizeof(struct brio_bell) - 12];
    struct brio_distance distance;
    char pad_too[2 * BRIO_LINE - sizeof(struct brio_distance)];
    struct brio_gate gate[]; /* BRIO_BUFFERS for each rank, for each may be an owner: so that
                                what was ever a gate never holds data; then their doorbells
                                and berths */
};

/* What a buffer that travels between crews begins with. */
struct brio_box {
    int64_t valid;
    char pad[BRIO_BOX_HEAD - sizeof(int64_t)];
    char data[];
};

/* The area of a file with so many ranks, for so many owners with buffers of `bytes`. */
size_t brio_area_bytes(int nranks, int nowners, brio_off bytes);

static inline struct brio_area *brio_area_of(const struct brio_crew *crew)
{
    return (struct brio_area *)(void *)crew->region.mem;
}

/* Of a rank of the crew, in a file with so many. */
struct brio_bell *brio_area_bell(const struct brio_crew *crew, int nranks, int rank);

/* Wakes all ranks that wait there. */
void brio_area_call(const struct brio_crew *crew, int nranks);

static inline struct brio_gate *brio_area_gate(const struct brio_crew *crew, int owner,
                                               size_t k)
{
    return &brio_area_of(crew)->gate[(size_t)owner * BRIO_BUFFERS + k % BRIO_BUFFERS];
}

/* Of the ranks of the crew, in a file with so many. */
struct brio_berths *brio_area_berths(const struct brio_crew *crew, int nranks);

/* The owner's two desks, one behind the other: where it puts packed data in the order of the
 * file, and where it puts what it has read packed again. They stay in its own cache. */
char *brio_area_desk(const struct brio_crew *crew, int nranks, brio_off bytes, int owner);

/* The buffer of the owner's k-th window. */
char *brio_area_buffer(const struct brio_crew *crew, int nranks, brio_off bytes, int owner,
                       size_t k);

#endif
