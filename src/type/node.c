/* Making nodes: what every constructor has in common, and the constructors for pieces and
 * loops. Lists and blocks are in list.c. */
#include "type/build.h"

#include <stdlib.h>

#include "base/mem.h"

enum brio_err brio_node_too_large(void)
{
    return brio_fail(BRIO_ETYPE, "datatype reaches beyond 2^63 bytes");
}

uint64_t brio_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

BRIO_ERR brio_node_alloc(enum brio_shape shape, struct brio_node **out)
{
    void *p;
    enum brio_err err = brio_calloc(1, sizeof **out, &p);
    if (err)
        return err;
    struct brio_node *node = p;
    node->shape = shape;
    node->depth = 1;
    node->refs = 1;
    node->nnodes = 1;
    *out = node;
    return BRIO_OK;
}

struct brio_node *brio_node_ref(struct brio_node *node)
{
    atomic_fetch_add_explicit(&node->refs, 1, memory_order_relaxed);
    return node;
}

void brio_node_unref(struct brio_node *node)
{
    if (!node || atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) > 1)
        return;
    brio_node_unref(node->child);
    if (node->kids)
        for (brio_off i = 0; i < node->count; i++)
            brio_node_unref(node->kids[i]);
    free(node->kids);
    free(node->at);
    free(node->cum);
    free(node);
}

brio_off brio_node_size(const struct brio_node *node)
{
    return node->size;
}

bool brio_span_copies(struct brio_span in, brio_off off, brio_off count, brio_off stride,
                      struct brio_span *out)
{
    brio_off last, lo, hi;
    return brio_mul(count - 1, stride, &last) && brio_add(in.lo, off, &lo) &&
           brio_add(lo, brio_min(last, 0), &out->lo) && brio_add(in.hi, off, &hi) &&
           brio_add(hi, brio_max(last, 0), &out->hi) && brio_span_fits(*out);
}

BRIO_ERR brio_node_run(struct brio_run run, struct brio_node **out)
{
    if (run.count > 1 && run.stride == run.len && run.kind == 0) {
        if (!brio_mul(run.len, run.count, &run.len))
            return brio_node_too_large();
        run.count = 1;
    }
    if (run.len == 0)
        run = (struct brio_run){.count = 1};
    if (run.count == 1)
        run.stride = run.len;
    struct brio_span all;
    brio_off size;
    if (!brio_mul(run.len, run.count, &size) ||
        !brio_span_copies((struct brio_span){0, run.len}, run.off, run.count, run.stride, &all))
        return brio_node_too_large();
    struct brio_node *node;
    enum brio_err err = brio_node_alloc(BRIO_SHAPE_RUN, &node);
    if (err)
        return err;
    node->kind = run.kind;
    node->off = run.off;
    node->len = run.len;
    node->stride = run.stride;
    node->count = run.count;
    node->size = size;
    node->lo = all.lo;
    node->hi = all.hi;
    node->npieces = size ? run.count : 0;
    node->rises = run.count == 1 || run.stride >= run.len;
    uint64_t hash = brio_mix(BRIO_SHAPE_RUN, (uint64_t)run.len);
    hash = brio_mix(hash, (uint64_t)run.stride);
    hash = brio_mix(hash, (uint64_t)run.count);
    node->hash = brio_mix(hash, (uint64_t)run.kind);
    *out = node;
    return BRIO_OK;
}

BRIO_ERR brio_node_empty(struct brio_node **out)
{
    return brio_node_run((struct brio_run){.count = 1}, out);
}

struct brio_run brio_node_as_run(const struct brio_node *node)
{
    return (struct brio_run){.off = node->off,
                             .len = node->len,
                             .stride = node->stride,
                             .count = node->count,
                             .kind = node->kind};
}

brio_off brio_sat_mul(brio_off a, brio_off b)
{
    brio_off product;
    return brio_mul(a, b, &product) ? product : BRIO_OFF_MAX;
}

BRIO_ERR brio_node_deepen(struct brio_node *node, const struct brio_node *child)
{
    if (child->depth + 1 > BRIO_MAP_DEPTH)
        return brio_fail(BRIO_ETYPE, "datatype is nested more than %d deep", BRIO_MAP_DEPTH);
    if (node->depth < child->depth + 1)
        node->depth = child->depth + 1;
    node->nnodes += child->nnodes;
    return BRIO_OK;
}

/* A loop with the child's own offset moved up into it. Borrows child. */
static BRIO_ERR make_loop(struct brio_node *child, brio_off off, brio_off count,
                          brio_off stride, struct brio_node **out)
{
    struct brio_node *inner;
    enum brio_err err = brio_node_settle(child, &off, &inner);
    if (err)
        return err;
    struct brio_node *node = NULL;
    err = brio_node_alloc(BRIO_SHAPE_LOOP, &node);
    if (err) {
        brio_node_unref(inner);
        return err;
    }
    node->child = inner;
    struct brio_span all = {0};
    if (!brio_mul(inner->size, count, &node->size) ||
        !brio_span_copies((struct brio_span){inner->lo, inner->hi}, off, count, stride, &all))
        err = brio_node_too_large();
    else
        err = brio_node_deepen(node, inner);
    if (err) {
        brio_node_unref(node);
        return err;
    }
    node->off = off;
    node->stride = stride;
    node->count = count;
    node->lo = all.lo;
    node->hi = all.hi;
    node->npieces = brio_sat_mul(inner->npieces, count);
    node->rises = inner->rises && (count == 1 || stride >= inner->hi - inner->lo);
    uint64_t hash = brio_mix(inner->hash, BRIO_SHAPE_LOOP);
    hash = brio_mix(hash, (uint64_t)stride);
    node->hash = brio_mix(hash, (uint64_t)count);
    *out = node;
    return BRIO_OK;
}

BRIO_ERR brio_node_settle(struct brio_node *node, brio_off *off, struct brio_node **out)
{
    brio_off sum;
    if (!brio_add(*off, node->off, &sum))
        return brio_node_too_large();
    enum brio_err err = BRIO_OK;
    if (node->shape == BRIO_SHAPE_LOOP && node->count == 1)
        *out = brio_node_ref(node->child);
    else if (node->off == 0)
        *out = brio_node_ref(node);
    else if (node->shape == BRIO_SHAPE_RUN) {
        struct brio_run run = brio_node_as_run(node);
        run.off = 0;
        err = brio_node_run(run, out);
    } else
        err = make_loop(node->child, 0, node->count, node->stride, out);
    if (!err)
        *off = sum;
    return err;
}

BRIO_ERR brio_node_shift(struct brio_node *node, brio_off off, struct brio_node **out)
{
    brio_off sum;
    if (!brio_add(node->off, off, &sum))
        return brio_node_too_large();
    if (off == 0 || node->size == 0) {
        *out = brio_node_ref(node);
        return BRIO_OK;
    }
    if (node->shape == BRIO_SHAPE_RUN) {
        struct brio_run run = brio_node_as_run(node);
        run.off = sum;
        return brio_node_run(run, out);
    }
    if (node->shape == BRIO_SHAPE_LOOP) {
        if (node->count == 1 && sum == 0) {
            *out = brio_node_ref(node->child);
            return BRIO_OK;
        }
        return make_loop(node->child, sum, node->count, node->stride, out);
    }
    return make_loop(node, off, 1, 0, out);
}

BRIO_ERR brio_node_bytes(brio_off len, int kind, struct brio_node **out)
{
    if (len < 0)
        return brio_fail(BRIO_EARG, "piece of %lld bytes", (long long)len);
    return brio_node_run((struct brio_run){.len = len, .count = 1, .kind = kind}, out);
}

/* Borrows child. */
static BRIO_ERR repeat(struct brio_node *child, brio_off count, brio_off stride,
                       struct brio_node **out)
{
    if (count < 0)
        return brio_fail(BRIO_EARG, "%lld copies of a datatype", (long long)count);
    if (count == 0 || child->size == 0)
        return brio_node_empty(out);
    if (count == 1) {
        *out = brio_node_ref(child);
        return BRIO_OK;
    }
    brio_off whole, total;
    bool goes_on = child->count > 1 && brio_mul(child->count, child->stride, &whole) &&
                   whole == stride && brio_mul(child->count, count, &total);
    if (child->shape == BRIO_SHAPE_RUN) {
        struct brio_run run = brio_node_as_run(child);
        if (run.count == 1) {
            run.count = count;
            run.stride = stride;
            return brio_node_run(run, out);
        }
        if (goes_on) {
            run.count = total;
            return brio_node_run(run, out);
        }
    }
    if (child->shape == BRIO_SHAPE_LOOP && goes_on)
        return make_loop(child->child, child->off, total, child->stride, out);
    return make_loop(child, 0, count, stride, out);
}

BRIO_ERR brio_node_loop(struct brio_node *child, brio_off count, brio_off stride,
                        struct brio_node **out)
{
    enum brio_err err = repeat(child, count, stride, out);
    brio_node_unref(child);
    return err;
}
