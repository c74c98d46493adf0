/* Every combiner in terms of copies, blocks and lists. */
#include "type/decode.h"

#include <stdlib.h>

#include "base/mem.h"
#include "type/array.h"
#include "type/contents.h"
#include "type/leaf.h"

/* Combiners of MPI-1's Fortran constructors, whose displacements are integers. */
#if defined(OPEN_MPI) && !OMPI_ENABLE_MPI1_COMPAT
enum {
    HVECTOR_INTEGER = OMPI_WAS_MPI_COMBINER_HVECTOR_INTEGER,
    HINDEXED_INTEGER = OMPI_WAS_MPI_COMBINER_HINDEXED_INTEGER,
    STRUCT_INTEGER = OMPI_WAS_MPI_COMBINER_STRUCT_INTEGER
};
#else
enum {
    HVECTOR_INTEGER = MPI_COMBINER_HVECTOR_INTEGER,
    HINDEXED_INTEGER = MPI_COMBINER_HINDEXED_INTEGER,
    STRUCT_INTEGER = MPI_COMBINER_STRUCT_INTEGER
};
#endif

static BRIO_ERR give_up(struct brio_form *f, enum brio_err err)
{
    brio_form_drop(f);
    return err;
}

static BRIO_ERR too_large(struct brio_form *f)
{
    return give_up(f, brio_fail(BRIO_ETYPE, "datatype reaches beyond 2^63 bytes"));
}

/* The bounds that MPI itself gives a type in memory. */
static BRIO_ERR ask_bounds(MPI_Datatype type, struct brio_form *f)
{
    MPI_Count lb, extent;
    brio_off ub;
    if (PMPI_Type_get_extent_x(type, &lb, &extent) != MPI_SUCCESS)
        return give_up(f, brio_fail(BRIO_ETYPE, "MPI_Type_get_extent_x refuses the datatype"));
    if (!brio_add(lb, extent, &ub))
        return too_large(f);
    brio_form_mark(f, lb, ub);
    return BRIO_OK;
}

static BRIO_ERR decode_leaf(const struct brio_decoder *d, MPI_Datatype type,
                            struct brio_form *f)
{
    struct brio_leaf leaf;
    enum brio_err err = brio_leaf_get(type, &leaf);
    if (err)
        return err;
    if (d->how != BRIO_MEASURE_SIZED) {
        err = brio_leaf_node(&leaf, d->how == BRIO_MEASURE_TYPED, &f->node);
        return err ? err : ask_bounds(type, f);
    }
    if (leaf.marker) {
        *(leaf.marker < 0 ? &f->lb_from : &f->ub_from) = BRIO_BOUND_MARK;
        return brio_node_bytes(0, 0, &f->node);
    }
    brio_off size;
    err = d->sizer->size(d->sizer->self, type, &size);
    if (err)
        return err;
    f->ub = size;
    f->lb_from = f->ub_from = BRIO_BOUND_DATA;
    return brio_node_bytes(size, d->sizer->counted ? 1 + brio_leaf_mem_size(&leaf) : 0,
                           &f->node);
}

/* count, blocklength, stride: in elements or (hvector) in bytes. */
static BRIO_ERR take_vector(struct brio_form *f, struct brio_contents *c, bool bytes)
{
    brio_off extent = brio_form_extent(f);
    brio_off count = brio_contents_count(c), len = brio_contents_count(c);
    brio_off stride = bytes ? brio_contents_addr(c) : brio_contents_count(c);
    if (!bytes && !brio_mul(stride, extent, &stride))
        return too_large(f);
    enum brio_err err = brio_form_copies(f, len, extent);
    return err ? err : brio_form_copies(f, count, stride);
}

struct lists {
    size_t n;
    brio_off *len, *off;
};

static void free_lists(struct lists *l)
{
    free(l->len);
    free(l->off);
}

/* Which arguments an indexed constructor has. */
struct indexing {
    bool bytes;   /* displacements in bytes */
    bool one_len; /* all blocks have one length */
};

static BRIO_ERR read_lists(struct brio_contents *c, struct indexing how, brio_off extent,
                           struct lists *l)
{
    void *p;
    l->n = (size_t)brio_contents_count(c);
    enum brio_err err = brio_calloc(l->n, sizeof *l->len, &p);
    if (err)
        return err;
    l->len = p;
    err = brio_calloc(l->n, sizeof *l->off, &p);
    if (err)
        return err;
    l->off = p;
    brio_off len = how.one_len ? brio_contents_count(c) : 0;
    for (size_t i = 0; i < l->n; i++)
        l->len[i] = how.one_len ? len : brio_contents_count(c);
    for (size_t i = 0; i < l->n; i++) {
        l->off[i] = how.bytes ? brio_contents_addr(c) : brio_contents_count(c);
        if (!how.bytes && !brio_mul(l->off[i], extent, &l->off[i]))
            return brio_fail(BRIO_ETYPE, "datatype reaches beyond 2^63 bytes");
    }
    return BRIO_OK;
}

static BRIO_ERR take_indexed(struct brio_form *f, struct brio_contents *c, struct indexing how)
{
    struct lists l = {0};
    enum brio_err err = read_lists(c, how, brio_form_extent(f), &l);
    err = err ? give_up(f, err) : brio_form_blocks(f, l.n, l.len, l.off);
    free_lists(&l);
    return err;
}

static bool one_type(const struct brio_contents *c)
{
    for (size_t i = 1; i < c->ntypes; i++)
        if (c->types[i] != c->types[0])
            return false;
    return c->ntypes > 0;
}

/* The children of a struct, each as often as its block is long, into node[]; returns how
 * many nodes there are, also on failure. */
static BRIO_ERR decode_members(const struct brio_decoder *d, const struct brio_contents *c,
                               const struct lists *l, struct brio_form *all,
                               struct brio_node **node, size_t *made)
{
    struct brio_form one = {0};
    enum brio_err err = BRIO_OK;
    for (size_t i = 0; i < l->n && !err; i++) {
        if (i == 0 || c->types[i] != c->types[i - 1]) {
            brio_form_drop(&one);
            one = (struct brio_form){0};
            err = brio_decode(d, c->types[i], &one);
            if (err)
                break;
        }
        struct brio_form block = one;
        brio_node_ref(block.node);
        err = brio_form_copies(&block, l->len[i], brio_form_extent(&one));
        if (err)
            break;
        node[(*made)++] = block.node;
        err = brio_form_join(all, &block, l->off[i]);
    }
    brio_form_drop(&one);
    return err;
}

static BRIO_ERR take_struct(const struct brio_decoder *d, struct brio_contents *c,
                            struct brio_form *f)
{
    struct lists l = {0};
    void *nodes = NULL;
    size_t made = 0;
    enum brio_err err = read_lists(c, (struct indexing){.bytes = true}, 0, &l);
    if (!err && one_type(c)) {
        err = brio_decode(d, c->types[0], f);
        if (!err)
            err = brio_form_blocks(f, l.n, l.len, l.off);
        goto release;
    }
    if (!err)
        err = brio_calloc(l.n, sizeof(struct brio_node *), &nodes);
    if (err)
        goto release;
    struct brio_node **node = nodes;
    err = decode_members(d, c, &l, f, node, &made);
    if (!err)
        err = brio_node_list(made, node, l.off, &f->node);
    else
        while (made > 0)
            brio_node_unref(node[--made]);
release:
    free(nodes);
    free_lists(&l);
    return err;
}

static BRIO_ERR take_resized(struct brio_form *f, struct brio_contents *c)
{
    brio_off lb = brio_contents_addr(c), ub;
    if (!brio_add(lb, brio_contents_addr(c), &ub))
        return too_large(f);
    brio_form_mark(f, lb, ub);
    return BRIO_OK;
}

/* f is the old type, and becomes the new one. */
static BRIO_ERR apply(struct brio_form *f, struct brio_contents *c)
{
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
        return BRIO_OK;
    case MPI_COMBINER_CONTIGUOUS:
        return brio_form_copies(f, brio_contents_count(c), brio_form_extent(f));
    case MPI_COMBINER_VECTOR:
        return take_vector(f, c, false);
    case MPI_COMBINER_HVECTOR:
    case HVECTOR_INTEGER:
        return take_vector(f, c, true);
    case MPI_COMBINER_INDEXED:
        return take_indexed(f, c, (struct indexing){0});
    case MPI_COMBINER_HINDEXED:
    case HINDEXED_INTEGER:
        return take_indexed(f, c, (struct indexing){.bytes = true});
    case MPI_COMBINER_INDEXED_BLOCK:
        return take_indexed(f, c, (struct indexing){.one_len = true});
    case MPI_COMBINER_HINDEXED_BLOCK:
        return take_indexed(f, c, (struct indexing){.bytes = true, .one_len = true});
    case MPI_COMBINER_SUBARRAY:
        return brio_form_subarray(f, c);
    case MPI_COMBINER_DARRAY:
        return brio_form_darray(f, c);
    case MPI_COMBINER_RESIZED:
        return take_resized(f, c);
    default:
        return give_up(f, brio_fail(BRIO_ETYPE, "unknown datatype combiner %d", c->combiner));
    }
}

BRIO_ERR brio_decode(const struct brio_decoder *d, MPI_Datatype type, struct brio_form *out)
{
    const struct brio_map *map =
        d->how == BRIO_MEASURE_MEMORY && d->known ? d->known(type) : NULL;
    if (map) {
        out->node = brio_node_ref(map->root);
        brio_form_mark(out, map->lb, map->lb + map->extent);
        return BRIO_OK;
    }
    struct brio_form f = {0};
    struct brio_contents c;
    enum brio_err err = brio_contents_get(type, &c);
    if (err)
        return err;
    if (brio_combiner_is_leaf(c.combiner))
        err = decode_leaf(d, type, &f);
    else if (c.combiner == MPI_COMBINER_STRUCT || c.combiner == (int)STRUCT_INTEGER)
        err = take_struct(d, &c, &f);
    else {
        err = brio_decode(d, c.types[0], &f);
        if (!err)
            err = apply(&f, &c);
    }
    if (!err && d->how != BRIO_MEASURE_SIZED && !brio_combiner_is_leaf(c.combiner))
        err = ask_bounds(type, &f);
    brio_contents_free(&c);
    if (!err)
        *out = f;
    return err;
}
