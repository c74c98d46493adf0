/* Datatypes for tests, as a tree that says it twice: it builds the MPI datatype and it
 * expands itself, by naive code that shares nothing with Brio, to the plain list of byte
 * offsets that the MPI standard's typemap gives. Random trees are made in shape_random.h. */
#ifndef BRIO_TEST_SHAPE_H
#define BRIO_TEST_SHAPE_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum shape_comb {
    SHAPE_NAMED,
    SHAPE_DUP,
    SHAPE_CONTIGUOUS,
    SHAPE_VECTOR,
    SHAPE_HVECTOR,
    SHAPE_INDEXED,
    SHAPE_HINDEXED,
    SHAPE_INDEXED_BLOCK,
    SHAPE_HINDEXED_BLOCK,
    SHAPE_STRUCT,
    SHAPE_SUBARRAY,
    SHAPE_DARRAY,
    SHAPE_RESIZED
};

enum {
    SHAPE_MAX = 8
}; /* blocks of one constructor, dimensions of one array */

struct shape {
    enum shape_comb comb;
    int refs;
    int n;      /* count, blocks or dimensions */
    int nchild; /* 1, or n for a struct, or 0 for a named type */
    struct shape *child[SHAPE_MAX];
    int len[SHAPE_MAX];        /* block lengths; len[0] where there is one */
    int disp[SHAPE_MAX];       /* in extents of the child */
    MPI_Aint adisp[SHAPE_MAX]; /* in bytes; [0] is a stride, or a lower bound (resized) */
    MPI_Aint extent;           /* resized */
    int stride;                /* in extents of the child */
    int size[SHAPE_MAX], sub[SHAPE_MAX], start[SHAPE_MAX], order;            /* arrays */
    int distrib[SHAPE_MAX], darg[SHAPE_MAX], psize[SHAPE_MAX], rank, nprocs; /* darray */

    /* What it comes to. */
    int64_t nbytes;
    int64_t *off;         /* of every data byte, in typemap order */
    unsigned char *begin; /* 1: this byte begins a basic element */
    int64_t lb, ub;
    int marked;        /* lb and ub were set by the user (resized, arrays) */
    int align;         /* of its elements */
    int pairs;         /* a pair type is in it */
    int complex;       /* more than contiguous, vector and indexed is in it */
    MPI_Datatype type; /* MPI_DATATYPE_NULL until built */
};

static inline int64_t shape_extent(const struct shape *s)
{
    return s->ub - s->lb;
}

static inline struct shape *shape_new(enum shape_comb comb, struct shape *child)
{
    struct shape *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->comb = comb;
    s->refs = 1;
    s->type = MPI_DATATYPE_NULL;
    s->nchild = child ? 1 : 0;
    s->child[0] = child; /* takes over the caller's reference */
    return s;
}

static inline struct shape *shape_ref(struct shape *s)
{
    s->refs++;
    return s;
}

static inline void shape_unref(struct shape *s)
{
    if (!s || --s->refs > 0)
        return;
    if (s->type != MPI_DATATYPE_NULL && s->comb != SHAPE_NAMED)
        MPI_Type_free(&s->type);
    for (int i = 0; i < s->nchild; i++)
        shape_unref(s->child[i]);
    free(s->off);
    free(s->begin);
    free(s);
}

/* ---- Expansion ------------------------------------------------------------------------ */

static inline void shape_emit(struct shape *s, int64_t off, int begin)
{
    if ((s->nbytes & (s->nbytes - 1)) == 0) {
        size_t cap = s->nbytes ? (size_t)s->nbytes * 2 : 1;
        s->off = realloc(s->off, cap * sizeof *s->off);
        s->begin = realloc(s->begin, cap);
        if (!s->off || !s->begin)
            abort();
    }
    s->off[s->nbytes] = off;
    s->begin[s->nbytes++] = (unsigned char)begin;
}

static inline void shape_bound(struct shape *s, int64_t lb, int64_t ub, int *first)
{
    if (*first || lb < s->lb)
        s->lb = lb;
    if (*first || ub > s->ub)
        s->ub = ub;
    *first = 0;
}

/* `len` copies of c side by side, the first at `at`. */
static inline void shape_place(struct shape *s, const struct shape *c, int64_t at, int len,
                               int *first)
{
    for (int k = 0; k < len; k++) {
        int64_t base = at + k * shape_extent(c);
        for (int64_t b = 0; b < c->nbytes; b++)
            shape_emit(s, base + c->off[b], c->begin[b]);
        if (c->marked == s->marked)
            shape_bound(s, base + c->lb, base + c->ub, first);
    }
}

/* Explicit bounds win over natural ones, as MPI says of the lb and ub markers. */
static inline void shape_inherit(struct shape *s)
{
    s->align = 1;
    s->complex =
        s->comb != SHAPE_CONTIGUOUS && s->comb != SHAPE_VECTOR && s->comb != SHAPE_INDEXED;
    for (int i = 0; i < s->nchild; i++) {
        int used = s->comb != SHAPE_STRUCT || s->len[i] > 0;
        s->marked |= used && s->child[i]->marked;
        s->pairs |= s->child[i]->pairs;
        s->complex |= s->child[i]->complex;
        if (s->child[i]->align > s->align)
            s->align = s->child[i]->align;
    }
}

static inline void shape_expand_blocks(struct shape *s)
{
    const struct shape *c = s->child[0];
    int64_t e = shape_extent(c);
    int first = 1;
    switch (s->comb) {
    case SHAPE_CONTIGUOUS:
        shape_place(s, c, 0, s->n, &first);
        break;
    case SHAPE_VECTOR:
    case SHAPE_HVECTOR:
        for (int i = 0; i < s->n; i++)
            shape_place(s, c, i * (s->comb == SHAPE_VECTOR ? s->stride * e : s->adisp[0]),
                        s->len[0], &first);
        break;
    default:
        for (int i = 0; i < s->n; i++) {
            int bytes = s->comb == SHAPE_HINDEXED || s->comb == SHAPE_HINDEXED_BLOCK ||
                        s->comb == SHAPE_STRUCT;
            int one = s->comb == SHAPE_INDEXED_BLOCK || s->comb == SHAPE_HINDEXED_BLOCK;
            shape_place(s, s->comb == SHAPE_STRUCT ? s->child[i] : c,
                        bytes ? s->adisp[i] : s->disp[i] * e, one ? s->len[0] : s->len[i],
                        &first);
        }
    }
}

/* Does global index `i` of dimension d belong to process coordinate `p`? */
static inline int shape_owns(const struct shape *s, int d, int p, int i)
{
    int block = s->darg[d];
    if (s->distrib[d] == MPI_DISTRIBUTE_NONE)
        return 1;
    if (block == MPI_DISTRIBUTE_DFLT_DARG)
        block = s->distrib[d] == MPI_DISTRIBUTE_CYCLIC
                    ? 1
                    : (s->size[d] + s->psize[d] - 1) / s->psize[d];
    return s->distrib[d] == MPI_DISTRIBUTE_CYCLIC ? i / block % s->psize[d] == p
                                                  : i / block == p;
}

/* Every element of the whole array in file order; those inside are emitted. */
static inline void shape_expand_array(struct shape *s)
{
    const struct shape *c = s->child[0];
    int64_t total = 1, e = shape_extent(c);
    int coord[SHAPE_MAX], rest = s->rank;
    for (int d = s->n - 1; d >= 0; d--) {
        total *= s->size[d];
        if (s->comb == SHAPE_DARRAY) {
            coord[d] = rest % s->psize[d]; /* the process grid is always row-major */
            rest /= s->psize[d];
        }
    }
    for (int64_t k = 0; k < total; k++) {
        int64_t left = k;
        int inside = 1;
        for (int j = s->n - 1; j >= 0; j--) {
            int d = s->order == MPI_ORDER_C ? j : s->n - 1 - j;
            int i = (int)(left % s->size[d]);
            left /= s->size[d];
            if (s->comb == SHAPE_DARRAY)
                inside = inside && shape_owns(s, d, coord[d], i);
            else
                inside = inside && i >= s->start[d] && i < s->start[d] + s->sub[d];
        }
        if (inside)
            for (int64_t b = 0; b < c->nbytes; b++)
                shape_emit(s, k * e + c->off[b], c->begin[b]);
    }
    s->lb = 0;
    s->ub = total * e;
    s->marked = 1;
}

static inline void shape_expand(struct shape *s)
{
    shape_inherit(s);
    if (s->comb == SHAPE_SUBARRAY || s->comb == SHAPE_DARRAY) {
        shape_expand_array(s);
    } else if (s->comb == SHAPE_RESIZED || s->comb == SHAPE_DUP) {
        int first = 1;
        shape_place(s, s->child[0], 0, 1, &first);
        if (s->comb == SHAPE_RESIZED) {
            s->lb = s->adisp[0];
            s->ub = s->lb + s->extent;
            s->marked = 1;
        }
    } else {
        shape_expand_blocks(s);
    }
}

/* ---- Named types ---------------------------------------------------------------------- */

/* Two members at most: pair types have a hole. */
static inline struct shape *shape_pair(MPI_Datatype type, int size, int at2, int size2,
                                       int extent)
{
    struct shape *s = shape_new(SHAPE_NAMED, NULL);
    s->type = type;
    for (int b = 0; b < size; b++)
        shape_emit(s, b, b == 0);
    for (int b = 0; b < size2; b++)
        shape_emit(s, at2 + b, b == 0);
    s->ub = extent;
    s->align = size2 > size ? size2 : size;
    s->pairs = size2 > 0;
    return s;
}

static inline struct shape *shape_named(MPI_Datatype type, int size)
{
    return shape_pair(type, size, 0, 0, size);
}

/* ---- Building the MPI datatype -------------------------------------------------------- */

static inline void shape_build(struct shape *s)
{
    if (s->type != MPI_DATATYPE_NULL)
        return;
    MPI_Datatype old = MPI_DATATYPE_NULL, all[SHAPE_MAX];
    for (int i = 0; i < s->nchild; i++) {
        shape_build(s->child[i]);
        all[i] = s->child[i]->type;
    }
    old = all[0];
    switch (s->comb) {
    case SHAPE_NAMED:
        return;
    case SHAPE_DUP:
        MPI_Type_dup(old, &s->type);
        break;
    case SHAPE_CONTIGUOUS:
        MPI_Type_contiguous(s->n, old, &s->type);
        break;
    case SHAPE_VECTOR:
        MPI_Type_vector(s->n, s->len[0], s->stride, old, &s->type);
        break;
    case SHAPE_HVECTOR:
        MPI_Type_create_hvector(s->n, s->len[0], s->adisp[0], old, &s->type);
        break;
    case SHAPE_INDEXED:
        MPI_Type_indexed(s->n, s->len, s->disp, old, &s->type);
        break;
    case SHAPE_HINDEXED:
        MPI_Type_create_hindexed(s->n, s->len, s->adisp, old, &s->type);
        break;
    case SHAPE_INDEXED_BLOCK:
        MPI_Type_create_indexed_block(s->n, s->len[0], s->disp, old, &s->type);
        break;
    case SHAPE_HINDEXED_BLOCK:
        MPI_Type_create_hindexed_block(s->n, s->len[0], s->adisp, old, &s->type);
        break;
    case SHAPE_STRUCT:
        MPI_Type_create_struct(s->n, s->len, s->adisp, all, &s->type);
        break;
    case SHAPE_SUBARRAY:
        MPI_Type_create_subarray(s->n, s->size, s->sub, s->start, s->order, old, &s->type);
        break;
    case SHAPE_DARRAY:
        MPI_Type_create_darray(s->nprocs, s->rank, s->n, s->size, s->distrib, s->darg, s->psize,
                               s->order, old, &s->type);
        break;
    case SHAPE_RESIZED:
        MPI_Type_create_resized(old, s->adisp[0], s->extent, &s->type);
        break;
    }
    MPI_Type_commit(&s->type);
}

/* ---- Questions ------------------------------------------------------------------------ */

/* First byte touched by `count` items, and one past the last; 0, 0 if none. */
static inline void shape_bounds(const struct shape *s, int64_t count, int64_t *lo, int64_t *hi)
{
    *lo = *hi = 0;
    for (int64_t i = 0, any = 0; i < count; i++)
        for (int64_t b = 0; b < s->nbytes; b++) {
            int64_t at = i * shape_extent(s) + s->off[b];
            if (!any || at < *lo)
                *lo = at;
            if (!any || at >= *hi)
                *hi = at + 1;
            any = 1;
        }
}

/* Does any byte come twice in `count` items? */
static inline int shape_overlaps(const struct shape *s, int64_t count)
{
    int64_t lo, hi;
    int twice = 0;
    shape_bounds(s, count, &lo, &hi);
    unsigned char *seen = calloc(1, (size_t)(hi - lo) + 1);
    if (!seen)
        abort();
    for (int64_t i = 0; i < count; i++)
        for (int64_t b = 0; b < s->nbytes; b++)
            twice |= seen[i * shape_extent(s) + s->off[b] - lo]++;
    free(seen);
    return twice != 0;
}

/* May it be a filetype, also of a file opened for writing? Offsets rise, from tile to tile
 * too. */
static inline int shape_is_filetype(const struct shape *s)
{
    for (int64_t b = 0; b < s->nbytes; b++)
        if (s->off[b] < 0 || (b > 0 && s->off[b] <= s->off[b - 1]))
            return 0;
    return s->nbytes == 0 ? shape_extent(s) >= 0
                          : shape_extent(s) > s->off[s->nbytes - 1] - s->off[0];
}

/* ---- Text ----------------------------------------------------------------------------- */

static inline void shape_print_list(FILE *out, const char *name, int n, const int *v)
{
    fprintf(out, " %s", name);
    for (int i = 0; i < n; i++)
        fprintf(out, "%c%d", i ? ',' : '=', v[i]);
}

static inline void shape_print(FILE *out, const struct shape *s)
{
    static const char *const names[] = {
        "named",    "dup",      "contiguous",    "vector",         "hvector",
        "indexed",  "hindexed", "indexed_block", "hindexed_block", "struct",
        "subarray", "darray",   "resized"};
    fprintf(out, "%s(", names[s->comb]);
    if (s->comb == SHAPE_NAMED)
        fprintf(out, "%lld of %lld bytes", (long long)s->nbytes, (long long)s->ub);
    else if (s->comb == SHAPE_SUBARRAY || s->comb == SHAPE_DARRAY) {
        fprintf(out, "%s", s->order == MPI_ORDER_C ? "C" : "F");
        shape_print_list(out, "size", s->n, s->size);
        if (s->comb == SHAPE_SUBARRAY) {
            shape_print_list(out, "sub", s->n, s->sub);
            shape_print_list(out, "start", s->n, s->start);
        } else {
            shape_print_list(out, "distrib", s->n, s->distrib);
            shape_print_list(out, "darg", s->n, s->darg);
            shape_print_list(out, "psize", s->n, s->psize);
            fprintf(out, " rank=%d", s->rank);
        }
    } else if (s->comb == SHAPE_RESIZED)
        fprintf(out, "lb=%lld extent=%lld", (long long)s->adisp[0], (long long)s->extent);
    else if (s->comb != SHAPE_DUP) {
        fprintf(out, "n=%d stride=%d", s->n, s->stride);
        shape_print_list(out, "len", s->n ? s->n : 1, s->len);
        shape_print_list(out, "disp", s->n, s->disp);
        for (int i = 0; i < s->n; i++)
            fprintf(out, " %lld", (long long)s->adisp[i]);
    }
    for (int i = 0; i < s->nchild; i++) {
        fprintf(out, ", ");
        shape_print(out, s->child[i]);
    }
    fprintf(out, ")");
}

#endif
