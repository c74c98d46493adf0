/* Layouts: which server holds which bytes. The name is paper 004's; it keeps the layout of
 * a file, never its data (that is cache). */
#ifndef BRIO_FCACHE_FCACHE_H
#define BRIO_FCACHE_FCACHE_H

#include "mod/layout.h"
#include "mod/module.h"

/* A part of a file that lies on one server. */
struct brio_part {
    int server;
    brio_off off;       /* in the file */
    brio_off local_off; /* on the server */
    brio_off len;
};

struct brio_fcache {
    struct brio_module base;
    BRIO_ERR (*open)(const struct brio_layout *layout, const void *conf, void **self);
    /* The part that begins at `off`, at most `len` long. Call again behind it. */
    void (*map)(const void *self, brio_off off, brio_off len, struct brio_part *out);
    int (*servers)(const void *self);
    void (*close)(void *self);
};

extern const struct brio_fcache brio_fcache_none;

#endif
