/* Subarray and darray: one loop (or two, for an uneven cyclic distribution) per dimension,
 * from the fastest dimension out. */
#include "type/array.h"

#include <stdlib.h>

#include "base/mem.h"

/* One dimension as this process sees it. */
struct dim {
    brio_off size;                    /* of the whole array */
    brio_off sub, start;              /* subarray */
    int distrib, darg, nprocs, coord; /* darray */
};

static BRIO_ERR too_large(struct brio_form *f)
{
    brio_form_drop(f);
    return brio_fail(BRIO_ETYPE, "array datatype reaches beyond 2^63 bytes");
}

/* Elements first .. first+n-1 of a dimension, `stride` bytes apart. */
static BRIO_ERR take_range(struct brio_form *f, brio_off first, brio_off n, brio_off stride)
{
    brio_off off;
    if (!brio_mul(first, stride, &off))
        return too_large(f);
    enum brio_err err = brio_form_copies(f, n, stride);
    return err ? err : brio_form_shift(f, off);
}

/* Every nprocs-th block of k elements, beginning with block `coord`. */
static BRIO_ERR take_cyclic(struct brio_form *f, const struct dim *d, brio_off k,
                            brio_off stride)
{
    brio_off nblocks = d->size / k + (d->size % k != 0);
    brio_off mine = d->coord < nblocks ? (nblocks - d->coord - 1) / d->nprocs + 1 : 0;
    brio_off rest = d->size % k; /* the last block of all, if it is not whole */
    bool last_is_mine = rest && mine && (nblocks - 1) % d->nprocs == d->coord;
    brio_off whole = mine - last_is_mine;
    brio_off block, cycle, at, last_at;
    if (!brio_mul(k, stride, &block) || !brio_mul(block, d->nprocs, &cycle) ||
        !brio_mul(block, d->coord, &at) || !brio_mul(block, mine ? nblocks - 1 : 0, &last_at))
        return too_large(f);
    struct brio_form last = *f;
    if (last_is_mine)
        brio_node_ref(last.node);
    else
        last.node = NULL;
    enum brio_err err = brio_form_copies(f, k, stride);
    if (!err)
        err = brio_form_copies(f, whole, cycle);
    if (!err)
        err = brio_form_shift(f, at);
    if (!err && last_is_mine) {
        err = brio_form_copies(&last, rest, stride);
        if (!err) {
            struct brio_node *both[2] = {f->node, last.node};
            f->node = last.node = NULL;
            err = brio_node_list(2, both, (brio_off[]){0, last_at}, &f->node);
        }
    }
    if (err) {
        brio_form_drop(f);
        brio_form_drop(&last);
    }
    return err;
}

static BRIO_ERR take_dim(struct brio_form *f, const struct dim *d, brio_off stride)
{
    brio_off k, first;
    switch (d->distrib) {
    case MPI_DISTRIBUTE_NONE:
        return take_range(f, 0, d->size, stride);
    case MPI_DISTRIBUTE_BLOCK:
        k = d->darg == MPI_DISTRIBUTE_DFLT_DARG ? (d->size + d->nprocs - 1) / d->nprocs
                                                : d->darg;
        first = brio_min(k * d->coord, d->size);
        return take_range(f, first, brio_min(k, d->size - first), stride);
    case MPI_DISTRIBUTE_CYCLIC:
        k = d->darg == MPI_DISTRIBUTE_DFLT_DARG ? 1 : d->darg;
        return take_cyclic(f, d, k, stride);
    default:
        return take_range(f, d->start, d->sub, stride);
    }
}

/* A distribution that stands for "from start, sub elements". */
enum {
    SUBARRAY = -1
};

/* dim[0] is the slowest if order is MPI_ORDER_C, the fastest otherwise. */
static BRIO_ERR take_all(struct brio_form *f, size_t ndims, const struct dim *dim, int order)
{
    brio_off stride = brio_form_extent(f);
    for (size_t i = 0; i < ndims; i++) {
        const struct dim *d = &dim[order == MPI_ORDER_C ? ndims - 1 - i : i];
        enum brio_err err = take_dim(f, d, stride);
        if (err)
            return err;
        if (!brio_mul(stride, d->size, &stride))
            return too_large(f);
    }
    brio_form_mark(f, 0, stride);
    return BRIO_OK;
}

static BRIO_ERR alloc_dims(struct brio_form *f, int ndims, struct dim **out)
{
    void *p;
    enum brio_err err = brio_calloc((size_t)ndims, sizeof **out, &p);
    if (err)
        brio_form_drop(f);
    else
        *out = p;
    return err;
}

BRIO_ERR brio_form_subarray(struct brio_form *f, struct brio_contents *c)
{
    int ndims = brio_contents_int(c);
    struct dim *dim;
    enum brio_err err = alloc_dims(f, ndims, &dim);
    if (err)
        return err;
    for (int i = 0; i < ndims; i++) {
        dim[i].distrib = SUBARRAY;
        dim[i].size = brio_contents_count(c);
    }
    for (int i = 0; i < ndims; i++)
        dim[i].sub = brio_contents_count(c);
    for (int i = 0; i < ndims; i++)
        dim[i].start = brio_contents_count(c);
    err = take_all(f, (size_t)ndims, dim, brio_contents_int(c));
    free(dim);
    return err;
}

BRIO_ERR brio_form_darray(struct brio_form *f, struct brio_contents *c)
{
    brio_contents_int(c); /* the number of processes: the product of the grid's sides */
    int rank = brio_contents_int(c);
    int ndims = brio_contents_int(c);
    struct dim *dim;
    enum brio_err err = alloc_dims(f, ndims, &dim);
    if (err)
        return err;
    for (int i = 0; i < ndims; i++)
        dim[i].size = brio_contents_count(c);
    for (int i = 0; i < ndims; i++)
        dim[i].distrib = brio_contents_int(c);
    for (int i = 0; i < ndims; i++)
        dim[i].darg = brio_contents_int(c);
    for (int i = 0; i < ndims; i++)
        dim[i].nprocs = brio_contents_int(c);
    /* The process grid is row-major whatever the order of the array. */
    for (int i = ndims - 1; i >= 0; i--) {
        dim[i].coord = rank % dim[i].nprocs;
        rank /= dim[i].nprocs;
    }
    err = take_all(f, (size_t)ndims, dim, brio_contents_int(c));
    free(dim);
    return err;
}
