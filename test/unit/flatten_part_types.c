/* The generator of random datatypes. */
#include "unit/flatten_types.h"

#include <stdio.h>

static int64_t (*below)(int64_t n);

void test_type_random_from(int64_t (*source)(int64_t n))
{
    below = source;
}

int test_type_derived(MPI_Datatype type)
{
    int ni, na, nt, combiner = MPI_COMBINER_NAMED;
#if MPI_VERSION >= 4
    MPI_Count ci, ca, cc, ct;
    (void)ni, (void)na, (void)nt;
    MPI_Type_get_envelope_c(type, &ci, &ca, &cc, &ct, &combiner);
#else
    MPI_Type_get_envelope(type, &ni, &na, &nt, &combiner);
#endif
    return combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL &&
           combiner != MPI_COMBINER_F90_COMPLEX && combiner != MPI_COMBINER_F90_INTEGER;
}

void test_type_free(MPI_Datatype *type)
{
    if (test_type_derived(*type))
        MPI_Type_free(type);
}

static MPI_Datatype random_leaf(struct test_taste taste)
{
    /* No long double or bool here: MPICH copies their values, not all their bytes. */
    static const MPI_Datatype leaves[] = {
        MPI_CHAR,       MPI_INT,      MPI_DOUBLE,           MPI_SHORT,
        MPI_BYTE,       MPI_FLOAT,    MPI_LONG_LONG,        MPI_SHORT_INT,
        MPI_DOUBLE_INT, MPI_LONG_INT, MPI_FLOAT_INT,        MPI_2INT,
        MPI_OFFSET,     MPI_UINT16_T, MPI_DOUBLE_COMPLEX,   MPI_2REAL,
        MPI_INTEGER,    MPI_WCHAR,    MPI_2DOUBLE_PRECISION};
    MPI_Datatype type;
    if (taste.bytes_only)
        return MPI_BYTE;
    switch (below(12)) {
    case 0:
        MPI_Type_create_f90_real(6, MPI_UNDEFINED, &type);
        return type;
    case 1:
        MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &type);
        return type;
    case 2:
        MPI_Type_create_f90_integer(9, &type);
        return type;
    default:
        return leaves[below(sizeof leaves / sizeof *leaves)];
    }
}

/* ---- One constructor each: every argument is small and random ----------------------- */

static int few(int most)
{
    return below(12) ? 1 + (int)below(most) : 0;
}

static int around(int reach)
{
    return (int)below(2 * reach + 1) - reach;
}

/* Open MPI 4.1 takes a stride of -1 byte for "none given". */
static int stride(int reach)
{
    int s = around(reach);
    return s == -1 ? -2 : s;
}

static MPI_Datatype a_contiguous(MPI_Datatype old)
{
    MPI_Datatype type;
    MPI_Type_contiguous(few(5), old, &type);
    return type;
}

static MPI_Datatype a_vector(MPI_Datatype old)
{
    MPI_Datatype type;
    MPI_Type_vector(few(5), few(3), stride(6), old, &type);
    return type;
}

static MPI_Datatype a_hvector(MPI_Datatype old)
{
    MPI_Datatype type;
    MPI_Type_create_hvector(few(5), few(3), stride(60), old, &type);
    return type;
}

/* Blocks that are now and then regular, or touch. */
static int fill_blocks(int n, int *len, int *disp)
{
    int regular = below(3) == 0, same = few(3), at = around(3);
    for (int i = 0; i < n; i++) {
        len[i] = regular ? same : few(4);
        disp[i] = regular || below(3) ? at : around(20);
        at = disp[i] + len[i] + (regular ? same : (int)below(3));
    }
    return n;
}

static MPI_Datatype an_indexed(MPI_Datatype old)
{
    int len[8], disp[8], n = fill_blocks(few(8), len, disp);
    MPI_Datatype type;
    MPI_Type_indexed(n, len, disp, old, &type);
    return type;
}

static MPI_Datatype an_indexed_block(MPI_Datatype old)
{
    int len[8], disp[8], n = fill_blocks(few(8), len, disp);
    MPI_Datatype type;
    MPI_Type_create_indexed_block(n, few(3), disp, old, &type);
    return type;
}

static int fill_bytes(int n, int *len, MPI_Aint *disp)
{
    int elements[8];
    fill_blocks(n, len, elements);
    int unit = 1 + (int)below(20);
    for (int i = 0; i < n; i++)
        disp[i] = (MPI_Aint)elements[i] * unit;
    return n;
}

static MPI_Datatype an_hindexed(MPI_Datatype old)
{
    int len[8], n;
    MPI_Aint disp[8];
    MPI_Datatype type;
    n = fill_bytes(few(8), len, disp);
    MPI_Type_create_hindexed(n, len, disp, old, &type);
    return type;
}

static MPI_Datatype an_hindexed_block(MPI_Datatype old)
{
    int len[8], n;
    MPI_Aint disp[8];
    MPI_Datatype type;
    n = fill_bytes(few(8), len, disp);
    MPI_Type_create_hindexed_block(n, few(3), disp, old, &type);
    return type;
}

static MPI_Datatype a_subarray(MPI_Datatype old)
{
    int n = 1 + (int)below(3), size[3], sub[3], start[3];
    for (int i = 0; i < n; i++) {
        size[i] = 1 + (int)below(5);
        sub[i] = 1 + (int)below(size[i]);
        start[i] = (int)below(size[i] - sub[i] + 1);
    }
    MPI_Datatype type;
    MPI_Type_create_subarray(n, size, sub, start, below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                             old, &type);
    return type;
}

static MPI_Datatype a_darray(MPI_Datatype old)
{
    int n = 1 + (int)below(3), size[3], distrib[3], darg[3], procs[3], all = 1;
    for (int i = 0; i < n; i++) {
        static const int kinds[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK,
                                    MPI_DISTRIBUTE_CYCLIC};
        size[i] = 1 + (int)below(9);
        distrib[i] = kinds[below(3)];
        procs[i] = distrib[i] == MPI_DISTRIBUTE_NONE ? 1 : 1 + (int)below(3);
        int least = (size[i] + procs[i] - 1) / procs[i];
        darg[i] = MPI_DISTRIBUTE_DFLT_DARG;
        if (distrib[i] == MPI_DISTRIBUTE_BLOCK && below(2))
            darg[i] = least + (int)below(2);
        if (distrib[i] == MPI_DISTRIBUTE_CYCLIC && below(2))
            darg[i] = 1 + (int)below(4);
        all *= procs[i];
    }
    MPI_Datatype type = MPI_DATATYPE_NULL; /* Open MPI makes none of an empty type */
    MPI_Type_create_darray(all, (int)below(all), n, size, distrib, darg, procs,
                           below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old, &type);
    return type;
}

static MPI_Datatype a_resized(MPI_Datatype old)
{
    MPI_Datatype type;
    MPI_Type_create_resized(old, around(12), below(80), &type);
    return type;
}

static MPI_Datatype a_dup(MPI_Datatype old)
{
    MPI_Datatype type;
    MPI_Type_dup(old, &type);
    return type;
}

#if MPI_VERSION >= 4
static MPI_Datatype a_large_vector(MPI_Datatype old)
{
    MPI_Datatype type;
    MPI_Type_vector_c(few(5), few(3), stride(6), old, &type);
    return type;
}

static MPI_Datatype a_large_hindexed(MPI_Datatype old)
{
    int len[8], n;
    MPI_Aint disp[8];
    MPI_Count large_len[8], large_disp[8];
    MPI_Datatype type;
    n = fill_bytes(few(8), len, disp);
    for (int i = 0; i < n; i++) {
        large_len[i] = len[i];
        large_disp[i] = disp[i];
    }
    MPI_Type_create_hindexed_c(n, large_len, large_disp, old, &type);
    return type;
}

static MPI_Datatype a_large_indexed_block(MPI_Datatype old)
{
    int len[8], disp[8], n = fill_blocks(few(8), len, disp);
    MPI_Count large[8];
    MPI_Datatype type;
    for (int i = 0; i < n; i++)
        large[i] = disp[i];
    MPI_Type_create_indexed_block_c(n, few(3), large, old, &type);
    return type;
}

static MPI_Datatype a_large_subarray(MPI_Datatype old)
{
    MPI_Count size[2], sub[2], start[2];
    for (int i = 0; i < 2; i++) {
        size[i] = 1 + below(6);
        sub[i] = 1 + below(size[i]);
        start[i] = below(size[i] - sub[i] + 1);
    }
    MPI_Datatype type;
    MPI_Type_create_subarray_c(2, size, sub, start, below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                               old, &type);
    return type;
}

static MPI_Datatype a_large_darray(MPI_Datatype old)
{
    MPI_Count size[2] = {1 + below(9), 1 + below(9)};
    int distrib[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    int darg[2] = {1 + (int)below(3), MPI_DISTRIBUTE_DFLT_DARG}, procs[2] = {2, 2};
    MPI_Datatype type;
    MPI_Type_create_darray_c(4, (int)below(4), 2, size, distrib, darg, procs, MPI_ORDER_C, old,
                             &type);
    return type;
}

static MPI_Datatype a_large_resized(MPI_Datatype old)
{
    MPI_Datatype type;
    MPI_Type_create_resized_c(old, around(12), below(80), &type);
    return type;
}
#endif

typedef MPI_Datatype constructor(MPI_Datatype old);

/* The first ones count in elements. */
static constructor *const constructors[] = {a_contiguous,
                                            a_vector,
                                            an_indexed,
                                            an_indexed_block,
                                            a_subarray,
                                            a_darray,
                                            a_dup,
#if MPI_VERSION >= 4
                                            a_large_vector,
                                            a_large_indexed_block,
                                            a_large_subarray,
                                            a_large_darray,
#endif
#define ELEMENTS (MPI_VERSION >= 4 ? 11 : 7)
#if MPI_VERSION >= 4
                                            a_large_hindexed,
                                            a_large_resized,
#endif
                                            a_hvector,
                                            an_hindexed,
                                            an_hindexed_block,
                                            a_resized};

/* Where bounds are compared, every member has explicit ones: MPICH joins them with those of
 * plain members, the standard lets them win. */
static MPI_Datatype struct_member(struct test_taste taste, int depth)
{
    MPI_Datatype type = test_type_random(taste, depth), resized;
    if (!taste.bytes_only)
        return type;
    resized = a_resized(type);
    test_type_free(&type);
    return resized;
}

static MPI_Datatype a_struct(struct test_taste taste, int depth)
{
    MPI_Datatype old[4], type;
    int len[8], n = few(4);
    MPI_Aint disp[8];
    for (int i = 0; i < n; i++)
        old[i] = struct_member(taste, depth - 1);
    fill_bytes(n, len, disp);
#if MPI_VERSION >= 4
    MPI_Count large_len[4], large_disp[4];
    for (int i = 0; i < n; i++) {
        large_len[i] = len[i];
        large_disp[i] = disp[i];
    }
    if (below(2))
        MPI_Type_create_struct_c(n, large_len, large_disp, old, &type);
    else
#endif
        MPI_Type_create_struct(n, len, disp, old, &type);
    for (int i = 0; i < n; i++)
        test_type_free(&old[i]);
    return type;
}

/* Small enough for the buffers of this test. */
static int fits(MPI_Datatype type, struct test_taste taste)
{
    MPI_Count size, lb, extent, true_lb, true_extent;
    MPI_Type_size_x(type, &size);
    MPI_Type_get_extent_x(type, &lb, &extent);
    MPI_Type_get_true_extent_x(type, &true_lb, &true_extent);
    return (size > 0 || taste.empties) && size <= TEST_TYPE_SIZE &&
           extent > -TEST_TYPE_REACH / 8 && extent < TEST_TYPE_REACH / 8 &&
           (size == 0 ||
            (true_lb > -TEST_TYPE_REACH / 2 && true_lb + true_extent < TEST_TYPE_REACH / 2));
}

MPI_Datatype test_type_random(struct test_taste taste, int depth)
{
    enum {
        ALL = sizeof constructors / sizeof *constructors
    };
    MPI_Datatype type;
    if (depth == 0 || below(10) == 0)
        return random_leaf(taste);
    if (!taste.elements_only && below(5) == 0)
        type = a_struct(taste, depth);
    else {
        MPI_Datatype old = test_type_random(taste, depth - 1);
        type = constructors[below(taste.elements_only ? ELEMENTS : ALL)](old);
        test_type_free(&old);
    }
    if (type == MPI_DATATYPE_NULL)
        return random_leaf(taste);
    if (fits(type, taste))
        return type;
    test_type_free(&type);
    return random_leaf(taste);
}

void test_type_show(MPI_Datatype type, int depth)
{
    int ni = 0, na = 0, nt = 0, combiner;
    char name[MPI_MAX_OBJECT_NAME];
#if MPI_VERSION >= 4
    MPI_Count ci, ca, cc, ct, counts[64];
    MPI_Type_get_envelope_c(type, &ci, &ca, &cc, &ct, &combiner);
    ni = (int)ci, na = (int)ca, nt = (int)ct;
#else
    MPI_Type_get_envelope(type, &ni, &na, &nt, &combiner);
#endif
    if (!test_type_derived(type)) {
        int len;
        MPI_Type_get_name(type, name, &len);
        fprintf(stderr, "%*s%s\n", depth, "", name);
        return;
    }
    int ints[64];
    MPI_Aint addrs[64];
    MPI_Datatype types[64];
#if MPI_VERSION >= 4
    MPI_Type_get_contents_c(type, ci, ca, cc, ct, ints, addrs, counts, types);
#else
    MPI_Type_get_contents(type, ni, na, nt, ints, addrs, types);
#endif
    fprintf(stderr, "%*scombiner %d:", depth, "", combiner);
    for (int i = 0; i < ni; i++)
        fprintf(stderr, " %d", ints[i]);
    for (int i = 0; i < na; i++)
        fprintf(stderr, " %ld", (long)addrs[i]);
#if MPI_VERSION >= 4
    for (int i = 0; i < cc; i++)
        fprintf(stderr, " %ld", (long)counts[i]);
#endif
    fputc('\n', stderr);
    for (int i = 0; i < nt; i++) {
        test_type_show(types[i], depth + 2);
        test_type_free(&types[i]);
    }
}
