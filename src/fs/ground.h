/* What is certain to succeed: a write over what a file holds already needs no room, where the
 * file system writes in place (brio_store.mappable). */
#ifndef BRIO_FS_GROUND_H
#define BRIO_FS_GROUND_H

#include "base/base.h"

/* Of one open file of one rank. All zero but for fd, at first. */
struct brio_ground {
    int fd;
    brio_off lo, hi; /* what is known to be there */
    brio_off limit;  /* this process may write so far */
    brio_off end;    /* of what has been asked about */
    int rest;        /* questions not to be put to the system before it is asked again, */
    int idle;        /* and how many there were last time */
    bool used;       /* what it said last has been of use */
    enum brio_err gave_way;
};

/* Whether the file holds all of [off, off + len). False also if that is not worth asking for:
 * of what lies beyond all that was asked about before, and for a while after answers that
 * served nobody. */
bool brio_ground_holds(struct brio_ground *ground, brio_off off, brio_off len);

/* A write to what was there has failed, and other ranks were told it had not; who is going to
 * tell them asks whether anything is owed to them. */
void brio_ground_gave_way(struct brio_ground *ground, enum brio_err err);
BRIO_ERR brio_ground_owes(struct brio_ground *ground);

/* The file was cut, or may have been. */
void brio_ground_forget(struct brio_ground *ground);

#endif
