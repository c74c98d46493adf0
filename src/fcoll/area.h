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

struct brio_gate {
    _Atomic uint64_t turn; /* run << 32 | times its keeper was done with the buffer */
    _Atomic uint32_t left; /* ranks of the crew that have not done their part with it yet */
    _Atomic int64_t valid; /* reads: there is data below this offset only */
    _Atomic uint64_t end;  /* of an owner's first: run << 32 | how it ended for this owner, as
                              soon as it has accessed its last window */
    _Atomic uint32_t past; /* what lies packed there went past the caches */
    char pad[28];
};

/* How a run ended. */
enum {
    BRIO_END_FAILED = 1 /* an access of the file did */
};

struct brio_area {
    struct brio_bell bell;  /* rung when a gate is opened, or all are through with it */
    struct brio_bell over;  /* rung when an owner says how a run ended */
    _Atomic int32_t owners; /* of the last run */
    char pad[44];
    struct brio_distance distance;
    char pad_too[2 * BRIO_LINE - sizeof(struct brio_distance)];
    struct brio_gate gate[]; /* BRIO_BUFFERS for each rank, for each may be an owner: so that
                                what was ever a gate never holds data; then their berths */
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

/* Wakes all ranks that wait there. */
static inline void brio_area_call(const struct brio_crew *crew)
{
    brio_bell_ring(&brio_area_of(crew)->bell);
    brio_bell_ring(&brio_area_of(crew)->over);
}

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
