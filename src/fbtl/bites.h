/* An access taken apart in bites (lane/sieve.h): packed, in windows with the gaps, or stretch
 * by stretch, over whatever port the module has. */
#ifndef BRIO_FBTL_BITES_H
#define BRIO_FBTL_BITES_H

#include "fbtl/move.h"
#include "lane/sieve.h"

struct brio_bites {
    struct brio_port port;
    struct brio_sieve sieve;
    /* A whole access, blocking: brio_bites_any, or something better that ends there. */
    struct brio_result (*move)(void *self, const struct brio_io *io);
    /* A bite stretch by stretch: brio_move_stretches, or several at a time. */
    struct brio_result (*stretches)(const struct brio_port *port, const struct brio_io *io);
    struct brio_map *flat;                    /* contiguous bytes */
    _Atomic(struct brio_bite_buffer *) spare; /* kept from one access to the next */
};

/* A lane to the store whose self is a struct brio_bites. The module fills in how the port moves
 * bytes, and may replace the rest, before the first access. Nothing is kept back in it. */
BRIO_ERR brio_bites_lane(const struct brio_store *store, struct brio_lane *out);
void brio_bites_free(struct brio_lane *lane);

/* The settings of modules that have nothing to decide but how to read. */
struct brio_bites_conf {
    enum brio_switch ds_read;
    brio_off rd_window;
};
extern const struct brio_hint brio_bites_hints[];

struct brio_result brio_bites_any(void *bites, const struct brio_io *io);

/* Any access, in bites. */
struct brio_result brio_bites_move(struct brio_bites *bites, const struct brio_io *io);

/* True, and *r, if the access is one piece in the file and one in memory, and so was moved. */
bool brio_bites_flat(struct brio_bites *bites, const struct brio_io *io, struct brio_result *r);

/* What is left of an access of which `moved` bytes are moved. */
struct brio_io brio_bites_rest(const struct brio_io *io, brio_off moved);

#endif
