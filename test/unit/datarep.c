/* Data representations: external32 by known bytes, against the compiler's own binary128 and
 * against Open MPI's MPI_Pack_external where it keeps to the standard; user-defined ones by
 * conversion functions that keep a record. */
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <wchar.h>

#include "check.h"

#include "type/datarep.h"
#include "type/external32.h"
#include "type/flatten.h"
#include "type/pack.h"

static const struct brio_datarep *rep_of(const char *name)
{
    const struct brio_datarep *rep = NULL;
    CHECK(!brio_datarep_find(name, &rep), "%s: %s", name, brio_err_text());
    return rep;
}

/* ---- external32, byte by byte ------------------------------------------------------- */

/* One value of a named type: its bytes in the file, and back. */
static void check_value(const char *what, MPI_Datatype type, const void *value, size_t size,
                        const char *file, brio_off file_size)
{
    const struct brio_datarep *rep = rep_of("external32");
    unsigned char bytes[64], back[64] = {0};
    brio_off got = -1;
    CHECK(!brio_datarep_size(rep, type, &got) && got == file_size, "%s: size %ld", what,
          (long)got);
    CHECK(!brio_datarep_extent(rep, type, &got) && got == file_size, "%s: extent %ld", what,
          (long)got);
    memset(bytes, 0x5a, sizeof bytes);
    CHECK(!brio_datarep_encode(rep, value, type, 1, bytes), "%s: %s", what, brio_err_text());
    CHECK(memcmp(bytes, file, (size_t)file_size) == 0, "%s: wrong bytes", what);
    CHECK(bytes[file_size] == 0x5a, "%s: too many bytes", what);
    got = file_size;
    CHECK(!brio_datarep_decode(rep, back, type, 1, bytes, &got), "%s: %s", what,
          brio_err_text());
    CHECK(memcmp(back, value, size) == 0, "%s: not the same value", what);
}

#define VALUE(type, ctype, v, file)                                                            \
    check_value(#type, type, &(ctype){v}, sizeof(ctype), file, sizeof file - 1)

static void known_integers(void)
{
    VALUE(MPI_CHAR, char, 'A', "A");
    VALUE(MPI_BYTE, unsigned char, 0xfe, "\xfe");
    VALUE(MPI_SIGNED_CHAR, signed char, -2, "\xfe");
    VALUE(MPI_SHORT, short, -2, "\xff\xfe");
    VALUE(MPI_UNSIGNED_SHORT, unsigned short, 0x1234, "\x12\x34");
    VALUE(MPI_INT, int, 0x01020304, "\1\2\3\4");
    VALUE(MPI_UNSIGNED, unsigned, 0xfffefdfc, "\xff\xfe\xfd\xfc");
    VALUE(MPI_LONG, long, -2, "\xff\xff\xff\xfe");
    VALUE(MPI_LONG, long, INT_MAX, "\x7f\xff\xff\xff");
    VALUE(MPI_LONG, long, INT_MIN, "\x80\0\0\0");
    VALUE(MPI_UNSIGNED_LONG, unsigned long, UINT_MAX, "\xff\xff\xff\xff");
    VALUE(MPI_LONG_LONG, long long, 0x0102030405060708, "\1\2\3\4\5\6\7\x08");
    VALUE(MPI_UNSIGNED_LONG_LONG, unsigned long long, 1, "\0\0\0\0\0\0\0\1");
    VALUE(MPI_WCHAR, wchar_t, 0x20ac, "\x20\xac");
    VALUE(MPI_INT8_T, int8_t, -1, "\xff");
    VALUE(MPI_INT16_T, int16_t, 258, "\1\2");
    VALUE(MPI_INT32_T, int32_t, 258, "\0\0\1\2");
    VALUE(MPI_INT64_T, int64_t, 258, "\0\0\0\0\0\0\1\2");
    VALUE(MPI_UINT16_T, uint16_t, 0xff00, "\xff\0");
    VALUE(MPI_UINT64_T, uint64_t, 5, "\0\0\0\0\0\0\0\5");
    VALUE(MPI_AINT, MPI_Aint, 7, "\0\0\0\0\0\0\0\7");
    VALUE(MPI_OFFSET, MPI_Offset, 7, "\0\0\0\0\0\0\0\7");
    VALUE(MPI_COUNT, MPI_Count, 7, "\0\0\0\0\0\0\0\7");
    VALUE(MPI_C_BOOL, _Bool, 1, "\1");
    VALUE(MPI_CXX_BOOL, _Bool, 1, "\1");
    VALUE(MPI_CHARACTER, char, 'z', "z");
    VALUE(MPI_LOGICAL, int, 1, "\0\0\0\1");
    VALUE(MPI_INTEGER, int, 0x01020304, "\1\2\3\4");
    VALUE(MPI_INTEGER1, int8_t, 1, "\1");
    VALUE(MPI_INTEGER2, int16_t, 258, "\1\2");
    VALUE(MPI_INTEGER8, int64_t, 258, "\0\0\0\0\0\0\1\2");
}

static void known_reals(void)
{
    VALUE(MPI_FLOAT, float, 1.0f, "\x3f\x80\0\0");
    VALUE(MPI_DOUBLE, double, -2.5, "\xc0\x04\0\0\0\0\0\0");
    /* Only ten bytes of a long double are its value. */
    check_value("LONG_DOUBLE", MPI_LONG_DOUBLE, &(long double){1.0L}, 10,
                "\x3f\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    VALUE(MPI_REAL, float, 1.0f, "\x3f\x80\0\0");
    VALUE(MPI_DOUBLE_PRECISION, double, 1.0, "\x3f\xf0\0\0\0\0\0\0");
    VALUE(MPI_REAL4, float, 2.0f, "\x40\0\0\0");
    VALUE(MPI_REAL8, double, 1.0, "\x3f\xf0\0\0\0\0\0\0");
    VALUE(MPI_REAL16, __float128, 1.0, "\x3f\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    VALUE(MPI_C_FLOAT_COMPLEX, _Complex float, 1.0f + 2.0f * 1.0if, "\x3f\x80\0\0\x40\0\0\0");
    VALUE(MPI_DOUBLE_COMPLEX, _Complex double, 1.0, "\x3f\xf0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    CHECK(sizeof(long double) == 16, "long double of %zu bytes", sizeof(long double));
}

struct float_int {
    float a;
    int b;
};
struct double_int {
    double a;
    int b;
};
struct long_int {
    long a;
    int b;
};
struct short_int {
    short a;
    int b;
};
struct long_double_int {
    long double a;
    int b;
};

/* Pairs are packed in the file; their holes in memory keep what is in them. */
static void known_pairs(void)
{
    struct double_int d = {1.0, 5};
    struct short_int s = {258, 5};
    struct long_int l = {-3, 5};
    struct float_int f = {1.0f, 5};
    struct long_double_int x;
    unsigned char hole[sizeof x];
    memset(&x, 0, sizeof x);
    x.a = 1.0L, x.b = 5;
    check_value("FLOAT_INT", MPI_FLOAT_INT, &f, 8, "\x3f\x80\0\0\0\0\0\5", 8);
    check_value("DOUBLE_INT", MPI_DOUBLE_INT, &d, 12, "\x3f\xf0\0\0\0\0\0\0\0\0\0\5", 12);
    check_value("LONG_INT", MPI_LONG_INT, &l, 12, "\xff\xff\xff\xfd\0\0\0\5", 8);
    check_value("SHORT_INT", MPI_SHORT_INT, &s, 2, "\1\2\0\0\0\5", 6);
    check_value("LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, &x, 10,
                "\x3f\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5", 20);
    check_value("2INT", MPI_2INT, &(int[2]){1, 2}, 8, "\0\0\0\1\0\0\0\2", 8);
    check_value("2REAL", MPI_2REAL, &(float[2]){1, 2}, 8, "\x3f\x80\0\0\x40\0\0\0", 8);
    memset(hole, 0x77, sizeof hole);
    brio_off got = 6;
    CHECK(!brio_datarep_decode(rep_of("external32"), hole, MPI_SHORT_INT, 1, "\1\2\0\0\0\5",
                               &got) &&
              got == 6,
          "%ld bytes", (long)got);
    CHECK(hole[2] == 0x77 && hole[3] == 0x77 && hole[4] == 5, "the hole was written to");
}

static void misfits(void)
{
    const struct brio_datarep *rep = rep_of("external32");
    unsigned char file[64];
    CHECK(brio_datarep_encode(rep, &(long){INT_MAX + 1L}, MPI_LONG, 1, file) == BRIO_ECONV,
          "2^31 was cut");
    CHECK(strstr(brio_err_text(), "2147483648") != NULL, "says: %s", brio_err_text());
    CHECK(brio_datarep_encode(rep, &(long){INT_MIN - 1L}, MPI_LONG, 1, file) == BRIO_ECONV,
          "-2^31-1 was cut");
    CHECK(brio_datarep_encode(rep, &(unsigned long){UINT_MAX + 1UL}, MPI_UNSIGNED_LONG, 1,
                              file) == BRIO_ECONV,
          "2^32 was cut");
    CHECK(brio_datarep_encode(rep, &(wchar_t){0x1f600}, MPI_WCHAR, 1, file) == BRIO_ECONV,
          "a character beyond 2 bytes was cut");
}

/* ---- x87 extended and binary128 ----------------------------------------------------- */

static void reverse(unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        unsigned char c = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = c;
    }
}

/* A long double of any kind: normal, tiny, subnormal, zero. */
static long double random_extended(void)
{
    uint64_t sig = test_random();
    uint16_t head = (uint16_t)test_random();
    long double x = 0;
    switch (test_below(4)) {
    case 0:
        sig = test_random() >> test_below(64) & INT64_MAX; /* subnormal */
        head &= 0x8000;
        break;
    case 1:
        head = (uint16_t)((head & 0x8000) | (1 + test_below(3)));
        sig |= UINT64_C(1) << 63;
        break;
    default:
        if ((head & 0x7fff) == 0 || (head & 0x7fff) == 0x7fff)
            head ^= 0x0100;
        sig |= UINT64_C(1) << 63;
    }
    memcpy(&x, &sig, 8);
    memcpy((char *)&x + 8, &head, 2);
    return x;
}

static void extended_exact(void)
{
    for (int i = 0; i < 200000 && !test_failed; i++) {
        long double x = random_extended(), back = 0;
        __float128 q = x;
        unsigned char want[16], got[16];
        memcpy(want, &q, 16);
        reverse(want, 16);
        brio_extended_to_quad((unsigned char *)&x, got);
        CHECK(memcmp(want, got, 16) == 0, "%La becomes something else", x);
        brio_quad_to_extended(got, (unsigned char *)&back);
        CHECK(memcmp(&x, &back, 10) == 0, "%La comes back as %La", x, back);
    }
}

/* Any binary128, rounded as the compiler rounds it. */
static void quad_rounded(void)
{
    for (int i = 0; i < 200000 && !test_failed; i++) {
        uint64_t word[2] = {test_random(), test_random()};
        if (test_below(3) == 0) /* halfway, or one beside it */
            word[0] = (word[0] >> 49 << 49) + (UINT64_C(1) << 48) + (uint64_t)test_below(3) - 1;
        if (test_below(4) == 0) /* subnormal or close to it */
            word[1] = (word[1] & UINT64_C(0x8000ffffffffffff)) | (uint64_t)test_below(2) << 48;
        if (test_below(8) == 0) /* carries over */
            word[1] |= UINT64_C(0xffffffffffff), word[0] |= UINT64_C(0xfffe000000000000);
        if ((word[1] >> 48 & 0x7fff) == 0x7fff)
            continue;
        __float128 q;
        memcpy(&q, word, 16);
        long double want = (long double)q, got;
        unsigned char file[16];
        memcpy(file, word, 16);
        reverse(file, 16);
        brio_quad_to_extended(file, (unsigned char *)&got);
        CHECK(memcmp(&want, &got, 10) == 0, "%016llx%016llx: %La, not %La",
              (unsigned long long)word[1], (unsigned long long)word[0], got, want);
    }
}

static void special_numbers(void)
{
    unsigned char file[16];
    long double back;
    static const long double numbers[] = {0.0L, -0.0L, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        brio_extended_to_quad((const unsigned char *)&numbers[i], file);
        brio_quad_to_extended(file, (unsigned char *)&back);
        CHECK(memcmp(&back, &numbers[i], 10) == 0, "%Lf comes back as %Lf", numbers[i], back);
    }
    long double nan = NAN;
    brio_extended_to_quad((const unsigned char *)&nan, file);
    CHECK(file[0] == 0x7f && file[1] == 0xff && (file[2] & 0x80), "not a quiet NaN");
    brio_quad_to_extended(file, (unsigned char *)&back);
    CHECK(isnan(back), "NaN comes back as %Lf", back);
    memset(file, 0, sizeof file);
    file[0] = 0x7f, file[1] = 0xff, file[15] = 1;
    brio_quad_to_extended(file, (unsigned char *)&back);
    CHECK(isnan(back), "a NaN of few bits comes back as %Lf", back);
}

/* ---- external32 of derived types ---------------------------------------------------- */

static MPI_Datatype derived(MPI_Datatype old, int which)
{
    MPI_Datatype type, part[2] = {old, MPI_SHORT};
    int len[4] = {1, 3, 2, 1}, disp[4] = {0, 2, 6, 9};
    switch (which) {
    case 0:
        MPI_Type_vector(5, 2, 3, old, &type);
        break;
    case 1:
        MPI_Type_indexed(4, len, disp, old, &type);
        break;
    case 2:
        MPI_Type_create_struct(2, (int[]){2, 3}, (MPI_Aint[]){4, 100}, part, &type);
        break;
    case 3:
        MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){2, 3}, (int[]){1, 1},
                                 MPI_ORDER_FORTRAN, old, &type);
        break;
    default:
        MPI_Type_contiguous(7, old, &type);
    }
    MPI_Type_commit(&type);
    return type;
}

static unsigned char memory[4096], again[4096], file[4096], packed[4096];

/* Reverses n elements of `size` bytes; returns where the next one is. */
static unsigned char *reverse_each(unsigned char *p, int n, int size)
{
    for (; n > 0; n--, p += size)
        reverse(p, (size_t)size);
    return p;
}

/* What MPI_Pack makes of three items, each element turned round. */
static int pack_reversed(MPI_Datatype type, MPI_Datatype leaf, int which)
{
    int place = 0, size;
    MPI_Type_size(leaf, &size);
    MPI_Pack(memory, 3, type, packed, sizeof packed, &place, MPI_COMM_SELF);
    if (which != 2) {
        reverse_each(packed, place / size, size);
        return place;
    }
    unsigned char *p = packed;
    for (int i = 0; i < 3; i++)
        p = reverse_each(reverse_each(p, 2, size), 3, 2);
    return place;
}

/* Derived types there and back; MPICH 4.0 dies in MPI_Pack_external of a vector. */
static void derived_types(void)
{
    static const MPI_Datatype leaves[] = {MPI_INT, MPI_DOUBLE, MPI_SHORT, MPI_FLOAT, MPI_CHAR};
    const struct brio_datarep *rep = rep_of("external32");
    for (int i = 0; i < 25; i++) {
        MPI_Datatype type = derived(leaves[i % 5], i / 5);
        brio_off size, moved;
        struct brio_map *map;
        int place = pack_reversed(type, leaves[i % 5], i / 5);
        REQUIRE(!brio_datarep_size(rep, type, &size) && !brio_flatten(type, &map), "%s",
                brio_err_text());
        CHECK(3 * size == place, "%d: %ld bytes, not %d", i, (long)(3 * size), place);
        memset(file, 0, sizeof file);
        CHECK(!brio_datarep_encode(rep, memory, type, 3, file), "%s", brio_err_text());
        CHECK(memcmp(file, packed, (size_t)place) == 0, "%d: bytes differ", i);
#ifdef OPEN_MPI
        MPI_Aint end = 0;
        MPI_Pack_external("external32", memory, 3, type, packed, sizeof packed, &end);
        CHECK(memcmp(file, packed, (size_t)end) == 0, "%d: not what Open MPI makes", i);
#endif
        memset(again, 0, sizeof again);
        moved = 3 * size;
        CHECK(!brio_datarep_decode(rep, again, type, 3, file, &moved), "%s", brio_err_text());
        CHECK(moved == 3 * map->size, "%d: %ld bytes came back", i, (long)moved);
        brio_pack(file, map, memory, 0, moved);
        brio_pack(packed, map, again, 0, moved);
        CHECK(memcmp(file, packed, (size_t)moved) == 0, "%d: other bytes came back", i);
        brio_map_unref(map);
        MPI_Type_free(&type);
    }
}

/* The end of the file in the middle: only whole elements are decoded. */
static void cut_short(void)
{
    const struct brio_datarep *rep = rep_of("external32");
    MPI_Datatype type = derived(MPI_LONG, 0);
    long value[60], back[60];
    for (int i = 0; i < 60; i++)
        value[i] = i - 30;
    CHECK(!brio_datarep_encode(rep, value, type, 2, file), "%s", brio_err_text());
    for (brio_off bytes = 0; bytes <= 80; bytes++) {
        brio_off moved = bytes;
        memset(back, 0x11, sizeof back);
        CHECK(!brio_datarep_decode(rep, back, type, 2, file, &moved), "%s", brio_err_text());
        CHECK(moved == bytes / 4 * 8, "%ld file bytes make %ld", (long)bytes, (long)moved);
        long n = (long)bytes / 4;
        for (int i = 0, k = 0; i < 28; i++) {
            /* Blocks of 2 every 3, 14 to the next item. */
            int in = i % 14 % 3 < 2, want = in && k++ < n;
            long untouched = 0x1111111111111111;
            CHECK(back[i] == (want ? value[i] : untouched), "%ld bytes: element %d",
                  (long)bytes, i);
        }
    }
    MPI_Type_free(&type);
}

/* A filetype in the file: strides counted in elements follow the file's sizes. */
static void file_maps(void)
{
    const struct brio_datarep *rep = rep_of("external32");
    MPI_Datatype type;
    struct brio_map *map;
    brio_off got;
    MPI_Type_vector(3, 1, 2, MPI_LONG, &type);
    REQUIRE(!brio_datarep_map(rep, type, &map), "%s", brio_err_text());
    CHECK(map->size == 12 && map->extent == 20 && brio_map_offset(map, 4) == 8,
          "size %ld extent %ld", (long)map->size, (long)map->extent);
    brio_map_unref(map);
    CHECK(!brio_datarep_extent(rep_of("native"), type, &got) && got == 40, "native %ld",
          (long)got);
    CHECK(!brio_datarep_extent(rep_of("internal"), type, &got) && got == 40, "internal %ld",
          (long)got);
    MPI_Type_free(&type);
    CHECK(!brio_datarep_extent(rep, MPI_DOUBLE_INT, &got) && got == 12, "pair %ld", (long)got);
    CHECK(brio_datarep_is_native(rep_of("internal")) && !brio_datarep_is_native(rep), "native");
}

/* ---- User-defined ------------------------------------------------------------------- */

/* What the functions below were called with. */
static struct {
    int calls, count[4];
    MPI_Offset position[4];
    void *userbuf[4], *filebuf[4];
    int fail;
} seen;

static int note(void *userbuf, int count, void *filebuf, MPI_Offset position)
{
    if (seen.calls < 4) {
        seen.count[seen.calls] = count;
        seen.position[seen.calls] = position;
        seen.userbuf[seen.calls] = userbuf;
        seen.filebuf[seen.calls] = filebuf;
    }
    seen.calls++;
    return seen.fail ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* Ints become text of eight digits. */
static int text_write(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                      MPI_Offset position, void *extra)
{
    (void)type, (void)extra;
    int rc = note(userbuf, count, filebuf, position);
    char digits[16];
    for (int i = 0; i < count && !rc; i++) {
        snprintf(digits, sizeof digits, "%08d", ((int *)userbuf)[position + i]);
        memcpy((char *)filebuf + 8 * i, digits, 8);
    }
    return rc;
}

static int text_read(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                     MPI_Offset position, void *extra)
{
    (void)type, (void)extra;
    int rc = note(userbuf, count, filebuf, position);
    char digits[16] = "";
    for (int i = 0; i < count && !rc; i++) {
        memcpy(digits, (char *)filebuf + 8 * i, 8);
        ((int *)userbuf)[position + i] = atoi(digits);
    }
    return rc;
}

static int only_note(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                     MPI_Offset position, void *extra)
{
    (void)type, (void)extra;
    return note(userbuf, count, filebuf, position);
}

static int large_note(void *userbuf, MPI_Datatype type, MPI_Count count, void *filebuf,
                      MPI_Offset position, void *extra)
{
    (void)type, (void)extra;
    return note(userbuf, count > INT_MAX ? -1 : (int)count, filebuf, position);
}

static int text_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    int size;
    MPI_Type_size(type, &size);
    *extent = size * *(int *)extra;
    return seen.fail ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void user_defined(void)
{
    static int twice = 2;
    struct brio_datarep_fns fns = {
        .read = text_read, .write = text_write, .extent = text_extent, .extra = &twice};
    int value[4] = {1, 22, 333, -4444}, back[4] = {0};
    brio_off got = 0;
    REQUIRE(!brio_datarep_register("text", &fns), "%s", brio_err_text());
    CHECK(brio_datarep_register("text", &fns) == BRIO_EDUPREP, "registered twice");
    const struct brio_datarep *rep = rep_of("text");
    CHECK(strcmp(brio_datarep_name(rep), "text") == 0 && !brio_datarep_is_native(rep), "name");
    CHECK(!brio_datarep_size(rep, MPI_INT, &got) && got == 8, "size %ld", (long)got);
    CHECK(!brio_datarep_extent(rep, MPI_DOUBLE_INT, &got) && got == 24, "extent %ld",
          (long)got);
    memset(&seen, 0, sizeof seen);
    CHECK(!brio_datarep_encode(rep, value, MPI_INT, 4, file), "%s", brio_err_text());
    CHECK(memcmp(file, "000000010000002200000333-0004444", 32) == 0, "%.32s", file);
    CHECK(seen.calls == 1 && seen.count[0] == 4 && seen.position[0] == 0, "calls");
    got = 32;
    CHECK(!brio_datarep_decode(rep, back, MPI_INT, 4, file, &got) && got == 16, "%ld",
          (long)got);
    CHECK(memcmp(value, back, sizeof value) == 0, "other values came back");
    /* Two elements and a half: two. */
    memset(back, 0, sizeof back);
    got = 20;
    CHECK(!brio_datarep_decode(rep, back, MPI_INT, 4, file, &got) && got == 8, "%ld",
          (long)got);
    CHECK(back[1] == 22 && back[2] == 0, "half an element was converted");
    seen.fail = 1;
    CHECK(brio_datarep_encode(rep, value, MPI_INT, 4, file) == BRIO_ECONV, "extent failed");
    struct brio_map *map;
    CHECK(brio_datarep_map(rep, MPI_INT, &map) == BRIO_ECONV, "extent failed in map");
    seen.fail = 0;
}

/* count and position are of the named types in the signature, whole ones only. */
static void user_elements(void)
{
    static int twice = 2;
    struct brio_datarep_fns fns = {
        .read = only_note, .write = only_note, .extent = text_extent, .extra = &twice};
    MPI_Datatype parts[2] = {MPI_DOUBLE_INT, MPI_SHORT}, type;
    MPI_Type_create_struct(2, (int[]){2, 3}, (MPI_Aint[]){0, 40}, parts, &type);
    memset(&seen, 0, sizeof seen);
    REQUIRE(!brio_datarep_register("elements", &fns), "%s", brio_err_text());
    const struct brio_datarep *rep = rep_of("elements");
    CHECK(!brio_datarep_encode(rep, memory, type, 7, file), "%s", brio_err_text());
    CHECK(seen.calls == 1 && seen.count[0] == 35 && seen.position[0] == 0, "%d elements",
          seen.count[0]);
    /* An item is 24 + 24 + 3 * 4 bytes in the file, 12 + 12 + 3 * 2 in memory. */
    for (int bytes = 0; bytes <= 180; bytes++) {
        static const int ends[] = {24, 48, 52, 56, 60}, mem[] = {12, 24, 26, 28, 30};
        int count = bytes / 60 * 5, want = bytes / 60 * 30;
        for (int i = 0; i < 4 && ends[i] <= bytes % 60; i++) {
            count = bytes / 60 * 5 + i + 1;
            want = bytes / 60 * 30 + mem[i];
        }
        brio_off got = bytes;
        memset(&seen, 0, sizeof seen);
        CHECK(!brio_datarep_decode(rep, memory, type, 3, file, &got), "%s", brio_err_text());
        CHECK(got == want, "%d file bytes are %ld", bytes, (long)got);
        CHECK(seen.calls == (count > 0) && seen.count[0] == count, "%d bytes: %d elements",
              bytes, seen.count[0]);
    }
    /* More than an int counts, of different sizes: cut between items. */
    memset(&seen, 0, sizeof seen);
    CHECK(!brio_datarep_encode(rep, memory, type, 500000000, file), "%s", brio_err_text());
    CHECK(seen.calls == 2 && seen.count[0] == INT_MAX / 5 * 5 &&
              seen.position[1] == seen.count[0],
          "%d calls", seen.calls);
    CHECK((char *)seen.filebuf[1] - (char *)seen.filebuf[0] == INT_MAX / 5 * 60L, "filebuf");
    MPI_Type_free(&type);
}

static int fail_late(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                     MPI_Offset position, void *extra)
{
    (void)userbuf, (void)type, (void)count, (void)filebuf, (void)position, (void)extra;
    return MPI_ERR_OTHER;
}

static void user_failures(void)
{
    static int once = 1;
    struct brio_datarep_fns fns = {
        .read = fail_late, .write = fail_late, .extent = text_extent, .extra = &once};
    int value[4] = {0};
    brio_off got = 16;
    char name[MPI_MAX_DATAREP_STRING + 1];
    const struct brio_datarep *rep;
    memset(&seen, 0, sizeof seen);
    REQUIRE(!brio_datarep_register("fails", &fns), "%s", brio_err_text());
    CHECK(brio_datarep_encode(rep_of("fails"), value, MPI_INT, 4, file) == BRIO_ECONV, "write");
    CHECK(brio_datarep_decode(rep_of("fails"), value, MPI_INT, 4, file, &got) == BRIO_ECONV,
          "read");
    CHECK(strstr(brio_err_text(), "fails") != NULL, "says: %s", brio_err_text());
    memset(name, 'x', sizeof name);
    name[MPI_MAX_DATAREP_STRING] = '\0';
    CHECK(brio_datarep_register(name, &fns) == BRIO_EARG, "a name too long");
    name[MPI_MAX_DATAREP_STRING - 1] = '\0';
    CHECK(!brio_datarep_register(name, &fns), "the longest name: %s", brio_err_text());
    CHECK(brio_datarep_register("", &fns) == BRIO_EARG, "no name");
    CHECK(brio_datarep_register("native", &fns) == BRIO_EDUPREP, "native");
    fns.extent = NULL;
    CHECK(brio_datarep_register("no extent", &fns) == BRIO_EARG, "no extent function");
    CHECK(brio_datarep_find("unheard of", &rep) == BRIO_EUNSUPREP, "unheard of");
}

/* No function for a direction: the memory image. */
static void no_conversion(void)
{
    static int once = 1, twice = 2;
    struct brio_datarep_fns fns = {.extent = text_extent, .extra = &once};
    MPI_Datatype type = derived(MPI_INT, 0);
    brio_off got = 75;
    memset(&seen, 0, sizeof seen);
    REQUIRE(!brio_datarep_register("image", &fns), "%s", brio_err_text());
    CHECK(!brio_datarep_encode(rep_of("image"), memory, type, 2, file), "%s", brio_err_text());
    memset(again, 0, sizeof again);
    CHECK(!brio_datarep_decode(rep_of("image"), again, type, 2, file, &got) && got == 75, "%ld",
          (long)got);
    CHECK(memcmp(memory, again, 8) == 0 && memcmp(memory + 12, again + 12, 8) == 0, "image");
    fns.extra = &twice;
    REQUIRE(!brio_datarep_register("no image", &fns), "%s", brio_err_text());
    CHECK(brio_datarep_encode(rep_of("no image"), memory, type, 2, file) == BRIO_ECONV,
          "an image of another size");
    MPI_Type_free(&type);
}

/* More items than an int counts: the int form is called again with a position. */
static void many_items(void)
{
    static int once = 1;
    struct brio_datarep_fns fns = {.write = only_note, .extent = text_extent, .extra = &once};
    memset(&seen, 0, sizeof seen);
    REQUIRE(!brio_datarep_register("many", &fns), "%s", brio_err_text());
    CHECK(!brio_datarep_encode(rep_of("many"), memory, MPI_SHORT, INT_MAX + 10L, file), "%s",
          brio_err_text());
    CHECK(seen.calls == 2 && seen.count[0] == INT_MAX && seen.count[1] == 10, "%d calls",
          seen.calls);
    CHECK(seen.position[0] == 0 && seen.position[1] == INT_MAX, "positions");
    CHECK(seen.userbuf[0] == memory && seen.userbuf[1] == memory, "userbuf moved");
    CHECK((char *)seen.filebuf[1] - (char *)seen.filebuf[0] == 2L * INT_MAX, "filebuf");
    fns.write = NULL;
    fns.write_c = large_note;
    memset(&seen, 0, sizeof seen);
    REQUIRE(!brio_datarep_register("many at once", &fns), "%s", brio_err_text());
    CHECK(!brio_datarep_encode(rep_of("many at once"), memory, MPI_SHORT, INT_MAX + 10L, file),
          "%s", brio_err_text());
    CHECK(seen.calls == 1 && seen.count[0] == -1, "%d calls", seen.calls);
    CHECK(brio_datarep_encode(rep_of("many"), memory, MPI_SHORT, INT64_MAX, file) == BRIO_EARG,
          "2^64 bytes");
}

static const struct test_case cases[] = {
    TEST(known_integers), TEST(known_reals),   TEST(known_pairs),     TEST(misfits),
    TEST(extended_exact), TEST(quad_rounded),  TEST(special_numbers), TEST(derived_types),
    TEST(cut_short),      TEST(file_maps),     TEST(user_defined),    TEST(user_elements),
    TEST(user_failures),  TEST(no_conversion), TEST(many_items),      {0}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    printf("seed %llu\n", (unsigned long long)test_seed());
    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (unsigned char)test_random();
    int rc = test_main(argc, argv, cases);
    brio_flatten_finalize();
    MPI_Finalize();
    return rc;
}
