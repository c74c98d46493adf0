/* A message of any length to one rank, and one from another at the same time, without waiting:
 * what is more than one count of MPI's can say goes in pieces. A piece that is full has another
 * one behind it, so that a short message is one of MPI's and no more. */
#ifndef BRIO_COMM_CARGO_H
#define BRIO_COMM_CARGO_H

#include <mpi.h>

#include "base/base.h"

enum {
    BRIO_CARGO_PIECE = 1 << 30 /* bytes */
};

/* Neither copied nor moved until it is done. */
struct brio_cargo {
    MPI_Comm comm;
    int to, from, tag; /* one message at a time by this tag */
    size_t piece;      /* the same on all ranks, at most INT_MAX */
    const char *out;   /* the caller's */
    size_t out_bytes;
    char *in; /* what came, to be freed by the caller; NULL without memory */
    size_t in_bytes;
    enum brio_err err; /* there was no memory for it, or MPI failed */
    /* What follows is its own. */
    size_t sent; /* bytes that have been handed to MPI */
    bool last;   /* so has the piece that is not full; */
    bool ended;  /* and this one has come */
    MPI_Request sending, receiving;
    MPI_Message message;
    int coming; /* bytes of the piece that is being received */
    char nowhere;
};

/* The first seven fields have been set. */
void brio_cargo_start(struct brio_cargo *c);

/* True when both messages have got where they should. */
bool brio_cargo_step(struct brio_cargo *c);

#endif
