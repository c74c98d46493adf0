/* Requests from one rank of a file to another that are answered whatever the other rank is
 * doing: computing, waiting in a call of its own, closing the file already. The porter's
 * thread of the other process runs a handler for each. Ranks that share memory read each
 * other's boxes where they are; between nodes the boxes go as messages of MPI. */
#ifndef BRIO_COMM_COURIER_H
#define BRIO_COMM_COURIER_H

#include "comm/crew.h"

struct brio_courier;

/* A request at the rank that it was sent to, from the call of the handler until it has been
 * answered. */
struct brio_letter {
    int from;     /* rank of the file */
    void *data;   /* what was sent; the answer is written over it */
    size_t bytes; /* of it */
    size_t room;  /* for the answer */
    void *link;   /* the handler's, NULL at first: for letters that wait */
};

struct brio_courier_env {
    const struct brio_team *team; /* of the file; must outlive the courier */
    const struct brio_crew *crew; /* likewise */
    size_t room;                  /* bytes that a box holds */
    int nboxes;                   /* of each rank: what it can have under way at one time */
    /* Runs on the porter's thread, beside all others of the program. It may use the store,
     * but must not wait for other ranks: no take, call, post or drain. Every letter must be
     * answered once, now or later, by whichever thread. */
    void (*handle)(void *self, struct brio_letter *letter);
    void (*tick)(void *self); /* or NULL; likewise, after a brio_courier_ring */
    void *self;
};

/* Collective: on all ranks or on none. BRIO_EUNSUPOP if ranks share no memory and the MPI
 * does not grant threads. One rank alone has no thread and nobody to send to. */
BRIO_ERR brio_courier_open(const struct brio_courier_env *env, struct brio_courier **out);

/* Collective. Waits until all that this rank sent has been answered, and for all ranks to
 * say so; until then this one answers. */
void brio_courier_close(struct brio_courier *c);

/* Memory to write a request into. */
struct brio_box {
    void *data;
    size_t room;
    int number; /* what follows is the courier's */
    int to;
    enum brio_box_state {
        BRIO_BOX_FREE,
        BRIO_BOX_TAKEN,
        BRIO_BOX_POSTED
    } state;
    struct brio_slip *slip;
    MPI_Request sent, answered;
};

/* A free box; waits for one if need be, or gives NULL if `how` is BRIO_POLL. Who holds what
 * others wait for must have its box already. */
struct brio_box *brio_courier_take(struct brio_courier *c, enum brio_wait how);
void brio_courier_give(struct brio_courier *c, struct brio_box *box);

/* Sends the first `bytes` of the box to another rank and waits for the answer, which is in
 * the box then, *answer bytes long. The box stays the caller's. */
BRIO_ERR brio_courier_call(struct brio_courier *c, struct brio_box *box, int rank, size_t bytes,
                           size_t *answer);

/* Sends and goes on; the box is gone, and free again when the letter has been answered.
 * What one thread sends to one rank arrives in the order it was sent, calls too. */
BRIO_ERR brio_courier_post(struct brio_courier *c, struct brio_box *box, int rank,
                           size_t bytes);

/* The first `bytes` of letter->data go back; the letter is gone. */
void brio_courier_answer(struct brio_courier *c, struct brio_letter *letter, size_t bytes);

/* Waits until every post of this rank has been answered. */
void brio_courier_drain(struct brio_courier *c);

/* Lets a rank that shares memory with this one run its tick. */
void brio_courier_ring(struct brio_courier *c, int rank);

#endif
