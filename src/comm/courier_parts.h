/* The inside of a courier: what the sending side and the porter's side both see. */
#ifndef BRIO_COMM_COURIER_PARTS_H
#define BRIO_COMM_COURIER_PARTS_H

#include <pthread.h>

#include "comm/courier.h"
#include "comm/porter.h"

/* Before each box; goes with it as a message. */
struct brio_slip {
    _Atomic uint32_t state; /* enum slip_state; the sender of a call sleeps on it */
    uint32_t next;          /* in an inbox: 1 + number of the box put there before, or 0 */
    int32_t from;           /* rank */
    int32_t posted;         /* nobody waits for this one alone */
    int32_t index;          /* among the boxes of its rank */
    uint64_t bytes;
    char rest[32];
};
_Static_assert(sizeof(struct brio_slip) == 64, "boxes on whole cache lines");

enum slip_state {
    SLIP_SENT,
    SLIP_AWAITED, /* sent, and its sender sleeps */
    SLIP_ANSWERED
};

/* One for each rank of the crew, in shared memory. */
struct desk {
    _Atomic uint32_t inbox;    /* 1 + number of the box that came last, or 0 */
    _Atomic uint32_t ticks;    /* brio_courier_ring was called so often */
    _Atomic uint32_t returned; /* boxes of this rank that came back: its threads sleep on it */
    _Atomic uint32_t waiting;  /* threads that do */
    char rest[48];
};
_Static_assert(sizeof(struct desk) == 64, "desks on whole cache lines");

/* A letter of this rank, with the way back. */
struct envelope {
    struct brio_letter letter; /* first */
    struct brio_slip *slip;    /* the sender's, or a copy that came by message */
    bool far;
    MPI_Request sent; /* the answer, on its way */
    struct envelope *next;
};

struct brio_courier {
    struct brio_courier_env env;
    struct brio_region region;
    int member, nmembers;          /* this rank in its crew */
    int *member_of;                /* by rank: -1 in other crews */
    struct brio_page_slot **bells; /* by member */
    struct desk *desks;            /* by member */
    char *slips;                   /* by member and box, `pitch` bytes apart */
    size_t pitch;
    struct envelope *envelopes; /* for letters in shared memory; as slips */
    struct brio_box *boxes;     /* of this rank */
    pthread_mutex_t lock;       /* guards the states of boxes */
    struct brio_porter_door door;
    uint32_t ticked;
    bool joined;

    MPI_Comm far;           /* where letters to and from other crews go, or MPI_COMM_NULL */
    struct envelope *spare; /* for the next that comes: no message is taken without one */
    pthread_mutex_t far_lock;
    struct envelope *leaving; /* answers on their way; with far_lock */
    _Atomic int nleaving;
};

/* The porter's side: brio_porter_door.serve. */
bool brio_courier_serve(void *self);

/* Sends what is left and frees what the porter's side has. */
void brio_courier_serve_end(struct brio_courier *c);

/* Tags of messages: a request, or the answer to what a box asked. */
enum {
    TAG_REQUEST,
    TAG_ANSWER /* + index */
};

/* A rest while MPI has something under way: longer the longer it takes. */
void brio_courier_rest(int *round);

static inline struct brio_slip *brio_slip_at(const struct brio_courier *c, int number)
{
    return (struct brio_slip *)(c->slips + (size_t)number * c->pitch);
}

#endif
