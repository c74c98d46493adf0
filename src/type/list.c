/* Irregular nodes: lists of children and blocks of one child. Both become loops and runs
 * where they are regular after all. */
#include "type/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Lists are dissolved into the list above them up to this many entries together. */
enum {
    SPLICE_MAX = 4096
};

/* Entries of a FRAGS or BLOCKS node in the making: cnt[i] copies of one atom at at[i]. */
struct entries {
    brio_off n;
    brio_off *cnt, *at; /* cnt has room for one more */
};

static BRIO_ERR alloc_entries(size_t n, struct entries *out)
{
    void *cnt, *at;
    enum brio_err err = brio_calloc(n + 1, sizeof(brio_off), &cnt);
    if (err)
        return err;
    err = brio_calloc(n, sizeof(brio_off), &at);
    if (err) {
        free(cnt);
        return err;
    }
    *out = (struct entries){0, cnt, at};
    return BRIO_OK;
}

static void free_entries(struct entries *e)
{
    free(e->cnt);
    free(e->at);
}

/* Adds `cnt` copies, `stride` apart, at `at`; joins them to the last entry if they go on
 * where it ends. There must be room. */
static void add_entry(struct entries *e, brio_off cnt, brio_off stride, brio_off at)
{
    if (cnt == 0)
        return;
    if (e->n > 0) {
        brio_off len, end, sum, last = e->n - 1;
        if (brio_mul(e->cnt[last], stride, &len) && brio_add(e->at[last], len, &end) &&
            end == at && brio_add(e->cnt[last], cnt, &sum)) {
            e->cnt[last] = sum;
            return;
        }
    }
    e->cnt[e->n] = cnt;
    e->at[e->n] = at;
    e->n++;
}

static bool uniform(const struct entries *e)
{
    for (brio_off i = 1; i < e->n; i++)
        if (e->cnt[i] != e->cnt[0])
            return false;
    return true;
}

/* True if the entries are equally far apart; the distance is then in *stride. */
static bool even(const brio_off *at, brio_off n, brio_off *stride)
{
    brio_off d = 0, gap;
    if (n > 1 && __builtin_sub_overflow(at[1], at[0], &d))
        return false;
    for (brio_off i = 2; i < n; i++)
        if (__builtin_sub_overflow(at[i], at[i - 1], &gap) || gap != d)
            return false;
    *stride = d;
    return true;
}

/* What brio_node_blocks was given; all blocks are shifted by `shift`. */
struct blocks {
    size_t n;
    const brio_off *len, *off;
    brio_off shift;
};

/* What one entry repeats, and how far apart. */
struct atom {
    struct brio_span span;
    brio_off size, npieces, stride;
    bool rises;
};

/* Sizes and bounds of a node whose entries are in place. */
static BRIO_ERR measure(struct brio_node *node, const struct atom *atom)
{
    brio_off total = brio_node_start(node, node->count);
    bool rises = atom->rises, tight = atom->stride >= atom->span.hi - atom->span.lo;
    uint64_t hash = brio_mix(node->hash, (uint64_t)node->count);
    for (brio_off i = 0; i < node->count; i++) {
        brio_off items = brio_node_items(node, i);
        struct brio_span s;
        if (!brio_span_copies(atom->span, node->at[i], items, atom->stride, &s))
            return brio_node_too_large();
        rises = rises && (items == 1 || tight) && (i == 0 || s.lo >= node->hi);
        node->lo = i ? brio_min(node->lo, s.lo) : s.lo;
        node->hi = i ? brio_max(node->hi, s.hi) : s.hi;
        hash = brio_mix(brio_mix(hash, (uint64_t)node->at[i]), (uint64_t)items);
    }
    if (!brio_mul(total, atom->size, &node->size) ||
        !brio_span_fits((struct brio_span){node->lo, node->hi}))
        return brio_node_too_large();
    node->npieces = brio_sat_mul(total, atom->npieces);
    node->rises = rises;
    node->hash = hash;
    return BRIO_OK;
}

/* Moves the entries into the node: their counts become prefix sums, or `each`. */
static BRIO_ERR move_entries(struct brio_node *node, struct entries *e, brio_off each)
{
    node->count = e->n;
    node->at = e->at;
    e->at = NULL;
    node->each = each;
    node->nnodes += (size_t)e->n;
    if (each) {
        brio_off total;
        return brio_mul(each, e->n, &total) ? BRIO_OK : brio_node_too_large();
    }
    node->cum = e->cnt;
    e->cnt = NULL;
    brio_off sum = 0;
    for (brio_off i = 0; i <= node->count; i++) {
        brio_off items = node->cum[i];
        node->cum[i] = sum;
        if (i < node->count && !brio_add(sum, items, &sum))
            return brio_node_too_large();
    }
    return BRIO_OK;
}

/* The leaf: fragments of elements as in `run`. */
static BRIO_ERR make_frags(struct brio_run run, struct entries *e, brio_off each,
                           struct brio_node **out)
{
    struct brio_node *node;
    enum brio_err err = brio_node_alloc(BRIO_SHAPE_FRAGS, &node);
    if (err)
        return err;
    node->kind = run.kind;
    node->len = run.len;
    node->stride = run.stride;
    node->hash = brio_mix(brio_mix(BRIO_SHAPE_FRAGS, (uint64_t)run.len), (uint64_t)run.stride);
    node->hash = brio_mix(node->hash, (uint64_t)run.kind);
    struct atom atom = {{0, run.len}, run.len, 1, run.stride, true};
    err = move_entries(node, e, each);
    if (!err)
        err = measure(node, &atom);
    if (err) {
        brio_node_unref(node);
        return err;
    }
    if (brio_node_is_pieces(node))
        node->npieces = node->count;
    *out = node;
    return BRIO_OK;
}

/* Borrows child. */
static BRIO_ERR make_blocks(struct brio_node *child, brio_off unit, struct entries *e,
                            brio_off each, struct brio_node **out)
{
    struct brio_node *node;
    enum brio_err err = brio_node_alloc(BRIO_SHAPE_BLOCKS, &node);
    if (err)
        return err;
    node->stride = unit;
    node->child = brio_node_ref(child);
    node->hash = brio_mix(brio_mix(child->hash, BRIO_SHAPE_BLOCKS), (uint64_t)unit);
    struct atom atom = {
        {child->lo, child->hi}, child->size, child->npieces, unit, child->rises};
    err = brio_node_deepen(node, child);
    if (!err)
        err = move_entries(node, e, each);
    if (!err)
        err = measure(node, &atom);
    if (err) {
        brio_node_unref(node);
        return err;
    }
    *out = node;
    return BRIO_OK;
}

/* Entries of equal length: a loop if they are evenly spaced. Takes over block. */
static BRIO_ERR make_uniform(struct brio_node *block, struct entries *e, struct brio_node **out)
{
    brio_off stride, at = e->at[0];
    enum brio_err err;
    if (even(e->at, e->n, &stride)) {
        struct brio_node *loop;
        err = brio_node_loop(block, e->n, stride, &loop);
        if (err)
            return err;
        err = brio_node_shift(loop, at, out);
        brio_node_unref(loop);
        return err;
    }
    if (block->shape == BRIO_SHAPE_RUN) {
        struct brio_run run = brio_node_as_run(block);
        brio_off each = run.count;
        if (brio_node_is_piece(block)) {
            each = run.len;
            run.len = run.stride = 1;
        }
        err = make_frags(run, e, each, out);
    } else
        err = make_blocks(block, 0, e, 1, out);
    brio_node_unref(block);
    return err;
}

/* The simplest node for the entries of `atom` (offset 0), `stride` apart inside an entry. */
static BRIO_ERR finish_entries(struct brio_node *atom, brio_off stride, struct entries *e,
                               struct brio_node **out)
{
    if (e->n == 0)
        return brio_node_empty(out);
    if (uniform(e)) {
        struct brio_node *block;
        enum brio_err err = brio_node_loop(brio_node_ref(atom), e->cnt[0], stride, &block);
        return err ? err : make_uniform(block, e, out);
    }
    if (atom->shape == BRIO_SHAPE_RUN && atom->count == 1) {
        struct brio_run run = brio_node_as_run(atom);
        run.stride = stride;
        return make_frags(run, e, 0, out);
    }
    return make_blocks(atom, stride, e, 0, out);
}

/* The blocks as entries of `atom`: `scale` atoms for one copy of the child. */
static BRIO_ERR cut_blocks(const struct blocks *b, brio_off scale, brio_off stride,
                           struct entries *e)
{
    for (size_t i = 0; i < b->n; i++) {
        brio_off cnt, at;
        if (b->len[i] < 0)
            return brio_fail(BRIO_EARG, "block of %lld elements", (long long)b->len[i]);
        if (!brio_mul(b->len[i], scale, &cnt) || !brio_add(b->off[i], b->shift, &at))
            return brio_node_too_large();
        add_entry(e, cnt, stride, at);
    }
    return BRIO_OK;
}

/* The atom of blocks of `child` (offset 0), `unit` apart: a byte, a piece, or the child. */
static BRIO_ERR choose_atom(struct brio_node *child, brio_off unit, brio_off *scale,
                            brio_off *stride, struct brio_node **atom)
{
    *scale = 1;
    *stride = unit;
    brio_off whole;
    if (brio_node_is_piece(child) && child->len == unit) {
        *scale = unit;
        *stride = 1;
        return brio_node_bytes(1, 0, atom);
    }
    if (child->shape == BRIO_SHAPE_RUN && child->count > 1 &&
        brio_mul(child->count, child->stride, &whole) && whole == unit) {
        struct brio_run run = brio_node_as_run(child);
        *scale = run.count;
        *stride = run.stride;
        run.count = 1;
        return brio_node_run(run, atom);
    }
    *atom = brio_node_ref(child);
    return BRIO_OK;
}

BRIO_ERR brio_node_blocks(struct brio_node *child, brio_off unit, size_t n, const brio_off *len,
                          const brio_off *off, struct brio_node **out)
{
    struct brio_node *inner = NULL, *atom = NULL;
    struct blocks blocks = {n, len, off, 0};
    struct entries e = {0};
    brio_off scale, stride;
    enum brio_err err = brio_node_settle(child, &blocks.shift, &inner);
    if (!err && child->size == 0) {
        err = brio_node_empty(out);
        goto release;
    }
    if (!err)
        err = choose_atom(inner, unit, &scale, &stride, &atom);
    if (!err)
        err = alloc_entries(n, &e);
    if (!err)
        err = cut_blocks(&blocks, scale, stride, &e);
    if (!err)
        err = finish_entries(atom, stride, &e, out);
    free_entries(&e);
release:
    brio_node_unref(atom);
    brio_node_unref(inner);
    brio_node_unref(child);
    return err;
}

/* ---- Lists -------------------------------------------------------------------------- */

static bool same(const struct brio_node *a, const struct brio_node *b)
{
    if (a == b)
        return true;
    if (a->hash != b->hash || a->shape != b->shape || a->kind != b->kind || a->len != b->len ||
        a->stride != b->stride || a->count != b->count || a->each != b->each ||
        a->size != b->size || a->off != b->off)
        return false;
    size_t n = (size_t)a->count * sizeof(brio_off);
    if (a->at && memcmp(a->at, b->at, n) != 0)
        return false;
    if (a->cum && memcmp(a->cum, b->cum, n) != 0)
        return false;
    if (a->child && !same(a->child, b->child))
        return false;
    if (a->kids)
        for (brio_off i = 0; i < a->count; i++)
            if (!same(a->kids[i], b->kids[i]))
                return false;
    return true;
}

/* Children of a list in the making, owned. */
struct brood {
    size_t n;
    struct brio_node **kid;
    brio_off *at;
};

static void free_brood(struct brood *b)
{
    for (size_t i = 0; i < b->n; i++)
        brio_node_unref(b->kid[i]);
    free(b->kid);
    free(b->at);
}

/* Adds a child (taken over) or joins it to the last one. There must be room. */
static BRIO_ERR add_kid(struct brood *b, struct brio_node *kid, brio_off at)
{
    if (b->n > 0 && brio_node_is_piece(kid) && brio_node_is_piece(b->kid[b->n - 1])) {
        struct brio_node *last = b->kid[b->n - 1], *joined;
        brio_off end, len;
        if (brio_add(b->at[b->n - 1], last->len, &end) && end == at &&
            brio_add(last->len, kid->len, &len)) {
            brio_node_unref(kid);
            enum brio_err err = brio_node_bytes(len, 0, &joined);
            if (err)
                return err;
            brio_node_unref(last);
            b->kid[b->n - 1] = joined;
            return BRIO_OK;
        }
    }
    b->kid[b->n] = kid;
    b->at[b->n] = at;
    b->n++;
    return BRIO_OK;
}

/* Adds a settled child, or the entries of a list in its place. Takes over kid. */
static BRIO_ERR add_child(struct brood *b, struct brio_node *kid, brio_off at, bool splice)
{
    if (kid->shape != BRIO_SHAPE_LIST || !splice)
        return add_kid(b, kid, at);
    enum brio_err err = BRIO_OK;
    for (brio_off i = 0; i < kid->count && !err; i++) {
        brio_off sum;
        err = brio_add(at, kid->at[i], &sum) ? add_kid(b, brio_node_ref(kid->kids[i]), sum)
                                             : brio_node_too_large();
    }
    brio_node_unref(kid);
    return err;
}

static size_t spliced_count(size_t n, struct brio_node *const *child)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        const struct brio_node *c = child[i];
        if (c->shape == BRIO_SHAPE_LOOP && c->count == 1)
            c = c->child;
        total += c->shape == BRIO_SHAPE_LIST ? (size_t)c->count : 1;
    }
    return total;
}

static BRIO_ERR collect(size_t n, struct brio_node *const *child, const brio_off *off,
                        struct brood *b)
{
    size_t room = spliced_count(n, child);
    bool splice = room <= SPLICE_MAX;
    if (!splice)
        room = n;
    void *kid, *at;
    enum brio_err err = brio_calloc(room, sizeof *b->kid, &kid);
    if (err)
        return err;
    b->kid = kid;
    err = brio_calloc(room, sizeof *b->at, &at);
    if (err)
        return err;
    b->at = at;
    for (size_t i = 0; i < n; i++) {
        if (child[i]->size == 0)
            continue;
        struct brio_node *inner;
        brio_off sum = off[i];
        err = brio_node_settle(child[i], &sum, &inner);
        if (!err)
            err = add_child(b, inner, sum, splice);
        if (err)
            return err;
    }
    return BRIO_OK;
}

static bool all_pieces(const struct brood *b, size_t *total)
{
    *total = 0;
    for (size_t i = 0; i < b->n; i++) {
        const struct brio_node *kid = b->kid[i];
        if (kid->shape == BRIO_SHAPE_FRAGS && brio_node_is_pieces(kid))
            *total += (size_t)kid->count;
        else if (brio_node_is_piece(kid))
            *total += 1;
        else
            return false;
    }
    return true;
}

/* Children that are all plain pieces, as one leaf. */
static BRIO_ERR merge_pieces(const struct brood *b, size_t total, struct brio_node **out)
{
    struct entries e;
    struct brio_node *byte;
    enum brio_err err = alloc_entries(total, &e);
    if (err)
        return err;
    for (size_t i = 0; i < b->n && !err; i++) {
        const struct brio_node *kid = b->kid[i];
        if (kid->shape == BRIO_SHAPE_RUN) {
            add_entry(&e, kid->len, 1, b->at[i]);
            continue;
        }
        for (brio_off k = 0; k < kid->count && !err; k++) {
            brio_off at;
            if (brio_add(b->at[i], kid->at[k], &at))
                add_entry(&e, brio_node_items(kid, k), 1, at);
            else
                err = brio_node_too_large();
        }
    }
    if (!err)
        err = brio_node_bytes(1, 0, &byte);
    if (!err) {
        err = finish_entries(byte, 1, &e, out);
        brio_node_unref(byte);
    }
    free_entries(&e);
    return err;
}

static bool all_same(const struct brood *b)
{
    for (size_t i = 1; i < b->n; i++)
        if (!same(b->kid[0], b->kid[i]))
            return false;
    return true;
}

/* Sizes and bounds of a list whose children are in place. */
static BRIO_ERR measure_list(struct brio_node *node)
{
    brio_off bytes = 0, npieces = 0;
    node->rises = true;
    node->hash = brio_mix(BRIO_SHAPE_LIST, (uint64_t)node->count);
    node->nnodes += (size_t)node->count;
    for (brio_off i = 0; i < node->count; i++) {
        const struct brio_node *kid = node->kids[i];
        struct brio_span s;
        enum brio_err err = brio_node_deepen(node, kid);
        if (err)
            return err;
        node->cum[i] = bytes;
        if (!brio_add(bytes, kid->size, &bytes) ||
            !brio_span_copies((struct brio_span){kid->lo, kid->hi}, node->at[i], 1, 0, &s))
            return brio_node_too_large();
        node->rises = node->rises && kid->rises && (i == 0 || s.lo >= node->hi);
        node->lo = i ? brio_min(node->lo, s.lo) : s.lo;
        node->hi = i ? brio_max(node->hi, s.hi) : s.hi;
        node->hash = brio_mix(brio_mix(node->hash, kid->hash), (uint64_t)node->at[i]);
        if (!brio_add(npieces, kid->npieces, &npieces))
            npieces = BRIO_OFF_MAX;
    }
    if (!brio_span_fits((struct brio_span){node->lo, node->hi}))
        return brio_node_too_large();
    node->cum[node->count] = bytes;
    node->size = bytes;
    node->npieces = npieces;
    return BRIO_OK;
}

/* Takes the children out of the brood. */
static BRIO_ERR make_list(struct brood *b, struct brio_node **out)
{
    struct brio_node *node;
    enum brio_err err = brio_node_alloc(BRIO_SHAPE_LIST, &node);
    if (err)
        return err;
    void *cum;
    err = brio_calloc(b->n + 1, sizeof *node->cum, &cum);
    if (!err) {
        node->cum = cum;
        node->count = (brio_off)b->n;
        node->kids = b->kid;
        node->at = b->at;
        *b = (struct brood){0};
        err = measure_list(node);
    }
    if (err) {
        brio_node_unref(node);
        return err;
    }
    *out = node;
    return BRIO_OK;
}

static BRIO_ERR finish_list(struct brood *b, struct brio_node **out)
{
    size_t total;
    brio_off stride;
    if (b->n == 0)
        return brio_node_empty(out);
    if (b->n == 1)
        return brio_node_shift(b->kid[0], b->at[0], out);
    if (all_pieces(b, &total))
        return merge_pieces(b, total, out);
    if (even(b->at, (brio_off)b->n, &stride) && all_same(b)) {
        struct brio_node *loop;
        enum brio_err err =
            brio_node_loop(brio_node_ref(b->kid[0]), (brio_off)b->n, stride, &loop);
        if (err)
            return err;
        err = brio_node_shift(loop, b->at[0], out);
        brio_node_unref(loop);
        return err;
    }
    return make_list(b, out);
}

BRIO_ERR brio_node_list(size_t n, struct brio_node *const *child, const brio_off *off,
                        struct brio_node **out)
{
    struct brood b = {0};
    enum brio_err err = collect(n, child, off, &b);
    if (!err)
        err = finish_list(&b, out);
    free_brood(&b);
    for (size_t i = 0; i < n; i++)
        brio_node_unref(child[i]);
    return err;
}
