/* A heap of the patterns' next runs. Where the earliest ones have one stride, the union of
 * one period is found and stands for as many periods as they have in common. */
#include "type/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "type/node.h"

/* A pattern and its next run; left is what has not been looked at, without the run. */
struct source {
    struct brio_cursor cursor;
    struct brio_run run;
    brio_off left;
};

struct piece {
    brio_off lo, hi;
};

struct merge {
    struct source *source;
    struct source **heap; /* by run.off */
    size_t nheap;
    struct source **group; /* those of one period */
    struct piece *period;
    brio_off budget;
    brio_off end; /* of the union so far */
    /* The union so far: whole nodes, and behind them plain pieces in the making. */
    struct brio_node **node;
    brio_off *at;
    size_t nnode, node_room;
    brio_off *off, *len;
    size_t npiece, piece_room;
};

static BRIO_ERR grow(void **array, size_t *room, size_t need, size_t size)
{
    if (need <= *room)
        return BRIO_OK;
    size_t more = *room ? 2 * *room : 64;
    void *p = realloc(*array, more * size);
    if (!p)
        return brio_fail(BRIO_ENOMEM, "no memory for a union of %zu pieces", more);
    *array = p;
    *room = more;
    return BRIO_OK;
}

/* ---- Output -------------------------------------------------------------------------- */

static BRIO_ERR add_node(struct merge *m, brio_off at, struct brio_node *node)
{
    size_t room = m->node_room;
    enum brio_err err = grow((void **)&m->at, &room, m->nnode + 1, sizeof *m->at);
    if (!err)
        err = grow((void **)&m->node, &m->node_room, m->nnode + 1, sizeof *m->node);
    if (err) {
        brio_node_unref(node);
        return err;
    }
    m->at[m->nnode] = at;
    m->node[m->nnode++] = node;
    return BRIO_OK;
}

static BRIO_ERR flush_pieces(struct merge *m)
{
    struct brio_node *byte, *node;
    if (m->npiece == 0)
        return BRIO_OK;
    enum brio_err err = brio_node_bytes(1, 0, &byte);
    if (!err)
        err = brio_node_blocks(byte, 1, m->npiece, m->len, m->off, &node);
    m->npiece = 0;
    return err ? err : add_node(m, 0, node);
}

/* A plain piece; joined to the one before if they touch or overlap. */
static BRIO_ERR add_piece(struct merge *m, brio_off lo, brio_off hi)
{
    size_t room = m->piece_room;
    if (m->npiece > 0 && lo <= m->end) {
        m->len[m->npiece - 1] += brio_max(0, hi - m->end);
        m->end = brio_max(m->end, hi);
        return BRIO_OK;
    }
    enum brio_err err = grow((void **)&m->off, &room, m->npiece + 1, sizeof *m->off);
    if (!err)
        err = grow((void **)&m->len, &m->piece_room, m->npiece + 1, sizeof *m->len);
    if (err)
        return err;
    m->off[m->npiece] = lo;
    m->len[m->npiece++] = hi - lo;
    m->end = hi;
    return BRIO_OK;
}

/* ---- The heap ------------------------------------------------------------------------ */

static void sift(struct merge *m, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < m->nheap; child++)
            if (m->heap[child]->run.off < m->heap[least]->run.off)
                least = child;
        if (least == i)
            return;
        struct source *s = m->heap[i];
        m->heap[i] = m->heap[least];
        m->heap[least] = s;
        i = least;
    }
}

static struct source *pop(struct merge *m)
{
    struct source *s = m->heap[0];
    m->heap[0] = m->heap[--m->nheap];
    sift(m, 0);
    return s;
}

static void push(struct merge *m, struct source *s)
{
    size_t i = m->nheap++;
    while (i > 0 && m->heap[(i - 1) / 2]->run.off > s->run.off) {
        m->heap[i] = m->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    m->heap[i] = s;
}

/* Passes `count` pieces of the source's run; back into the heap if it has more. */
static void pass(struct merge *m, struct source *s, brio_off count)
{
    s->run.count -= count;
    s->run.off += count * s->run.stride;
    if (s->run.count == 0) {
        if (s->left == 0)
            return;
        brio_cursor_next(&s->cursor, s->left, &s->run);
        s->left -= s->run.len * s->run.count;
    }
    push(m, s);
}

/* ---- Periods ------------------------------------------------------------------------- */

/* Periods that a source takes part in for certain: what comes after its run may begin within
 * the last one. */
static brio_off whole_periods(const struct source *s)
{
    return s->left > 0 ? s->run.count - 1 : s->run.count;
}

/* Takes those off the heap whose runs begin within the first one's period. Returns how many
 * periods they share; less than 2: look at single pieces. */
static brio_off gather(struct merge *m, size_t *ngroup)
{
    const struct brio_run *first = &m->heap[0]->run;
    brio_off start = first->off, stride = first->stride, periods = BRIO_OFF_MAX;
    size_t n = 0;
    do {
        struct source *s = pop(m);
        m->group[n++] = s;
        if (s->run.stride != stride || s->run.off + s->run.len > start + stride)
            periods = 0;
        periods = brio_min(periods, whole_periods(s));
    } while (m->nheap > 0 && periods > 1 && m->heap[0]->run.off < start + stride);
    if (m->nheap > 0 && periods > 1)
        periods = brio_min(periods, (m->heap[0]->run.off - start) / stride);
    *ngroup = n;
    return periods;
}

/* The union of the group's first pieces, which come in order. The number of its pieces. */
static size_t unite(struct merge *m, size_t ngroup)
{
    size_t n = 0;
    for (size_t i = 0; i < ngroup; i++) {
        const struct brio_run *run = &m->group[i]->run;
        if (n > 0 && run->off <= m->period[n - 1].hi)
            m->period[n - 1].hi = brio_max(m->period[n - 1].hi, run->off + run->len);
        else
            m->period[n++] = (struct piece){run->off, run->off + run->len};
    }
    return n;
}

/* `periods` copies of the united period, `stride` apart. */
static BRIO_ERR add_periods(struct merge *m, size_t npiece, brio_off periods, brio_off stride)
{
    const struct piece *p = m->period;
    if (npiece == 1 && p->hi - p->lo == stride)
        return add_piece(m, p->lo, p->lo + periods * stride);
    /* What touches the pieces before must be joined with them: the first period goes alone. */
    for (size_t i = 0; i < npiece; i++) {
        enum brio_err err = add_piece(m, p[i].lo, p[i].hi);
        if (err)
            return err;
    }
    if (--periods == 0)
        return BRIO_OK;
    enum brio_err err = flush_pieces(m);
    struct brio_node *byte, *one, *all;
    brio_off *off = NULL, *len;
    if (!err)
        err = brio_calloc(2 * npiece, sizeof *off, (void **)&off);
    if (!err)
        err = brio_node_bytes(1, 0, &byte);
    if (err) {
        free(off);
        return err;
    }
    len = off + npiece;
    for (size_t i = 0; i < npiece; i++) {
        off[i] = p[i].lo + stride;
        len[i] = p[i].hi - p[i].lo;
    }
    m->end = p[npiece - 1].hi + periods * stride;
    err = brio_node_blocks(byte, 1, npiece, len, off, &one);
    free(off);
    if (!err)
        err = brio_node_loop(one, periods, stride, &all);
    return err ? err : add_node(m, 0, all);
}

/* One step: several periods, or one piece. */
static BRIO_ERR step(struct merge *m)
{
    size_t ngroup;
    enum brio_err err = BRIO_OK;
    const struct brio_run *first = &m->heap[0]->run;
    brio_off stride = first->stride;
    if (first->count < 2) {
        struct source *s = pop(m);
        err = add_piece(m, s->run.off, s->run.off + s->run.len);
        pass(m, s, 1);
        return err;
    }
    brio_off periods = gather(m, &ngroup);
    if (periods < 2) {
        struct source *s = m->group[0];
        for (size_t i = 1; i < ngroup; i++)
            push(m, m->group[i]);
        err = add_piece(m, s->run.off, s->run.off + s->run.len);
        pass(m, s, 1);
        return err;
    }
    /* Periods that lie within what is united already add nothing. */
    brio_off inside = (m->end - m->group[0]->run.off) / stride;
    if (inside > 0)
        periods = brio_min(periods, inside);
    else
        err = add_periods(m, unite(m, ngroup), periods, stride);
    for (size_t i = 0; i < ngroup; i++)
        pass(m, m->group[i], periods);
    return err;
}

static BRIO_ERR begin(struct merge *m, size_t n, struct brio_map *const *maps)
{
    enum brio_err err = brio_calloc(n, sizeof *m->source, (void **)&m->source);
    if (!err)
        err = brio_calloc(n, sizeof(void *), (void **)&m->heap);
    if (!err)
        err = brio_calloc(n, sizeof(void *), (void **)&m->group);
    if (!err)
        err = brio_calloc(n, sizeof *m->period, (void **)&m->period);
    for (size_t i = 0; i < n && !err; i++) {
        struct source *s = &m->source[i];
        if (maps[i]->size == 0)
            continue;
        brio_cursor_init(&s->cursor, maps[i], 0);
        s->left = maps[i]->size;
        pass(m, s, 0);
    }
    return err;
}

static BRIO_ERR finish(struct merge *m, struct brio_map **out)
{
    struct brio_node *root;
    enum brio_err err = flush_pieces(m);
    if (err)
        return err;
    err = brio_node_list(m->nnode, m->node, m->at, &root);
    m->nnode = 0;
    return err ? err : brio_map_new(root, 0, root->hi - root->lo, out);
}

BRIO_ERR brio_merge(size_t n, struct brio_map *const *maps, brio_off max_pieces,
                    struct brio_map **out)
{
    struct merge m = {.budget = max_pieces, .end = INT64_MIN / 2};
    enum brio_err err = begin(&m, n, maps);
    while (!err && m.nheap > 0) {
        err = step(&m);
        if (!err && --m.budget < 0)
            err = brio_fail(BRIO_ENOMEM, "a union of more than %lld pieces",
                            (long long)max_pieces);
    }
    if (!err)
        err = finish(&m, out);
    while (m.nnode > 0)
        brio_node_unref(m.node[--m.nnode]);
    free(m.source);
    free(m.heap);
    free(m.group);
    free(m.period);
    free(m.node);
    free(m.at);
    free(m.off);
    free(m.len);
    return err;
}
