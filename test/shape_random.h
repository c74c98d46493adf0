/* Random datatypes for tests, drawn from test_random(): every combiner, nested. */
#ifndef BRIO_TEST_SHAPE_RANDOM_H
#define BRIO_TEST_SHAPE_RANDOM_H

#include "check.h"
#include "shape.h"

struct shape_rules {
    struct shape *leaf; /* what everything is made of: the etype */
    int file;           /* rising offsets, no overlaps, holes of whole leaves */
    int64_t unit;       /* displacements in bytes are multiples of this */
    int64_t max_bytes;  /* of data, and of extent as well (times 16) */
};

/* lo .. hi */
static inline int shape_between(int lo, int hi)
{
    return lo + (int)test_below(hi - lo + 1);
}

static inline struct shape *shape_random_named(void)
{
    switch (test_below(12)) {
    case 0:
        return shape_named(MPI_CHAR, 1);
    case 1:
        return shape_named(MPI_SHORT, 2);
    case 2:
        return shape_named(MPI_INT, 4);
    case 3:
        return shape_named(MPI_FLOAT, 4);
    case 4:
        return shape_named(MPI_DOUBLE, 8);
    case 5:
        return shape_named(MPI_INT64_T, 8);
    case 6:
        return shape_pair(MPI_SHORT_INT, 2, 4, 4, 8);
    case 7:
        return shape_pair(MPI_DOUBLE_INT, 8, 8, 4, 16);
    case 8:
        return shape_pair(MPI_2INT, 4, 4, 4, 8);
    default:
        return shape_named(MPI_BYTE, 1);
    }
}

/* Displacements of n blocks: in a file each behind the one before, with gaps; in memory
 * anywhere. `unit` is what they are counted in, `e` the child's extent, both in bytes. */
static inline void shape_random_blocks(struct shape *s, const struct shape_rules *r, int bytes)
{
    const struct shape *c = s->child[0];
    int64_t e = shape_extent(c), unit = bytes ? r->unit : e, at = 0;
    if (unit == 0)
        unit = 1;
    s->n = shape_between(0, 4);
    s->len[0] = shape_between(0, 3);
    for (int i = 0; i < s->n; i++) {
        int one = s->comb == SHAPE_INDEXED_BLOCK || s->comb == SHAPE_HINDEXED_BLOCK;
        if (!one)
            s->len[i] = shape_between(0, 3);
        at += test_below(3);
        int64_t d = r->file ? at : shape_between(-8, 16);
        s->disp[i] = (int)d;
        s->adisp[i] = (MPI_Aint)(d * unit);
        at += ((one ? s->len[0] : s->len[i]) * e + unit - 1) / unit;
    }
}

static inline void shape_random_vector(struct shape *s, const struct shape_rules *r)
{
    int64_t e = shape_extent(s->child[0]);
    s->n = shape_between(0, 4);
    s->len[0] = shape_between(0, 3);
    s->stride = r->file ? s->len[0] + shape_between(0, 3) : shape_between(-5, 8);
    int64_t up = r->unit ? (s->stride * e + r->unit - 1) / r->unit : 0;
    s->adisp[0] = (MPI_Aint)((up + shape_between(0, 3)) * r->unit);
    if (!r->file && test_below(4) == 0)
        s->adisp[0] = -s->adisp[0];
}

static inline void shape_random_array(struct shape *s)
{
    s->n = shape_between(1, 3);
    s->order = test_below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    s->nprocs = 1;
    for (int d = 0; d < s->n; d++) {
        s->size[d] = shape_between(1, 5);
        s->sub[d] = shape_between(1, s->size[d]);
        s->start[d] = shape_between(0, s->size[d] - s->sub[d]);
        s->distrib[d] = test_below(2) ? MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_BLOCK;
        s->psize[d] = shape_between(1, 3);
        s->darg[d] = MPI_DISTRIBUTE_DFLT_DARG;
        if (test_below(4) == 0) {
            s->distrib[d] = MPI_DISTRIBUTE_NONE;
            s->psize[d] = 1;
        } else if (test_below(2)) {
            int least = (s->size[d] + s->psize[d] - 1) / s->psize[d];
            s->darg[d] = s->distrib[d] == MPI_DISTRIBUTE_CYCLIC ? shape_between(1, 3)
                                                                : shape_between(least, 5);
        }
        s->nprocs *= s->psize[d];
    }
    s->rank = shape_between(0, s->nprocs - 1);
}

static inline void shape_random_resized(struct shape *s, const struct shape_rules *r)
{
    const struct shape *c = s->child[0];
    int64_t lo, hi, unit = r->unit;
    shape_bounds(c, 1, &lo, &hi);
    int64_t least = (hi + unit - 1) / unit;
    if (r->file) {
        s->adisp[0] = (MPI_Aint)(test_below(4) ? 0 : shape_between(0, 3) * unit);
        s->extent = (MPI_Aint)((least + shape_between(0, 3)) * unit);
        if (test_below(4) == 0 && c->nbytes > 0 && c->off[0] >= unit) /* tiles grow together */
            s->extent = (MPI_Aint)((hi - c->off[0] + unit - 1) / unit * unit);
    } else {
        s->adisp[0] = (MPI_Aint)(shape_between(-4, 4) * unit);
        s->extent = (MPI_Aint)((least + shape_between(-2, 4)) * unit);
    }
}

static inline struct shape *shape_random(const struct shape_rules *r, int depth);

/* Members in any order; wrapped so that its extent does not depend on the MPI's alignment. */
static inline struct shape *shape_random_struct(const struct shape_rules *r, int depth)
{
    struct shape *s = shape_new(SHAPE_STRUCT, NULL);
    int64_t at = 0;
    s->n = s->nchild = shape_between(1, 3);
    for (int i = 0; i < s->n; i++) {
        struct shape *c = s->child[i] = shape_random(r, depth - 1);
        int64_t lo, hi;
        s->len[i] = shape_between(0, 3);
        shape_bounds(c, s->len[i], &lo, &hi);
        at += test_below(3);
        s->adisp[i] = (MPI_Aint)((r->file ? at : shape_between(-6, 20)) * r->unit);
        at += (hi + r->unit - 1) / r->unit;
    }
    shape_expand(s);
    struct shape *w = shape_new(SHAPE_RESIZED, s);
    shape_random_resized(w, r);
    return w;
}

static inline struct shape *shape_draw(const struct shape_rules *r, int depth)
{
    enum shape_comb comb = (enum shape_comb)shape_between(SHAPE_DUP, SHAPE_RESIZED);
    if (comb == SHAPE_STRUCT)
        return shape_random_struct(r, depth);
    struct shape *c = shape_random(r, depth - 1);
    if (c->nbytes == 0 && comb == SHAPE_DARRAY)
        comb = SHAPE_CONTIGUOUS; /* Open MPI 4.1.4 refuses it */
    struct shape *s = shape_new(comb, c);
    switch (comb) {
    case SHAPE_CONTIGUOUS:
        s->n = shape_between(0, 4);
        break;
    case SHAPE_VECTOR:
    case SHAPE_HVECTOR:
        shape_random_vector(s, r);
        break;
    case SHAPE_INDEXED:
    case SHAPE_INDEXED_BLOCK:
        shape_random_blocks(s, r, 0);
        break;
    case SHAPE_HINDEXED:
    case SHAPE_HINDEXED_BLOCK:
        shape_random_blocks(s, r, 1);
        break;
    case SHAPE_SUBARRAY:
    case SHAPE_DARRAY:
        shape_random_array(s);
        break;
    case SHAPE_RESIZED:
        shape_random_resized(s, r);
        break;
    default:
        break;
    }
    return s;
}

/* The natural bounds of a type with unaligned ends are the MPI's own affair (its "epsilon"),
 * and so are those of a type with empty blocks or falling offsets (Open MPI 4.1.4 errs
 * there). Such a type gets bounds of its own. */
static inline struct shape *shape_settle(struct shape *s)
{
    int empty = s->nbytes == 0, blocks = s->nchild == 1 ? s->n : 0;
    int one = s->comb == SHAPE_VECTOR || s->comb == SHAPE_HVECTOR ||
              s->comb == SHAPE_INDEXED_BLOCK || s->comb == SHAPE_HINDEXED_BLOCK;
    for (int i = 0; i < blocks && (s->comb == SHAPE_INDEXED || s->comb == SHAPE_HINDEXED); i++)
        empty |= s->len[i] == 0;
    empty |= one && (s->len[0] == 0 || s->stride < 0 || s->adisp[0] < 0);
    if (s->comb == SHAPE_RESIZED || (!empty && s->align <= 1) ||
        (!empty && s->lb % s->align == 0 && s->ub % s->align == 0))
        return s;
    struct shape *w = shape_new(SHAPE_RESIZED, s);
    w->adisp[0] = (MPI_Aint)s->lb;
    w->extent = (MPI_Aint)((shape_extent(s) + s->align - 1) / s->align * s->align);
    shape_expand(w);
    return w;
}

static inline int shape_allowed(const struct shape *s, const struct shape_rules *r)
{
    return s->nbytes <= r->max_bytes && shape_extent(s) <= 16 * r->max_bytes &&
           shape_extent(s) >= 0 && (!r->file || shape_is_filetype(s));
}

static inline struct shape *shape_random(const struct shape_rules *r, int depth)
{
    for (int try = 0; depth > 0 && try < 4; try++) {
        struct shape *s = shape_draw(r, depth);
        shape_expand(s);
        s = shape_settle(s);
        if (shape_allowed(s, r))
            return s;
        shape_unref(s);
    }
    return shape_ref(r->leaf);
}

#endif
