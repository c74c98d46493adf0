/* Pieces of a file in one message: a place, a length and the bytes of each, in the order they
 * were written. Pure. */
#ifndef BRIO_CACHE_PARCEL_H
#define BRIO_CACHE_PARCEL_H

#include "base/base.h"

/* A message being filled. */
struct brio_parcel {
    char *data;
    size_t room, used;
    size_t last; /* where the header of the last piece is */
};

struct brio_piece {
    brio_off off, len;
    const char *data;
};

void brio_parcel_init(struct brio_parcel *parcel, void *data, size_t room);

/* Room for the first of `len` bytes at `off` in the file, as many as fit: *fit of them, and
 * NULL if none do. A piece that begins where the last one ended is joined to it. */
char *brio_parcel_add(struct brio_parcel *parcel, brio_off off, brio_off len, brio_off *fit);

/* The piece at *at of a message of `bytes`, and moves on; false at its end. A message that is
 * cut short ends early: *at is not `bytes` then. */
bool brio_parcel_next(const void *data, size_t bytes, size_t *at, struct brio_piece *out);

#endif
