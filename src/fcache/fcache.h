/* Layouts: which server holds which bytes. The name is paper 004's; it keeps the layout of
 * a file, never its data (that is cache). */
#ifndef BRIO_FCACHE_FCACHE_H
#define BRIO_FCACHE_FCACHE_H

#include "mod/layout.h"
#include "mod/module.h"

/* A part of a file that lies in one object on one server. */
struct brio_part {
    int server;
    int extent;         /* of the layout, or -1: in none of them, which counts as server 0 */
    brio_off object;    /* of the extent */
    brio_off off;       /* in the file */
    brio_off local_off; /* in the object */
    brio_off len;
};

struct brio_fcache {
    struct brio_module base;
    BRIO_ERR (*open)(const struct brio_layout *layout, const void *conf, void **self);
    /* The part that begins at `off` >= 0, at most `len` > 0 long. Call again behind it. */
    void (*map)(const void *self, brio_off off, brio_off len, struct brio_part *out);
    /* The inverse: where in the file the byte local_off of an object is; of the part only
     * extent, object and local_off are looked at. -1 if the file has no such byte. */
    brio_off (*find)(const void *self, const struct brio_part *part);
    int (*servers)(const void *self);
    /* Bytes of the file after which the servers follow each other as before, wherever one
     * begins; 0 if they never do. */
    brio_off (*period)(const void *self);
    void (*close)(void *self);
};

extern const struct brio_fcache brio_fcache_none;
extern const struct brio_fcache brio_fcache_stripe;

/* The layout of an open file, for those who ask it: a value of two pointers. */
struct brio_places {
    const struct brio_fcache *ops;
    const void *self;
};

#endif
