/* How a file is spread over servers: what fs finds out and fcache works with. A layout guides
 * who moves which bytes and never where they are: one that is out of date costs time, no
 * data. Plain data, that rank 0 sends to all. */
#ifndef BRIO_MOD_LAYOUT_H
#define BRIO_MOD_LAYOUT_H

#include "base/base.h"

enum {
    BRIO_LAYOUT_EXTENTS = 8,   /* of a composite layout; a file system with more gives the
                                * first ones and lets the last go on without end */
    BRIO_LAYOUT_OBJECTS = 2048 /* whose servers are told one by one */
};

/* Bytes [lo, hi) of the file. They are dealt out in units to `width` objects in turn; when
 * each of these has got `object` bytes the next `width` objects begin. Units are counted from
 * byte 0 of the file, wherever the extent begins. */
struct brio_stripes {
    brio_off lo, hi; /* hi is BRIO_OFF_MAX if there is no end */
    brio_off unit;
    brio_off object; /* a multiple of unit, or 0: objects have no end */
    int width;
    /* The server of the extent's object k is objects[at + k % n] of the layout, or, if n is
     * 0, (at + k) % nservers. */
    int at, n;
};

struct brio_layout {
    int nservers;    /* they are numbered from 0; 1 if the file is not striped */
    int nextents;    /* in file order, without overlap; 0 if the file is not striped */
    int nobjects;    /* so many of `objects` are used */
    brio_off stripe; /* the unit where most of a large file is; 0 if it is not striped */
    struct brio_stripes extents[BRIO_LAYOUT_EXTENTS];
    uint16_t objects[BRIO_LAYOUT_OBJECTS]; /* last, since few use many of them */
};

/* That of a file which is not striped. */
void brio_layout_plain(struct brio_layout *out);

/* The common one: units of `stripe` bytes to each of nservers in turn, from `first` on. */
void brio_layout_round(struct brio_layout *out, int nservers, int first, brio_off stripe);

/* Units of `stripe` bytes to each of nobjects objects in turn, of which `servers` has the
 * server, as the file system numbers them. Here they get their numbers in the order they are
 * met in. */
void brio_layout_dealt(struct brio_layout *out, brio_off stripe, int nobjects,
                       const int64_t *servers);

/* Whether all its numbers make sense together. */
BRIO_ERR brio_layout_check(const struct brio_layout *layout);

#endif
