/* Envelope and contents of a datatype. */
#include "type/contents.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static BRIO_ERR read_envelope(MPI_Datatype type, struct brio_contents *c)
{
#if MPI_VERSION >= 4
    MPI_Count ni, na, nc, nt;
    if (PMPI_Type_get_envelope_c(type, &ni, &na, &nc, &nt, &c->combiner) != MPI_SUCCESS)
        return brio_fail(BRIO_ETYPE, "MPI_Type_get_envelope_c refuses the datatype");
    c->ncounts = (size_t)nc;
#else
    int ni, na, nt;
    if (PMPI_Type_get_envelope(type, &ni, &na, &nt, &c->combiner) != MPI_SUCCESS)
        return brio_fail(BRIO_ETYPE, "MPI_Type_get_envelope refuses the datatype");
    c->ncounts = 0;
#endif
    c->nints = (size_t)ni;
    c->naddrs = (size_t)na;
    c->ntypes = (size_t)nt;
    return BRIO_OK;
}

static BRIO_ERR read_contents(MPI_Datatype type, struct brio_contents *c)
{
#if MPI_VERSION >= 4
    int rc = PMPI_Type_get_contents_c(type, (MPI_Count)c->nints, (MPI_Count)c->naddrs,
                                      (MPI_Count)c->ncounts, (MPI_Count)c->ntypes, c->ints,
                                      c->addrs, c->counts, c->types);
#else
    int rc = PMPI_Type_get_contents(type, (int)c->nints, (int)c->naddrs, (int)c->ntypes,
                                    c->ints, c->addrs, c->types);
#endif
    if (rc != MPI_SUCCESS) {
        c->ntypes = 0;
        return brio_fail(BRIO_EINTERN, "MPI_Type_get_contents failed (combiner %d)",
                         c->combiner);
    }
    return BRIO_OK;
}

static BRIO_ERR alloc_streams(struct brio_contents *c)
{
    void *p[4] = {0};
    size_t n[4] = {c->nints, c->naddrs, c->ncounts, c->ntypes};
    size_t size[4] = {sizeof *c->ints, sizeof *c->addrs, sizeof *c->counts, sizeof *c->types};
    for (int i = 0; i < 4; i++) {
        enum brio_err err = brio_calloc(n[i], size[i], &p[i]);
        if (err) {
            while (i-- > 0)
                free(p[i]);
            return err;
        }
    }
    c->ints = p[0];
    c->addrs = p[1];
    c->counts = p[2];
    c->types = p[3];
    return BRIO_OK;
}

BRIO_ERR brio_contents_get(MPI_Datatype type, struct brio_contents *out)
{
    struct brio_contents c = {0};
    enum brio_err err = read_envelope(type, &c);
    if (!err && c.combiner != MPI_COMBINER_NAMED) {
        err = alloc_streams(&c);
        if (err)
            return err;
        err = read_contents(type, &c);
        if (err)
            brio_contents_free(&c);
    }
    if (!err)
        *out = c;
    return err;
}

bool brio_combiner_is_leaf(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

BRIO_ERR brio_combiner_of(MPI_Datatype type, int *out)
{
    struct brio_contents c = {0};
    enum brio_err err = read_envelope(type, &c);
    if (!err)
        *out = c.combiner;
    return err;
}

void brio_contents_free(struct brio_contents *c)
{
    for (size_t i = 0; i < c->ntypes; i++) {
        int combiner;
        if (!brio_combiner_of(c->types[i], &combiner) && !brio_combiner_is_leaf(combiner))
            PMPI_Type_free(&c->types[i]);
    }
    free(c->ints);
    free(c->addrs);
    free(c->counts);
    free(c->types);
    *c = (struct brio_contents){0};
}

int brio_contents_int(struct brio_contents *c)
{
    return c->ints[c->next_int++];
}

brio_off brio_contents_count(struct brio_contents *c)
{
    return c->ncounts ? c->counts[c->next_count++] : c->ints[c->next_int++];
}

brio_off brio_contents_addr(struct brio_contents *c)
{
    if (c->ncounts)
        return c->counts[c->next_count++];
    return c->naddrs ? c->addrs[c->next_addr++] : c->ints[c->next_int++];
}
