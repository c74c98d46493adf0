/* Steps that datatype constructors are made of. The bounds follow the standard's rules for
 * lower and upper bound; there is no alignment in a file, so nothing is padded. */
#include "type/form.h"

#include "type/build.h"

void brio_form_drop(struct brio_form *f)
{
    brio_node_unref(f->node);
    f->node = NULL;
}

static BRIO_ERR too_large(struct brio_form *f)
{
    brio_form_drop(f);
    return brio_node_too_large();
}

/* True if ub - lb can be counted. */
static bool bounds_fit(const struct brio_form *f)
{
    return brio_span_fits((struct brio_span){f->lb, f->ub});
}

/* The bounds of `count` > 0 copies. */
static bool spread(struct brio_form *f, brio_off count, brio_off stride)
{
    brio_off last;
    if (!brio_mul(count - 1, stride, &last))
        return false;
    if (f->lb_from && !brio_add(f->lb, brio_min(last, 0), &f->lb))
        return false;
    if (f->ub_from && !brio_add(f->ub, brio_max(last, 0), &f->ub))
        return false;
    return bounds_fit(f);
}

static void forget_bounds(struct brio_form *f)
{
    f->lb = f->ub = 0;
    f->lb_from = f->ub_from = BRIO_BOUND_NONE;
}

BRIO_ERR brio_form_copies(struct brio_form *f, brio_off count, brio_off stride)
{
    if (count <= 0)
        forget_bounds(f);
    else if (!spread(f, count, stride))
        return too_large(f);
    struct brio_node *child = f->node;
    f->node = NULL;
    return brio_node_loop(child, count, stride, &f->node);
}

BRIO_ERR brio_form_blocks(struct brio_form *f, size_t n, const brio_off *len,
                          const brio_off *off)
{
    struct brio_form all = {0}, one = *f;
    brio_off extent = brio_form_extent(f);
    for (size_t i = 0; i < n; i++) {
        if (len[i] <= 0)
            continue;
        struct brio_form block = one;
        if (!spread(&block, len[i], extent))
            return too_large(f);
        enum brio_err err = brio_form_join(&all, &block, off[i]);
        if (err) {
            brio_form_drop(f);
            return err;
        }
    }
    *f = all;
    return brio_node_blocks(one.node, extent, n, len, off, &f->node);
}

BRIO_ERR brio_form_shift(struct brio_form *f, brio_off off)
{
    struct brio_node *child = f->node;
    f->node = NULL;
    if (!brio_add(f->lb, f->lb_from ? off : 0, &f->lb) ||
        !brio_add(f->ub, f->ub_from ? off : 0, &f->ub) || !bounds_fit(f)) {
        brio_node_unref(child);
        return brio_node_too_large();
    }
    return brio_node_list(1, &child, &off, &f->node);
}

void brio_form_mark(struct brio_form *f, brio_off lb, brio_off ub)
{
    f->lb = lb;
    f->ub = ub;
    f->lb_from = f->ub_from = BRIO_BOUND_MARK;
}

BRIO_ERR brio_form_join(struct brio_form *f, const struct brio_form *g, brio_off off)
{
    brio_off lb = 0, ub = 0;
    if ((g->lb_from && !brio_add(g->lb, off, &lb)) ||
        (g->ub_from && !brio_add(g->ub, off, &ub)))
        return brio_node_too_large();
    if (g->lb_from > f->lb_from) {
        f->lb = lb;
        f->lb_from = g->lb_from;
    } else if (g->lb_from && g->lb_from == f->lb_from)
        f->lb = brio_min(f->lb, lb);
    if (g->ub_from > f->ub_from) {
        f->ub = ub;
        f->ub_from = g->ub_from;
    } else if (g->ub_from && g->ub_from == f->ub_from)
        f->ub = brio_max(f->ub, ub);
    return bounds_fit(f) ? BRIO_OK : brio_node_too_large();
}
