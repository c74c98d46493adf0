/* What all ranks access in one collective call, drawn from one seed by all of them alike, so
 * that each knows the whole truth: views of the kinds that programs have, uneven counts,
 * ranks with nothing, and the next call as a variation of the last. */
#ifndef BRIO_TEST_COLL_SCENE_H
#define BRIO_TEST_COLL_SCENE_H

#include "oracle.h"
#include "shape_random.h"

enum {
    SCENE_RANKS = 64,
    SCENE_CAP = 1 << 20, /* no access ends beyond this */
    SCENE_GUARD = 32     /* bytes around a buffer that must stay as they are */
};

enum layout {
    CYCLIC,    /* uneven blocks in turn, some with holes behind them */
    TILES,     /* a 2-D or 3-D array cut into boxes, some with a border */
    DARRAY,    /* an array dealt out by block and cyclic(k) */
    IRREGULAR, /* pieces of a tile dealt out at random, some to nobody */
    MIXED,     /* large pieces on some ranks, small ones on others */
    ANYTHING,  /* a random type on each rank, ranks far apart */
    OVERLAP    /* all ranks over the same bytes: reads only */
};

struct scene_part {
    struct oracle_view view;
    struct oracle_access a;
    struct shape *mem;
    unsigned char *block; /* the buffer with its guards */
    int64_t block_len;
    uint64_t fill; /* what the buffer is filled from */
};

struct scene {
    enum layout layout;
    int64_t most; /* bytes of a rank in one call */
    struct shape *etype;
    struct scene_part part[SCENE_RANKS];
};

static inline uint64_t scene_mix(uint64_t a, uint64_t b)
{
    uint64_t z = a * 0x9e3779b97f4a7c15u + b + 1;
    z = (z ^ (z >> 31)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 29);
}

/* ---- Views ------------------------------------------------------------------------------ */

static inline struct shape *scene_tile(struct shape *s, int64_t extent)
{
    shape_expand(s);
    struct shape *w = shape_new(SHAPE_RESIZED, s);
    w->extent = (MPI_Aint)extent;
    shape_expand(w);
    return w;
}

/* Blocks of width[r] etypes in turn, `gap` etypes of nobody at the end of each turn. */
static inline void scene_cyclic(struct scene *s, const int *width, int nblocks, int gap)
{
    int64_t e = s->etype->nbytes;
    int turn = gap, at = 0;
    for (int r = 0; r < test_nranks; r++)
        turn += width[r];
    for (int r = 0; r < test_nranks; r++) {
        struct shape *v = shape_new(SHAPE_VECTOR, shape_ref(s->etype));
        v->n = nblocks;
        v->len[0] = width[r];
        v->stride = turn;
        s->part[r].view.filetype = scene_tile(v, nblocks * turn * e);
        s->part[r].view.disp += at * e;
        at += width[r];
    }
}

static inline void scene_draw_cyclic(struct scene *s)
{
    int width[SCENE_RANKS], even = (int)test_below(2), all = shape_between(1, 40);
    for (int r = 0; r < test_nranks; r++) {
        width[r] = even ? all : shape_between(1, 40);
        if (s->layout == MIXED)
            width[r] = test_below(2) ? shape_between(1, 9) : shape_between(30000, 40000);
    }
    int nblocks = s->layout == MIXED ? 2 : shape_between(1, 30);
    scene_cyclic(s, width, nblocks, test_below(2) ? 0 : shape_between(1, 60));
}

/* n rising cuts of 0 .. *size: at[0] .. at[n], each part at least one wide. */
static inline void scene_cuts(int n, int *at, int *size)
{
    at[0] = (int)test_below(3);
    for (int i = 0; i < n; i++)
        at[i + 1] = at[i] + shape_between(1, 1 + 24 / n);
    *size = at[n] + (int)test_below(3);
}

static inline void scene_draw_tiles(struct scene *s)
{
    int n = shape_between(2, 3), grid[3] = {0}, cut[3][SCENE_RANKS + 1], size[3];
    int order = test_below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Dims_create(test_nranks, n, grid);
    for (int d = 0; d < n; d++)
        scene_cuts(grid[d], cut[d], &size[d]);
    for (int r = 0; r < test_nranks; r++) {
        struct shape *t = shape_new(SHAPE_SUBARRAY, shape_ref(s->etype));
        t->n = n;
        t->order = order;
        for (int d = n - 1, rest = r; d >= 0; d--) {
            int i = rest % grid[d];
            rest /= grid[d];
            t->size[d] = size[d];
            t->start[d] = cut[d][i];
            t->sub[d] = cut[d][i + 1] - cut[d][i];
        }
        shape_expand(t);
        s->part[r].view.filetype = t;
    }
}

static inline void scene_draw_darray(struct scene *s)
{
    struct shape like = {.n = shape_between(2, 3)};
    int grid[3] = {0};
    MPI_Dims_create(test_nranks, like.n, grid);
    for (int d = 0; d < like.n; d++) {
        like.size[d] = shape_between(1, 20);
        like.psize[d] = grid[d];
        like.distrib[d] = test_below(3) ? MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_BLOCK;
        like.darg[d] = MPI_DISTRIBUTE_DFLT_DARG;
        if (like.distrib[d] == MPI_DISTRIBUTE_CYCLIC && test_below(2))
            like.darg[d] = shape_between(1, 5);
    }
    like.order = test_below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int r = 0; r < test_nranks; r++) {
        struct shape *t = shape_new(SHAPE_DARRAY, shape_ref(s->etype));
        t->n = like.n;
        t->order = like.order;
        t->nprocs = test_nranks;
        t->rank = r;
        memcpy(t->size, like.size, sizeof like.size);
        memcpy(t->psize, like.psize, sizeof like.psize);
        memcpy(t->distrib, like.distrib, sizeof like.distrib);
        memcpy(t->darg, like.darg, sizeof like.darg);
        shape_expand(t);
        s->part[r].view.filetype = t;
    }
}

static inline void scene_draw_irregular(struct scene *s)
{
    int64_t e = s->etype->nbytes, at = 0;
    struct shape *t[SCENE_RANKS];
    for (int r = 0; r < test_nranks; r++)
        t[r] = shape_new(SHAPE_INDEXED, shape_ref(s->etype));
    for (int i = 0; i < 6 * test_nranks; i++) {
        int r = (int)test_below(test_nranks + 1), len = shape_between(1, 12);
        if (r < test_nranks && t[r]->n < SHAPE_MAX) {
            t[r]->disp[t[r]->n] = (int)at;
            t[r]->len[t[r]->n++] = len;
        }
        at += len;
    }
    for (int r = 0; r < test_nranks; r++)
        s->part[r].view.filetype = scene_tile(t[r], at * e);
}

static inline struct shape *scene_random_type(const struct scene *s)
{
    struct shape_rules rules = {s->etype, 1, s->etype->nbytes, 1500};
    return shape_random(&rules, shape_between(1, 3));
}

static inline void scene_draw_random(struct scene *s)
{
    struct shape *common = scene_random_type(s);
    int apart = s->layout == ANYTHING;
    for (int r = 0; r < test_nranks; r++) {
        s->part[r].view.filetype =
            !apart && test_below(2) ? shape_ref(common) : scene_random_type(s);
        if (apart)
            s->part[r].view.disp += r * (SCENE_CAP / 2 / test_nranks);
    }
    shape_unref(common);
}

static inline void scene_draw_views(struct scene *s)
{
    int64_t disp = test_below(2) ? 0 : test_below(5000);
    for (int r = 0; r < test_nranks; r++)
        s->part[r].view.disp = disp;
    if (s->layout == CYCLIC || s->layout == MIXED)
        scene_draw_cyclic(s);
    else if (s->layout == TILES)
        scene_draw_tiles(s);
    else if (s->layout == DARRAY)
        scene_draw_darray(s);
    else if (s->layout == IRREGULAR)
        scene_draw_irregular(s);
    else
        scene_draw_random(s);
    for (int r = 0; r < test_nranks; r++)
        s->part[r].view.etype = s->etype;
}

/* ---- Accesses --------------------------------------------------------------------------- */

/* Memory for about `target` bytes: side by side, or with gaps. */
static inline void scene_draw_memory(struct scene *s, struct scene_part *p, int64_t target)
{
    shape_unref(p->mem);
    if (test_below(2)) {
        p->mem = shape_ref(s->etype);
    } else {
        p->mem = shape_new(SHAPE_VECTOR, shape_ref(s->etype));
        p->mem->n = shape_between(1, 4);
        p->mem->len[0] = shape_between(1, 5);
        p->mem->stride = p->mem->len[0] + shape_between(0, 3);
        shape_expand(p->mem);
    }
    p->a.mem = p->mem;
    p->a.count = p->view.filetype->nbytes ? target / p->mem->nbytes : 0;
}

/* A part that cannot be accessed is not. */
static inline void scene_fit(struct scene_part *p)
{
    if (p->view.filetype->nbytes == 0 || oracle_end(&p->a) > SCENE_CAP)
        p->a.count = 0;
}

static inline void scene_draw_part(struct scene *s, int r)
{
    struct scene_part *p = &s->part[r];
    int64_t tile = p->view.filetype->nbytes;
    p->a.view = &p->view;
    int64_t target = test_below(8) ? test_below(s->most + 1) : 0;
    if (test_below(3) == 0 && tile <= s->most)
        target = tile; /* just one tile */
    scene_draw_memory(s, p, target);
    p->a.off = test_below(2) ? 0 : test_below(tile / s->etype->nbytes + 30);
    p->fill = test_random();
    scene_fit(p);
}

static inline void scene_draw(struct scene *s, enum layout layout, int64_t most)
{
    static const int sizes[] = {1, 2, 4, 8};
    MPI_Datatype types[] = {MPI_BYTE, MPI_SHORT, MPI_FLOAT, MPI_DOUBLE};
    int k = (int)test_below(4);
    memset(s, 0, sizeof *s);
    s->layout = layout;
    s->most = most;
    s->etype = shape_named(types[k], sizes[k]);
    scene_draw_views(s);
    for (int r = 0; r < test_nranks; r++)
        scene_draw_part(s, r);
}

/* The next access: the same, all ranks some tiles further, other counts on some ranks, or
 * something else. */
static inline void scene_vary(struct scene *s)
{
    int how = (int)test_below(4), tiles = (int)test_below(4);
    for (int r = 0; r < test_nranks; r++) {
        struct scene_part *p = &s->part[r];
        p->fill = test_random();
        if (how == 1)
            p->a.off += tiles * (p->view.filetype->nbytes / s->etype->nbytes);
        else if (how == 2 && test_below(2))
            p->a.count = test_below(p->a.count + 2);
        else if (how == 3)
            scene_draw_part(s, r);
        scene_fit(p);
    }
}

/* In a write no two ranks may touch one byte: who comes second writes nothing. */
static inline void scene_separate(struct scene *s)
{
    unsigned char *taken = calloc(1, SCENE_CAP);
    if (!taken)
        abort();
    for (int r = 0; r < test_nranks; r++) {
        struct oracle_access *a = &s->part[r].a;
        int clash = 0;
        for (int64_t i = 0; i < oracle_bytes(a); i++)
            clash |= taken[oracle_file_offset(a, i)];
        if (clash)
            a->count = 0;
        for (int64_t i = 0; i < oracle_bytes(a); i++)
            taken[oracle_file_offset(a, i)] = 1;
    }
    free(taken);
}

/* ---- Buffers ---------------------------------------------------------------------------- */

static inline void scene_fill(struct scene_part *p)
{
    int64_t lo, hi;
    shape_bounds(p->mem, p->a.count, &lo, &hi);
    p->block_len = hi + 2 * SCENE_GUARD;
    p->block = malloc((size_t)p->block_len);
    if (!p->block)
        abort();
    for (int64_t i = 0; i < p->block_len; i++)
        p->block[i] = (unsigned char)scene_mix(p->fill, (uint64_t)i);
    p->a.origin = p->block + SCENE_GUARD;
}

/* A copy with a buffer of its own, filled alike. The view stays that of the original. */
static inline struct scene_part scene_twin(const struct scene_part *p)
{
    struct scene_part t = *p;
    scene_fill(&t);
    return t;
}

static inline void scene_clear(struct scene *s)
{
    for (int r = 0; r < test_nranks; r++) {
        shape_unref(s->part[r].mem);
        shape_unref(s->part[r].view.filetype);
    }
    shape_unref(s->etype);
}

#endif
