/* A datatype being decoded: its bytes and its bounds, which the constructors change step by
 * step. Not for other rooms. */
#ifndef BRIO_TYPE_FORM_H
#define BRIO_TYPE_FORM_H

#include "type/map.h"

/* Where a bound comes from: markers (resized types, MPI_LB, MPI_UB) outdo data. */
enum brio_bound {
    BRIO_BOUND_NONE,
    BRIO_BOUND_DATA,
    BRIO_BOUND_MARK
};

struct brio_form {
    struct brio_node *node; /* owned; NULL after a failure */
    brio_off lb, ub;        /* 0 if there is none */
    enum brio_bound lb_from, ub_from;
};

/* From one copy to the next. */
static inline brio_off brio_form_extent(const struct brio_form *f)
{
    return f->ub - f->lb;
}

/* All of these change the form in place, and give up its node when they fail. */

/* `count` copies, `stride` bytes apart. */
BRIO_ERR brio_form_copies(struct brio_form *f, brio_off count, brio_off stride);

/* n blocks of len[i] copies, extent apart, each at off[i] bytes. */
BRIO_ERR brio_form_blocks(struct brio_form *f, size_t n, const brio_off *len,
                          const brio_off *off);

BRIO_ERR brio_form_shift(struct brio_form *f, brio_off off);

/* Bounds as given. */
void brio_form_mark(struct brio_form *f, brio_off lb, brio_off ub);

/* Widens the bounds of f by those of g (not its node) shifted by off. */
BRIO_ERR brio_form_join(struct brio_form *f, const struct brio_form *g, brio_off off);

void brio_form_drop(struct brio_form *f);

#endif
