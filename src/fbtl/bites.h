/* An access taken apart in bites (lane/sieve.h): packed, in windows with the gaps, or stretch
 * by stretch, over whatever port the module has. */
#ifndef BRIO_FBTL_BITES_H
#define BRIO_FBTL_BITES_H

#include "fbtl/move.h"
#include "lane/sieve.h"

struct brio_bites {
    struct brio_port port;
    struct brio_sieve sieve;
    /* A bite stretch by stretch: brio_move_stretches, or several at a time. */
    struct brio_result (*stretches)(const struct brio_port *port, const struct brio_io *io);
    struct brio_map *flat;                    /* contiguous bytes */
    _Atomic(struct brio_bite_buffer *) spare; /* kept from one access to the next */
};

/* Port, sieve and stretches are filled in by the module before. */
BRIO_ERR brio_bites_open(struct brio_bites *bites);
void brio_bites_close(struct brio_bites *bites);

/* Any access, blocking. */
struct brio_result brio_bites_move(struct brio_bites *bites, const struct brio_io *io);

/* True, and *r, if the access is one piece in the file and one in memory, and so was moved. */
bool brio_bites_flat(struct brio_bites *bites, const struct brio_io *io, struct brio_result *r);

/* What is left of an access of which `moved` bytes are moved. */
struct brio_io brio_bites_rest(const struct brio_io *io, brio_off moved);

#endif
