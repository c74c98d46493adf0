/* The table of named types. Sizes in external32 are those of MPI 3.1, section 13.5.2. */
#include "type/leaf.h"

#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <wchar.h>

#include "type/contents.h"

struct entry {
    MPI_Datatype type;
    struct brio_member member[2];
};

/* The C compiler's long double, which is not the Fortran REAL*16. */
#if LDBL_MANT_DIG == 64
#define LONG_DOUBLE BRIO_KIND_EXTENDED
#else
#define LONG_DOUBLE BRIO_KIND_FLOAT
#endif

#define ONE(type, kind, mem, file)                                                             \
    {                                                                                          \
        type,                                                                                  \
        {                                                                                      \
            {                                                                                  \
                kind, mem, file, 1, 0                                                          \
            }                                                                                  \
        }                                                                                      \
    }
#define TWO(type, kind, mem)                                                                   \
    {                                                                                          \
        type,                                                                                  \
        {                                                                                      \
            {                                                                                  \
                kind, mem, mem, 2, 0                                                           \
            }                                                                                  \
        }                                                                                      \
    }
#define PAIR(type, kind, ctype, file)                                                          \
    {                                                                                          \
        type,                                                                                  \
        {                                                                                      \
            {kind, sizeof(ctype), file, 1, 0},                                                 \
            {                                                                                  \
                BRIO_KIND_INT, sizeof(int), 4, 1,                                              \
                    offsetof(                                                                  \
                        struct {                                                               \
                            ctype a;                                                           \
                            int b;                                                             \
                        },                                                                     \
                        b)                                                                     \
            }                                                                                  \
        }                                                                                      \
    }

static const struct entry table[] = {
    ONE(MPI_BYTE, BRIO_KIND_BYTE, 1, 1),
    ONE(MPI_PACKED, BRIO_KIND_BYTE, 1, 1),
    ONE(MPI_CHAR, BRIO_KIND_BYTE, 1, 1),
    ONE(MPI_SIGNED_CHAR, BRIO_KIND_BYTE, 1, 1),
    ONE(MPI_UNSIGNED_CHAR, BRIO_KIND_BYTE, 1, 1),
    ONE(MPI_CHARACTER, BRIO_KIND_BYTE, 1, 1),
    ONE(MPI_WCHAR, BRIO_KIND_UINT, sizeof(wchar_t), 2),
    ONE(MPI_SHORT, BRIO_KIND_INT, sizeof(short), 2),
    ONE(MPI_UNSIGNED_SHORT, BRIO_KIND_UINT, sizeof(short), 2),
    ONE(MPI_INT, BRIO_KIND_INT, sizeof(int), 4),
    ONE(MPI_UNSIGNED, BRIO_KIND_UINT, sizeof(int), 4),
    ONE(MPI_LONG, BRIO_KIND_INT, sizeof(long), 4),
    ONE(MPI_UNSIGNED_LONG, BRIO_KIND_UINT, sizeof(long), 4),
    ONE(MPI_LONG_LONG, BRIO_KIND_INT, sizeof(long long), 8),
    ONE(MPI_UNSIGNED_LONG_LONG, BRIO_KIND_UINT, sizeof(long long), 8),
    ONE(MPI_FLOAT, BRIO_KIND_FLOAT, sizeof(float), 4),
    ONE(MPI_DOUBLE, BRIO_KIND_FLOAT, sizeof(double), 8),
    ONE(MPI_LONG_DOUBLE, LONG_DOUBLE, sizeof(long double), 16),
    ONE(MPI_INT8_T, BRIO_KIND_BYTE, 1, 1),
    ONE(MPI_INT16_T, BRIO_KIND_INT, 2, 2),
    ONE(MPI_INT32_T, BRIO_KIND_INT, 4, 4),
    ONE(MPI_INT64_T, BRIO_KIND_INT, 8, 8),
    ONE(MPI_UINT8_T, BRIO_KIND_BYTE, 1, 1),
    ONE(MPI_UINT16_T, BRIO_KIND_UINT, 2, 2),
    ONE(MPI_UINT32_T, BRIO_KIND_UINT, 4, 4),
    ONE(MPI_UINT64_T, BRIO_KIND_UINT, 8, 8),
    ONE(MPI_AINT, BRIO_KIND_INT, sizeof(MPI_Aint), 8),
    ONE(MPI_OFFSET, BRIO_KIND_INT, sizeof(MPI_Offset), 8),
    ONE(MPI_COUNT, BRIO_KIND_INT, sizeof(MPI_Count), 8),
    ONE(MPI_C_BOOL, BRIO_KIND_LOGICAL, sizeof(_Bool), 1),
    TWO(MPI_C_FLOAT_COMPLEX, BRIO_KIND_FLOAT, 4),
    TWO(MPI_C_DOUBLE_COMPLEX, BRIO_KIND_FLOAT, 8),
    TWO(MPI_C_LONG_DOUBLE_COMPLEX, LONG_DOUBLE, 16),
    ONE(MPI_CXX_BOOL, BRIO_KIND_LOGICAL, 1, 1),
    TWO(MPI_CXX_FLOAT_COMPLEX, BRIO_KIND_FLOAT, 4),
    TWO(MPI_CXX_DOUBLE_COMPLEX, BRIO_KIND_FLOAT, 8),
    TWO(MPI_CXX_LONG_DOUBLE_COMPLEX, LONG_DOUBLE, 16),
    PAIR(MPI_FLOAT_INT, BRIO_KIND_FLOAT, float, 4),
    PAIR(MPI_DOUBLE_INT, BRIO_KIND_FLOAT, double, 8),
    PAIR(MPI_LONG_INT, BRIO_KIND_INT, long, 4),
    PAIR(MPI_SHORT_INT, BRIO_KIND_INT, short, 2),
    PAIR(MPI_LONG_DOUBLE_INT, LONG_DOUBLE, long double, 16),
    PAIR(MPI_2INT, BRIO_KIND_INT, int, 4),
    ONE(MPI_LOGICAL, BRIO_KIND_LOGICAL, 4, 4),
    ONE(MPI_INTEGER, BRIO_KIND_INT, 4, 4),
    ONE(MPI_REAL, BRIO_KIND_FLOAT, 4, 4),
    ONE(MPI_DOUBLE_PRECISION, BRIO_KIND_FLOAT, 8, 8),
    TWO(MPI_COMPLEX, BRIO_KIND_FLOAT, 4),
    TWO(MPI_DOUBLE_COMPLEX, BRIO_KIND_FLOAT, 8),
    TWO(MPI_2INTEGER, BRIO_KIND_INT, 4),
    TWO(MPI_2REAL, BRIO_KIND_FLOAT, 4),
    TWO(MPI_2DOUBLE_PRECISION, BRIO_KIND_FLOAT, 8),
    ONE(MPI_INTEGER1, BRIO_KIND_BYTE, 1, 1),
    ONE(MPI_INTEGER2, BRIO_KIND_INT, 2, 2),
    ONE(MPI_INTEGER4, BRIO_KIND_INT, 4, 4),
    ONE(MPI_INTEGER8, BRIO_KIND_INT, 8, 8),
    ONE(MPI_REAL4, BRIO_KIND_FLOAT, 4, 4),
    ONE(MPI_REAL8, BRIO_KIND_FLOAT, 8, 8),
    ONE(MPI_REAL16, BRIO_KIND_FLOAT, 16, 16),
    TWO(MPI_COMPLEX8, BRIO_KIND_FLOAT, 4),
    TWO(MPI_COMPLEX16, BRIO_KIND_FLOAT, 8),
    TWO(MPI_COMPLEX32, BRIO_KIND_FLOAT, 16),
};

/* Types that not every MPI declares, by name and by what they are made of. */
struct named {
    const char *name;
    struct brio_member member;
};

static const struct named others[] = {
    {"MPI_LOGICAL1", {BRIO_KIND_LOGICAL, 1, 1, 1, 0}},
    {"MPI_LOGICAL2", {BRIO_KIND_LOGICAL, 2, 2, 1, 0}},
    {"MPI_LOGICAL4", {BRIO_KIND_LOGICAL, 4, 4, 1, 0}},
    {"MPI_LOGICAL8", {BRIO_KIND_LOGICAL, 8, 8, 1, 0}},
    {"MPI_INTEGER16", {BRIO_KIND_INT, 16, 16, 1, 0}},
    {"MPI_REAL2", {BRIO_KIND_FLOAT, 2, 2, 1, 0}},
    {"MPIX_C_FLOAT16", {BRIO_KIND_FLOAT, 2, 2, 1, 0}},
    {"MPIX_SHORT_FLOAT", {BRIO_KIND_FLOAT, 2, 2, 1, 0}},
    {"MPI_COMPLEX4", {BRIO_KIND_FLOAT, 2, 2, 2, 0}},
    {"MPI_2COMPLEX", {BRIO_KIND_FLOAT, 4, 4, 4, 0}},
    {"MPI_2DOUBLE_COMPLEX", {BRIO_KIND_FLOAT, 8, 8, 4, 0}},
};

int brio_leaf_mem_size(const struct brio_leaf *leaf)
{
    const struct brio_member *m = leaf->member;
    return m[0].mem * m[0].count + m[1].mem * m[1].count;
}

/* A type that is in no table: plain bytes, as many as MPI says. */
static BRIO_ERR unknown(MPI_Count size, struct brio_leaf *out)
{
    if (size < 0 || size > UCHAR_MAX)
        return brio_fail(BRIO_ETYPE, "named datatype of %lld bytes", (long long)size);
    *out = (struct brio_leaf){.member = {{BRIO_KIND_BYTE, 1, 1, (unsigned char)size, 0}}};
    return BRIO_OK;
}

/* A type without a constant in mpi.h: by the name MPI itself gives it. */
static BRIO_ERR by_name(MPI_Datatype type, MPI_Count size, struct brio_leaf *out)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int len;
    if (PMPI_Type_get_name(type, name, &len) != MPI_SUCCESS)
        name[0] = '\0';
    if (size == 0) {
        *out = (struct brio_leaf){.marker = strcmp(name, "MPI_LB") == 0   ? -1
                                            : strcmp(name, "MPI_UB") == 0 ? 1
                                                                          : 0};
        return BRIO_OK;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct brio_leaf leaf = {.member = {others[i].member}};
        if (strcmp(name, others[i].name) == 0 && brio_leaf_mem_size(&leaf) == size) {
            *out = leaf;
            return BRIO_OK;
        }
    }
    return unknown(size, out);
}

static BRIO_ERR find_named(MPI_Datatype type, MPI_Count size, struct brio_leaf *out)
{
    if (type == MPI_DATATYPE_NULL)
        return brio_fail(BRIO_ETYPE, "null datatype");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct brio_leaf leaf = {.member = {table[i].member[0], table[i].member[1]}};
        if (table[i].type == type && brio_leaf_mem_size(&leaf) == size) {
            *out = leaf;
            return BRIO_OK;
        }
    }
    return by_name(type, size, out);
}

/* gfortran keeps 16 to 18 digits in the x87 format, more in binary128; both take 16 bytes. */
static BRIO_ERR find_f90(MPI_Datatype type, MPI_Count size, struct brio_leaf *out)
{
    struct brio_contents c;
    enum brio_err err = brio_contents_get(type, &c);
    if (err)
        return err;
    int digits = c.nints ? c.ints[0] : 0;
    int combiner = c.combiner;
    brio_contents_free(&c);
    unsigned char n = combiner == MPI_COMBINER_F90_COMPLEX ? 2 : 1;
    unsigned char kind = combiner == MPI_COMBINER_F90_INTEGER ? BRIO_KIND_INT : BRIO_KIND_FLOAT;
    if (size <= 0 || size / n > 16)
        return unknown(size, out);
    unsigned char each = (unsigned char)(size / n);
    if (kind == BRIO_KIND_FLOAT && each == 16 && digits > 15 && digits <= 18)
        kind = LONG_DOUBLE;
    if (each == 1)
        kind = BRIO_KIND_BYTE;
    *out = (struct brio_leaf){.member = {{kind, each, each, n, 0}}};
    return BRIO_OK;
}

BRIO_ERR brio_leaf_get(MPI_Datatype type, struct brio_leaf *out)
{
    MPI_Count size;
    int combiner;
    enum brio_err err = brio_combiner_of(type, &combiner);
    if (err)
        return err;
    if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS)
        return brio_fail(BRIO_ETYPE, "MPI_Type_size_x refuses the datatype");
    if (combiner == MPI_COMBINER_NAMED)
        return find_named(type, size, out);
    return find_f90(type, size, out);
}

brio_off brio_leaf_file_size(const struct brio_leaf *leaf)
{
    const struct brio_member *m = leaf->member;
    return m[0].file * m[0].count + m[1].file * m[1].count;
}

BRIO_ERR brio_leaf_node(const struct brio_leaf *leaf, bool typed, struct brio_node **out)
{
    struct brio_node *node[2];
    brio_off at[2];
    size_t n = 0;
    for (int i = 0; i < 2; i++) {
        const struct brio_member *m = &leaf->member[i];
        int tag = typed ? brio_kind_make(m->kind, m->mem, m->file) : 0;
        enum brio_err err = brio_node_bytes(m->mem, tag, &node[n]);
        if (!err)
            err = brio_node_loop(node[n], m->count, m->mem, &node[n]);
        if (err) {
            if (n > 0)
                brio_node_unref(node[0]);
            return err;
        }
        at[n++] = m->at;
    }
    return brio_node_list(n, node, at, out);
}
