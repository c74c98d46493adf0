/* Data representations: the bytes that external32 must be, internal, and the user's own with
 * real conversion functions. */
#include <stddef.h>
#include <wchar.h>

#include "brio/brio.h"
#include "expect.h"

/* Opens the file as `type` in representation `rep`, each rank `bytes` further. */
static MPI_File open_as(const char *rep, MPI_Datatype type, int64_t bytes)
{
    MPI_File fh = open_new();
    OK(MPI_File_set_view(fh, bytes * test_rank, type, type, rep, MPI_INFO_NULL));
    return fh;
}

/* ---- external32
 * ------------------------------------------------------------------------------ */

/* One value of a type, and what it is in the file. */
struct known {
    MPI_Datatype type;
    const void *value;
    size_t size; /* in memory */
    int len;
    unsigned char bytes[16];
};

static void check_known(const struct known *k)
{
    enum {
        N = 3
    };
    unsigned char mem[N * 16], back[N * 16], file[N * 16];
    MPI_Status st;
    MPI_Aint extent = -1;
    MPI_File fh = open_as("external32", k->type, N * k->len);
    for (int i = 0; i < N; i++)
        memcpy(mem + (size_t)i * k->size, k->value, k->size);
    memset(back, 0, sizeof back);
    OK(MPI_File_write_at_all(fh, 0, mem, N, k->type, &st));
    CHECK(status_count(&st, k->type) == N, "len %d: count %d", k->len,
          status_count(&st, k->type));
    OK(MPI_File_read_at(fh, 0, back, N, k->type, &st));
    CHECK(status_count(&st, k->type) == N, "len %d: count %d", k->len,
          status_count(&st, k->type));
    OK(MPI_File_get_type_extent(fh, k->type, &extent));
    CHECK(extent == k->len, "extent %ld, not %d", (long)extent, k->len);
    OK(MPI_File_close(&fh));
    load_file(test_file(), (int64_t)test_rank * N * k->len, file, (size_t)(N * k->len));
    for (int i = 0; i < N; i++) {
        for (int b = 0; b < k->len; b++)
            CHECK(file[i * k->len + b] == k->bytes[b], "size %zu: byte %d is %02x, not %02x",
                  k->size, b, file[i * k->len + b], k->bytes[b]);
        size_t n = k->type == MPI_LONG_DOUBLE ? 10 : k->size; /* the rest of it is padding */
        CHECK(memcmp(back + (size_t)i * k->size, k->value, n) == 0,
              "size %zu comes back as it was", k->size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void external32_integers(void)
{
    static const signed char c = -2;
    static const short s = 0x1234;
    static const int i = -3;
    static const unsigned u = 0xfedcba98u;
    static const long l = -5;
    static const unsigned long ul = 0xf0000001ul;
    static const long long ll = 0x0102030405060708ll;
    static const wchar_t w = 0x20ac;
    static const MPI_Aint a = 0x1122334455667788;
    const struct known all[] = {
        {MPI_SIGNED_CHAR, &c, 1, 1, {0xfe}},
        {MPI_SHORT, &s, 2, 2, {0x12, 0x34}},
        {MPI_INT, &i, 4, 4, {0xff, 0xff, 0xff, 0xfd}},
        {MPI_UNSIGNED, &u, 4, 4, {0xfe, 0xdc, 0xba, 0x98}},
        {MPI_LONG, &l, 8, 4, {0xff, 0xff, 0xff, 0xfb}},
        {MPI_UNSIGNED_LONG, &ul, 8, 4, {0xf0, 0, 0, 1}},
        {MPI_LONG_LONG, &ll, 8, 8, {1, 2, 3, 4, 5, 6, 7, 8}},
        {MPI_INT64_T, &ll, 8, 8, {1, 2, 3, 4, 5, 6, 7, 8}},
        {MPI_WCHAR, &w, sizeof w, 2, {0x20, 0xac}},
        {MPI_AINT, &a, 8, 8, {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}},
    };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        check_known(&all[k]);
}

static void external32_floats(void)
{
    static const float f = -1.5f;
    static const double d = 1.0 / 3.0;
    static const long double ld = -2.75L;
    const struct known all[] = {
        {MPI_FLOAT, &f, 4, 4, {0xbf, 0xc0}},
        {MPI_DOUBLE, &d, 8, 8, {0x3f, 0xd5, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55}},
        {MPI_LONG_DOUBLE, &ld, sizeof ld, 16, {0xc0, 0x00, 0x60}},
    };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        check_known(&all[k]);
}

struct mixed {
    int i;
    double d;
    char c[3];
    long l;
};

static MPI_Datatype mixed_type(void)
{
    MPI_Datatype t, r, parts[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_LONG};
    int len[] = {1, 1, 3, 1};
    MPI_Aint at[] = {offsetof(struct mixed, i), offsetof(struct mixed, d),
                     offsetof(struct mixed, c), offsetof(struct mixed, l)};
    MPI_Type_create_struct(4, len, at, parts, &t);
    MPI_Type_create_resized(t, 0, sizeof(struct mixed), &r);
    MPI_Type_commit(&r);
    MPI_Type_free(&t);
    return r;
}

/* A struct becomes its elements, one behind the other, when the view is of bytes. */
static void external32_struct(void)
{
    enum {
        FILE_SIZE = 4 + 8 + 3 + 4,
        N = 2
    };
    static const unsigned char want[FILE_SIZE] = {
        0, 0, 1, 2, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c', 0xff, 0xff, 0xff, 0xfe};
    MPI_File fh = open_as("external32", MPI_BYTE, N * FILE_SIZE);
    MPI_Datatype t = mixed_type();
    struct mixed mem[N], back[N];
    unsigned char file[N * FILE_SIZE];
    MPI_Status st;
    memset(mem, 0x55, sizeof mem);
    memset(back, 0x66, sizeof back);
    for (int i = 0; i < N; i++) {
        mem[i].i = 258;
        mem[i].d = 1.5;
        memcpy(mem[i].c, "abc", 3);
        mem[i].l = -2;
    }
    OK(MPI_File_write_all(fh, mem, N, t, &st));
    CHECK(status_count(&st, t) == N, "count %d", status_count(&st, t));
    OK(MPI_File_read_at_all(fh, 0, back, N, t, &st));
    CHECK(status_count(&st, t) == N, "count %d", status_count(&st, t));
    OK(MPI_File_close(&fh));
    load_file(test_file(), (int64_t)test_rank * N * FILE_SIZE, file, sizeof file);
    for (int i = 0; i < N; i++) {
        CHECK(memcmp(file + i * FILE_SIZE, want, FILE_SIZE) == 0, "item %d in the file", i);
        CHECK(back[i].i == 258 && back[i].d == 1.5 && memcmp(back[i].c, "abc", 3) == 0 &&
                  back[i].l == -2,
              "item %d comes back", i);
        CHECK(((unsigned char *)&back[i])[offsetof(struct mixed, i) + 4] == 0x66,
              "the padding");
    }
    MPI_Type_free(&t);
}

/* Displacements counted in elements shrink with the elements: a view of every third long. */
static void external32_view(void)
{
    enum {
        N = 20
    };
    MPI_File fh = open_new();
    MPI_Datatype v, t;
    long data[N], back[N] = {0};
    MPI_Offset at = -1;
    MPI_Aint extent = -1;
    MPI_Status st;
    MPI_Type_vector(1, 1, 1, MPI_LONG, &v);
    MPI_Type_vector(2, 1, 3, MPI_LONG, &t); /* 0 and 3, extent 4 */
    MPI_Type_commit(&t);
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * N * 16, MPI_LONG, t, "external32",
                         MPI_INFO_NULL));
    OK(MPI_File_get_type_extent(fh, t, &extent));
    CHECK(extent == 16, "extent %ld", (long)extent);
    OK(MPI_File_get_byte_offset(fh, 5, &at));
    CHECK(at == (MPI_Offset)test_rank * N * 16 + 2 * 16 + 12, "offset %lld", (long long)at);
    for (int i = 0; i < N; i++)
        data[i] = test_rank * 1000 - i;
    OK(MPI_File_write(fh, data, N, MPI_LONG, &st));
    OK(MPI_File_read_at(fh, 0, back, N, MPI_LONG, &st));
    CHECK(memcmp(back, data, sizeof data) == 0, "data");
    OK(MPI_File_close(&fh));
    for (int i = 0; i < N; i++) {
        unsigned char b[4];
        load_file(test_file(), (int64_t)test_rank * N * 16 + i / 2 * 16 + i % 2 * 12, b, 4);
        int got =
            (int)((unsigned)b[0] << 24 | (unsigned)b[1] << 16 | (unsigned)b[2] << 8 | b[3]);
        CHECK(got == data[i], "%d: %d", i, got);
    }
    MPI_Type_free(&v);
    MPI_Type_free(&t);
}

/* Counts are of what was found, in the user's units, also when the file ends early. */
static void external32_end_of_file(void)
{
    long got[10];
    MPI_Status st;
    MPI_Request req;
    make_file(test_file(), 6 * 4 + 2, 0); /* six longs and a half */
    MPI_File fh = open_file(MPI_MODE_RDONLY);
    OK(MPI_File_set_view(fh, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    memset(got, 0x11, sizeof got);
    OK(MPI_File_read_at_all(fh, 0, got, 10, MPI_LONG, &st));
    CHECK(status_count(&st, MPI_LONG) == 6, "count %d", status_count(&st, MPI_LONG));
    CHECK(got[5] == 0 && got[6] == 0x1111111111111111, "behind the end untouched");
    OK(MPI_File_iread_at(fh, 4, got, 10, MPI_LONG, &req));
    OK(MPI_Wait(&req, &st));
    CHECK(status_count(&st, MPI_LONG) == 2, "count %d", status_count(&st, MPI_LONG));
    OK(MPI_File_close(&fh));
}

/* Strided memory on both sides, all ranks into one another, nonblocking and collective. */
static void external32_strided(void)
{
    enum {
        N = 300
    };
    MPI_File fh = open_new();
    MPI_Datatype v, t, m;
    static double mem[2 * N], back[2 * N];
    MPI_Request req;
    MPI_Type_vector(1, 1, 1, MPI_DOUBLE, &v);
    MPI_Type_create_resized(v, 0, (MPI_Aint)test_nranks * 8, &t);
    MPI_Type_vector(N, 1, 2, MPI_DOUBLE, &m);
    MPI_Type_commit(&t);
    MPI_Type_commit(&m);
    OK(MPI_File_set_view(fh, 8 * test_rank, MPI_DOUBLE, t, "external32", MPI_INFO_NULL));
    for (int i = 0; i < 2 * N; i++) {
        mem[i] = test_rank + i / 1024.0;
        back[i] = -1;
    }
    OK(MPI_File_iwrite_at_all(fh, 0, mem, 1, m, &req));
    OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    OK(MPI_File_iread_at_all(fh, 0, back, 1, m, &req));
    OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    for (int i = 0; i < 2 * N; i++)
        CHECK(back[i] == (i % 2 ? -1 : mem[i]), "%d: %g", i, back[i]);
    MPI_Type_free(&v);
    MPI_Type_free(&t);
    MPI_Type_free(&m);
    OK(MPI_File_close(&fh));
}

static void internal(void)
{
    MPI_File fh = open_as("internal", MPI_DOUBLE, 80);
    double data[10], back[10] = {0};
    for (int i = 0; i < 10; i++)
        data[i] = test_rank + i / 7.0;
    OK(MPI_File_write_all(fh, data, 10, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(fh, 0, back, 10, MPI_DOUBLE, MPI_STATUS_IGNORE));
    CHECK(memcmp(back, data, sizeof data) == 0, "data");
    OK(MPI_File_close(&fh));
}

/* ---- The user's own
 * -------------------------------------------------------------------------- */

/* Of what the conversion functions are told: the typemap of the memory type in use (ints),
 * and a count of the items they saw. */
static struct layout {
    int n;       /* entries */
    int disp[4]; /* in bytes */
    MPI_Aint extent;
    int64_t written, read;
    int fail;
} layout = {1, {0}, 4, 0, 0, 0};

static int *item(void *userbuf, MPI_Offset k)
{
    return (int *)((char *)userbuf + k / layout.n * layout.extent + layout.disp[k % layout.n]);
}

/* An int is eight bytes in the file: scrambled, and its complement. */
static int wide_write(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                      MPI_Offset position, void *extra)
{
    (void)type;
    CHECK(extra == &layout, "extra state");
    if (layout.fail)
        return MPI_ERR_OTHER;
    for (int i = 0; i < count; i++) {
        unsigned v = (unsigned)*item(userbuf, position + i) ^ 0x5a5a5a5au, pair[2] = {v, ~v};
        memcpy((char *)filebuf + 8 * (size_t)i, pair, 8);
    }
    layout.written += count;
    return MPI_SUCCESS;
}

static int wide_read(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                     MPI_Offset position, void *extra)
{
    (void)type;
    CHECK(extra == &layout, "extra state");
    if (layout.fail)
        return MPI_ERR_OTHER;
    for (int i = 0; i < count; i++) {
        unsigned pair[2];
        memcpy(pair, (char *)filebuf + 8 * (size_t)i, 8);
        CHECK(pair[0] == ~pair[1], "item %d of the file buffer is broken", i);
        *item(userbuf, position + i) = (int)(pair[0] ^ 0x5a5a5a5au);
    }
    layout.read += count;
    return MPI_SUCCESS;
}

static int wide_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    CHECK(extra == &layout, "extra state");
    CHECK(type == MPI_INT, "only the predefined types in use");
    *extent = 8;
    return MPI_SUCCESS;
}

static int is_registered;

static void use_wide(void)
{
    if (!is_registered)
        OK(MPI_Register_datarep("wide", wide_read, wide_write, wide_extent, &layout));
    is_registered = 1;
    layout = (struct layout){1, {0}, 4, 0, 0, 0};
}

static void user_known_bytes(void)
{
    enum {
        N = 10
    };
    use_wide();
    MPI_File fh = open_as("wide", MPI_INT, N * 8);
    int data[N], back[N] = {0};
    MPI_Aint extent = 0;
    MPI_Status st;
    for (int i = 0; i < N; i++)
        data[i] = 100 * test_rank + i;
    OK(MPI_File_get_type_extent(fh, MPI_INT, &extent));
    CHECK(extent == 8, "extent %ld", (long)extent);
    OK(MPI_File_write(fh, data, N, MPI_INT, &st));
    CHECK(status_count(&st, MPI_INT) == N, "count %d", status_count(&st, MPI_INT));
    OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
    OK(MPI_File_read_all(fh, back, N, MPI_INT, &st));
    CHECK(status_count(&st, MPI_INT) == N, "count %d", status_count(&st, MPI_INT));
    CHECK(memcmp(back, data, sizeof data) == 0, "data");
    CHECK(layout.written == N && layout.read == N, "%lld and %lld items converted",
          (long long)layout.written, (long long)layout.read);
    OK(MPI_File_close(&fh));
    for (int i = 0; i < N; i++) {
        unsigned pair[2];
        load_file(test_file(), 8 * ((int64_t)test_rank * N + i), pair, 8);
        CHECK(pair[0] == ((unsigned)data[i] ^ 0x5a5a5a5au) && pair[1] == ~pair[0],
              "%d: %08x %08x", i, pair[0], pair[1]);
    }
}

/* count and position are of typemap entries, in the user's own memory type; the filetype's
 * elements are eight bytes now. */
static void user_derived_types(void)
{
    enum {
        N = 6
    };
    use_wide();
    MPI_File fh = open_new();
    MPI_Datatype mem, two, f;
    int data[N * 4], back[N * 4];
    MPI_Status st;
    MPI_Type_vector(2, 1, 2, MPI_INT, &two);
    MPI_Type_create_resized(two, 0, 16, &mem); /* entries at 0 and 8 of 16 */
    MPI_Type_vector(2, 1, 3, MPI_INT, &f);     /* elements 0 and 3 of 4 */
    MPI_Type_commit(&mem);
    MPI_Type_commit(&f);
    layout = (struct layout){2, {0, 8}, 16, 0, 0, 0};
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * N * 32, MPI_INT, f, "wide",
                         MPI_INFO_NULL));
    for (int i = 0; i < N * 4; i++) {
        data[i] = 100 * test_rank + i;
        back[i] = -7;
    }
    OK(MPI_File_write_at(fh, 0, data, N, mem, &st));
    CHECK(status_count(&st, mem) == N, "count %d", status_count(&st, mem));
    CHECK(layout.written == 2 * N, "%lld items written", (long long)layout.written);
    OK(MPI_File_read_at_all(fh, 0, back, N, mem, &st));
    CHECK(status_count(&st, mem) == N, "count %d", status_count(&st, mem));
    CHECK(layout.read == 2 * N, "%lld items read", (long long)layout.read);
    for (int i = 0; i < N * 4; i++)
        CHECK(back[i] == (i % 2 ? -7 : data[i]), "%d: %d", i, back[i]);
    OK(MPI_File_close(&fh));
    for (int i = 0; i < 2 * N; i++) {
        unsigned word;
        load_file(test_file(), (int64_t)test_rank * N * 32 + i / 2 * 32 + i % 2 * 24, &word, 4);
        CHECK(word == ((unsigned)data[2 * i] ^ 0x5a5a5a5au), "%d: %08x", i, word);
    }
    MPI_Type_free(&mem);
    MPI_Type_free(&two);
    MPI_Type_free(&f);
}

static void user_end_of_file(void)
{
    use_wide();
    MPI_File fh = open_new();
    int data[4] = {1, 2, 3, 4}, back[9];
    MPI_Status st;
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "wide", MPI_INFO_NULL));
    if (test_rank == 0)
        OK(MPI_File_write_at(fh, 0, data, 4, MPI_INT, MPI_STATUS_IGNORE));
    sync_all(fh);
    for (int i = 0; i < 9; i++)
        back[i] = -7;
    OK(MPI_File_read_at_all(fh, 1, back, 9, MPI_INT, &st));
    CHECK(status_count(&st, MPI_INT) == 3, "count %d", status_count(&st, MPI_INT));
    CHECK(back[0] == 2 && back[2] == 4 && back[3] == -7, "%d %d %d", back[0], back[2], back[3]);
    OK(MPI_File_close(&fh));
}

static void user_failure(void)
{
    use_wide();
    MPI_File fh = open_as("wide", MPI_INT, 8);
    int value = 1;
    OK(MPI_File_write_at_all(fh, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    layout.fail = 1;
    FAILS(MPI_File_write_at(fh, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_CONVERSION);
    FAILS(MPI_File_read_at(fh, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_CONVERSION);
    FAILS(MPI_File_read_at_all(fh, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
          MPI_ERR_CONVERSION);
    layout.fail = 0;
    OK(MPI_File_read_at(fh, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&fh));
}

/* The large-count form of the functions. */
static int large_write(void *userbuf, MPI_Datatype type, MPI_Count count, void *filebuf,
                       MPI_Offset position, void *extra)
{
    return wide_write(userbuf, type, (int)count, filebuf, position, extra);
}

static int large_read(void *userbuf, MPI_Datatype type, MPI_Count count, void *filebuf,
                      MPI_Offset position, void *extra)
{
    return wide_read(userbuf, type, (int)count, filebuf, position, extra);
}

static void user_large_count_functions(void)
{
    use_wide();
    OK(MPI_Register_datarep_c("wide_c", large_read, large_write, wide_extent, &layout));
    MPI_File fh = open_as("wide_c", MPI_INT, 40);
    int data[5] = {1, 2, 3, 4, test_rank}, back[5] = {0};
    OK(MPI_File_write_at_all(fh, 0, data, 5, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(fh, 0, back, 5, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(memcmp(back, data, sizeof data) == 0, "data");
    OK(MPI_File_close(&fh));
}

static int same_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    MPI_Aint lb;
    (void)extra;
    return MPI_Type_get_extent(type, &lb, extent);
}

/* No functions: the memory image under another name. */
static void user_without_conversion(void)
{
    OK(MPI_Register_datarep("plain", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                            same_extent, NULL));
    MPI_File fh = open_as("plain", MPI_INT, 20);
    int data[5] = {1, 2, 3, 4, test_rank}, file[5];
    OK(MPI_File_write_at_all(fh, 0, data, 5, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&fh));
    load_file(test_file(), 20 * test_rank, file, 20);
    CHECK(memcmp(file, data, sizeof data) == 0, "data");
}

static void refused_names(void)
{
    char name[MPI_MAX_DATAREP_STRING + 20];
    use_wide();
    FAILS(MPI_Register_datarep("wide", wide_read, wide_write, wide_extent, &layout),
          MPI_ERR_DUP_DATAREP);
    FAILS(MPI_Register_datarep("native", wide_read, wide_write, wide_extent, &layout),
          MPI_ERR_DUP_DATAREP);
    FAILS(MPI_Register_datarep("external32", wide_read, wide_write, wide_extent, &layout),
          MPI_ERR_DUP_DATAREP);
    FAILS(MPI_Register_datarep("no extent", wide_read, wide_write, NULL, &layout), MPI_ERR_ARG);
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = 0;
    FAILS(MPI_Register_datarep(name, wide_read, wide_write, wide_extent, &layout), MPI_ERR_ARG);
    MPI_File fh = open_new();
    FAILS(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "Native", MPI_INFO_NULL),
          MPI_ERR_UNSUPPORTED_DATAREP);
    FAILS(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "", MPI_INFO_NULL),
          MPI_ERR_UNSUPPORTED_DATAREP);
    OK(MPI_File_close(&fh));
}

static const struct test_case cases[] = {TEST(external32_integers),
                                         TEST(external32_floats),
                                         TEST(external32_struct),
                                         TEST(external32_view),
                                         TEST(external32_end_of_file),
                                         TEST(external32_strided),
                                         TEST(internal),
                                         TEST(user_known_bytes),
                                         TEST(user_derived_types),
                                         TEST(user_end_of_file),
                                         TEST(user_failure),
                                         TEST(user_large_count_functions),
                                         TEST(user_without_conversion),
                                         TEST(refused_names),
                                         {0}};
TEST_MAIN(cases)
