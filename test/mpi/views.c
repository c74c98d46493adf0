/* Views: what set_view takes and get_view gives back, where bytes go, where pointers are. */
#include "expect.h"

static void default_view(void)
{
    MPI_File fh = open_new();
    MPI_Offset disp = -1;
    MPI_Datatype etype, filetype;
    char rep[MPI_MAX_DATAREP_STRING];
    OK(MPI_File_get_view(fh, &disp, &etype, &filetype, rep));
    CHECK(disp == 0 && etype == MPI_BYTE && filetype == MPI_BYTE, "disp %lld", (long long)disp);
    CHECK(strcmp(rep, "native") == 0, "%s", rep);
    OK(MPI_File_close(&fh));
}

/* A copy shows the user's own constructor: same combiner, same numbers of arguments. */
static void check_copy(MPI_Datatype got, MPI_Datatype want)
{
    int a[4], b[4];
    MPI_Type_get_envelope(got, &a[0], &a[1], &a[2], &a[3]);
    MPI_Type_get_envelope(want, &b[0], &b[1], &b[2], &b[3]);
    CHECK(memcmp(a, b, sizeof a) == 0, "combiner %d, not %d", a[3], b[3]);
    MPI_Aint lb[2], extent[2];
    int size[2];
    MPI_Type_get_extent(got, &lb[0], &extent[0]);
    MPI_Type_get_extent(want, &lb[1], &extent[1]);
    MPI_Type_size(got, &size[0]);
    MPI_Type_size(want, &size[1]);
    CHECK(lb[0] == lb[1] && extent[0] == extent[1] && size[0] == size[1], "another type");
}

static void get_view_gives_types(void)
{
    MPI_File fh = open_new();
    MPI_Datatype etype, filetype, e, f;
    MPI_Offset disp;
    char rep[MPI_MAX_DATAREP_STRING];

    OK(MPI_File_set_view(fh, 24, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
    OK(MPI_File_get_view(fh, &disp, &e, &f, rep));
    CHECK(disp == 24 && e == MPI_DOUBLE && f == MPI_DOUBLE, "named types are the same handles");

    MPI_Type_contiguous(2, MPI_INT, &etype);
    MPI_Type_vector(3, 2, 5, etype, &filetype);
    MPI_Type_commit(&etype);
    MPI_Type_commit(&filetype);
    OK(MPI_File_set_view(fh, 7, etype, filetype, "native", MPI_INFO_NULL));
    OK(MPI_File_get_view(fh, &disp, &e, &f, rep));
    CHECK(disp == 7, "disp %lld", (long long)disp);
    check_copy(e, etype);
    check_copy(f, filetype);
    MPI_Type_free(&e); /* the user's to free */
    MPI_Type_free(&f);
    MPI_Type_free(&etype);
    MPI_Type_free(&filetype);
    OK(MPI_File_get_view(fh, &disp, &e, &f, rep)); /* the view does not depend on them */
    int size;
    MPI_Type_size(f, &size);
    CHECK(size == 48, "size %d", size);
    MPI_Type_free(&e);
    MPI_Type_free(&f);
    OK(MPI_File_close(&fh));
}

static void get_view_gives_datarep(void)
{
    static const char *const names[] = {"native", "internal", "external32"};
    MPI_File fh = open_new();
    for (int i = 0; i < 3; i++) {
        MPI_Offset disp;
        MPI_Datatype e, f;
        char rep[MPI_MAX_DATAREP_STRING];
        OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, names[i], MPI_INFO_NULL));
        OK(MPI_File_get_view(fh, &disp, &e, &f, rep));
        CHECK(strcmp(rep, names[i]) == 0, "%s, not %s", rep, names[i]);
    }
    OK(MPI_File_close(&fh));
}

/* Each rank writes its own column; types are freed as soon as the view has them. */
static void columns(void)
{
    enum {
        ROWS = 50,
        DISP = 13
    };
    make_file(test_file(), DISP + ROWS * test_nranks * 4 + 9, 0x55);
    MPI_File fh = open_file(MPI_MODE_RDWR);
    MPI_Datatype column, filetype;
    MPI_Type_vector(ROWS, 1, test_nranks, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, (MPI_Aint)(ROWS * test_nranks * 4), &filetype);
    MPI_Type_commit(&filetype);
    OK(MPI_File_set_view(fh, DISP + test_rank * 4, MPI_INT, filetype, "native", MPI_INFO_NULL));
    MPI_Type_free(&column);
    MPI_Type_free(&filetype);
    int data[ROWS];
    for (int i = 0; i < ROWS; i++)
        data[i] = test_rank * 1000 + i;
    MPI_Status st;
    OK(MPI_File_write(fh, data, ROWS / 2, MPI_INT, &st));
    CHECK(status_count(&st, MPI_INT) == ROWS / 2, "count");
    OK(MPI_File_write_all(fh, data + ROWS / 2, ROWS / 2, MPI_INT, &st));
    CHECK(status_count(&st, MPI_INT) == ROWS / 2, "count");
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned char edge[DISP + 9];
    load_file(test_file(), 0, edge, DISP);
    load_file(test_file(), DISP + ROWS * test_nranks * 4, edge + DISP, 9);
    for (int i = 0; i < DISP + 9; i++)
        CHECK(edge[i] == 0x55, "edge byte %d is %02x", i, edge[i]);
    for (int i = 0; i < ROWS; i++) {
        int got;
        load_file(test_file(), DISP + (i * test_nranks + test_rank) * 4, &got, 4);
        CHECK(got == data[i], "row %d: %d", i, got);
    }
}

/* tile: 8 bytes at 0, hole 16, 8 bytes at 24, hole to 40 */
static MPI_Datatype two_of_five(void)
{
    MPI_Datatype v, t;
    MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &v);
    MPI_Type_create_resized(v, 0, 40, &t);
    MPI_Type_commit(&t);
    MPI_Type_free(&v);
    return t;
}

static void byte_offset(void)
{
    MPI_File fh = open_new();
    MPI_Datatype t = two_of_five();
    OK(MPI_File_set_view(fh, 100, MPI_DOUBLE, t, "native", MPI_INFO_NULL));
    for (int64_t i = 0; i < 60; i++) {
        int64_t k =
            i < 50 ? i : 2 * (1000000000 + i) + (i & 1); /* near, and far beyond 4 GiB */
        MPI_Offset got = -1, want = 100 + k / 2 * 40 + (k & 1) * 24;
        OK(MPI_File_get_byte_offset(fh, k, &got));
        CHECK(got == want, "%lld: %lld, not %lld", (long long)k, (long long)got,
              (long long)want);
    }
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
}

/* SEEK_END is the first etype of the view at or behind end of file. */
static void seek_end(void)
{
    static const struct {
        int64_t size, etypes;
    } ends[] = {{0, 0},  {10, 0}, {11, 1}, {18, 1}, {19, 1}, {34, 1}, {35, 2},
                {42, 2}, {50, 2}, {51, 3}, {59, 3}, {75, 4}, {90, 4}, {410, 20}};
    MPI_File fh = open_new();
    MPI_Datatype t = two_of_five();
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        MPI_Offset at = -1;
        OK(MPI_File_set_view(fh, 10, MPI_DOUBLE, t, "native", MPI_INFO_NULL));
        OK(MPI_File_set_size(fh, ends[i].size));
        OK(MPI_File_seek(fh, 0, MPI_SEEK_END));
        OK(MPI_File_get_position(fh, &at));
        CHECK(at == ends[i].etypes, "size %lld: end at %lld, not %lld", (long long)ends[i].size,
              (long long)at, (long long)ends[i].etypes);
        MPI_Barrier(MPI_COMM_WORLD); /* nobody changes the size before all have asked */
    }
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
}

static void seek_all_whences(void)
{
    MPI_File fh = open_new();
    MPI_Datatype t = two_of_five();
    MPI_Offset at;
    OK(MPI_File_set_size(fh, 400)); /* ten tiles, twenty etypes */
    OK(MPI_File_set_view(fh, 0, MPI_DOUBLE, t, "native", MPI_INFO_NULL));
    OK(MPI_File_seek(fh, 5, MPI_SEEK_SET));
    OK(MPI_File_seek(fh, 3, MPI_SEEK_CUR));
    OK(MPI_File_get_position(fh, &at));
    CHECK(at == 8, "%lld", (long long)at);
    OK(MPI_File_seek(fh, -8, MPI_SEEK_CUR));
    OK(MPI_File_get_position(fh, &at));
    CHECK(at == 0, "%lld", (long long)at);
    FAILS(MPI_File_seek(fh, -1, MPI_SEEK_CUR), MPI_ERR_ARG);
    FAILS(MPI_File_seek(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    FAILS(MPI_File_seek(fh, -21, MPI_SEEK_END), MPI_ERR_ARG);
    FAILS(MPI_File_seek(fh, 0, 12345), MPI_ERR_ARG);
    OK(MPI_File_get_position(fh, &at));
    CHECK(at == 0, "a refused seek moves nothing: %lld", (long long)at);
    OK(MPI_File_seek(fh, -20, MPI_SEEK_END));
    OK(MPI_File_get_position(fh, &at));
    CHECK(at == 0, "%lld", (long long)at);
    OK(MPI_File_seek(fh, 7, MPI_SEEK_END));
    OK(MPI_File_get_position(fh, &at));
    CHECK(at == 27, "%lld", (long long)at);
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
}

/* The members of a pair are written, the hole between them is not. */
static void pair_types(void)
{
    static const struct {
        int first, at, second, extent;
    } pairs[] = {{2, 4, 4, 8}, {8, 8, 4, 16}, {8, 8, 4, 16}, {16, 16, 4, 32}, {4, 4, 4, 8}};
    MPI_Datatype types[] = {MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_LONG_DOUBLE_INT,
                            MPI_FLOAT_INT};
    enum {
        N = 3
    };
    for (int k = 0; k < 5; k++) {
        int extent = pairs[k].extent, size = pairs[k].first + pairs[k].second;
        unsigned char mem[N * 32], back[N * 32], file[N * 32];
        make_file(test_file(), N * extent * test_nranks, 0x33);
        MPI_File fh = open_file(MPI_MODE_RDWR);
        OK(MPI_File_set_view(fh, N * extent * test_rank, types[k], types[k], "native",
                             MPI_INFO_NULL));
        for (int i = 0; i < N * extent; i++)
            mem[i] = (unsigned char)(i + 100);
        memset(back, 0x77, sizeof back);
        MPI_Status st;
        OK(MPI_File_write_at(fh, 0, mem, N, types[k], &st));
        CHECK(status_bytes(&st) == N * size, "%lld bytes", (long long)status_bytes(&st));
        CHECK(status_count(&st, types[k]) == N, "count");
        OK(MPI_File_read_at_all(fh, 0, back, N, types[k], &st));
        CHECK(status_bytes(&st) == N * size, "%lld bytes", (long long)status_bytes(&st));
        OK(MPI_File_close(&fh));
        load_file(test_file(), N * extent * test_rank, file, (size_t)(N * extent));
        for (int i = 0; i < N * extent; i++) {
            int in = i % extent,
                data = in < pairs[k].first ||
                       (in >= pairs[k].at && in < pairs[k].at + pairs[k].second);
            CHECK(file[i] == (data ? mem[i] : 0x33), "pair %d: file byte %d is %02x", k, i,
                  file[i]);
            CHECK(back[i] == (data ? mem[i] : 0x77), "pair %d: memory byte %d is %02x", k, i,
                  back[i]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* A view without a byte in it: nothing can be moved, nothing is claimed. */
static void empty_filetype(void)
{
    make_file(test_file(), 64, 0x11);
    MPI_File fh = open_file(MPI_MODE_RDWR);
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    /* on one rank only; the others see the whole file */
    OK(MPI_File_set_view(fh, 0, MPI_INT, test_rank == 0 ? empty : MPI_INT, "native",
                         MPI_INFO_NULL));
    MPI_Status st;
    int value = 7;
    OK(MPI_File_write_at(fh, 0, &value, 0, MPI_INT, &st));
    CHECK(status_bytes(&st) == 0, "bytes");
    OK(MPI_File_write_at_all(fh, test_rank, &value, test_rank == 0 ? 0 : 1, MPI_INT, &st));
    CHECK(status_bytes(&st) == (test_rank == 0 ? 0 : 4), "bytes");
    OK(MPI_File_read_at_all(fh, test_rank, &value, test_rank == 0 ? 0 : 1, MPI_INT, &st));
    CHECK(status_bytes(&st) == (test_rank == 0 ? 0 : 4) && value == 7, "bytes");
    if (test_rank == 0 && MPI_File_write_at(fh, 0, &value, 1, MPI_INT, &st) == MPI_SUCCESS)
        CHECK(status_bytes(&st) == 0, "claims %lld bytes", (long long)status_bytes(&st));
    MPI_Type_free(&empty);
    OK(MPI_File_close(&fh));
    unsigned char file[64];
    load_file(test_file(), 0, file, 64);
    for (int i = 0; i < 64; i++)
        CHECK(file[i] == 0x11 || (i >= 4 && i < 4 * test_nranks), "byte %d is %02x", i,
              file[i]);
}

static void view_resets_pointers(void)
{
    MPI_File fh = open_new();
    MPI_Offset own = -1, shared = -1;
    OK(MPI_File_seek(fh, 40, MPI_SEEK_SET));
    OK(MPI_File_seek_shared(fh, 50, MPI_SEEK_SET));
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_get_position(fh, &own));
    OK(MPI_File_get_position_shared(fh, &shared));
    CHECK(own == 0 && shared == 0, "%lld, %lld", (long long)own, (long long)shared);
    OK(MPI_File_close(&fh));
}

static void refused_views(void)
{
    MPI_File fh = open_new();
    MPI_Datatype three, uncommitted;
    MPI_Type_contiguous(3, MPI_BYTE, &three);
    MPI_Type_commit(&three);
    MPI_Type_contiguous(3, MPI_INT, &uncommitted);
    FAILS(MPI_File_set_view(fh, 0, MPI_INT, three, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    FAILS(MPI_File_set_view(fh, -1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    FAILS(MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native",
                            MPI_INFO_NULL),
          MPI_ERR_ARG);
    FAILS(MPI_File_set_view(fh, 0, MPI_INT, uncommitted, "native", MPI_INFO_NULL),
          MPI_ERR_TYPE);
    FAILS(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "no such thing", MPI_INFO_NULL),
          MPI_ERR_UNSUPPORTED_DATAREP);
    MPI_Offset disp;
    MPI_Datatype e, f;
    char rep[MPI_MAX_DATAREP_STRING];
    OK(MPI_File_get_view(fh, &disp, &e, &f, rep));
    CHECK(e == MPI_BYTE && f == MPI_BYTE, "a refused view leaves the old one");
    MPI_Type_free(&three);
    MPI_Type_free(&uncommitted);
    OK(MPI_File_close(&fh));
}

/* A buffer that is not a whole number of etypes. */
static void part_of_etype(void)
{
    MPI_File fh = open_new();
    MPI_Status st;
    char byte = 1;
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    FAILS(MPI_File_write_at(fh, 0, &byte, 1, MPI_CHAR, &st), MPI_ERR_IO);
    FAILS(MPI_File_write_at_all(fh, 0, &byte, 1, MPI_CHAR, &st), MPI_ERR_IO);
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(size_on_disk(test_file()) == 0, "nothing was written");
}

/* A lower bound that is not zero shifts nothing: displacements are the typemap's. */
static void lower_bounds(void)
{
    enum {
        N = 4
    };
    MPI_Datatype ints, filetype;
    make_file(test_file(), 16 * N * test_nranks + 64, 0);
    MPI_File fh = open_file(MPI_MODE_RDWR);
    int at = 2, data[N], got;
    MPI_Type_create_indexed_block(1, 1, &at, MPI_INT, &ints); /* at byte 8 */
    MPI_Type_create_resized(ints, 8, 16, &filetype);
    MPI_Type_commit(&filetype);
    OK(MPI_File_set_view(fh, 16 * N * test_rank, MPI_INT, filetype, "native", MPI_INFO_NULL));
    for (int i = 0; i < N; i++)
        data[i] = 100 * test_rank + i + 1;
    OK(MPI_File_write_all(fh, data, N, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&fh));
    for (int i = 0; i < N; i++) {
        load_file(test_file(), 16 * N * test_rank + 16 * i + 8, &got, 4);
        CHECK(got == data[i], "%d: %d", i, got);
    }
    MPI_Type_free(&ints);
    MPI_Type_free(&filetype);
}

/* Tiles that lie between each other: int 0, int 2, then int 1, int 3. */
static void woven_tiles(void)
{
    int data[4] = {10, 11, 12, 13}, got[4] = {0};
    make_file(test_file(), 0, 0);
    if (test_rank == 0) {
        FILE *f = fopen(test_file(), "w");
        fwrite(data, sizeof data, 1, f);
        fclose(f);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File fh = open_file(MPI_MODE_RDONLY);
    MPI_Datatype v, t;
    MPI_Type_vector(2, 1, 2, MPI_INT, &v);
    MPI_Type_create_resized(v, 0, 4, &t);
    MPI_Type_commit(&t);
    OK(MPI_File_set_view(fh, 0, MPI_INT, t, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(fh, 0, got, 4, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(got[0] == 10 && got[1] == 12 && got[2] == 11 && got[3] == 13, "%d %d %d %d", got[0],
          got[1], got[2], got[3]);
    MPI_Type_free(&v);
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
}

/* Fortran's parametric types are leaves. */
static void parametric_etype(void)
{
    MPI_Datatype real;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int err = MPI_Type_create_f90_real(15, 307, &real);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (err)
        SKIP("this MPI has no parametric types");
    MPI_File fh = open_new();
    MPI_Datatype t;
    double data[2] = {1.5 + test_rank, 2.5}, got[2] = {0};
    MPI_Type_vector(2, 1, 2, real, &t);
    MPI_Type_commit(&t);
    OK(MPI_File_set_view(fh, 32 * test_rank, real, t, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(fh, data, 2, real, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(fh, 0, got, 1, real, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(fh, 1, got + 1, 1, real, MPI_STATUS_IGNORE));
    CHECK(memcmp(got, data, sizeof data) == 0, "%g %g", got[0], got[1]);
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
}

static const struct test_case cases[] = {TEST(default_view),
                                         TEST(get_view_gives_types),
                                         TEST(get_view_gives_datarep),
                                         TEST(columns),
                                         TEST(byte_offset),
                                         TEST(seek_end),
                                         TEST(seek_all_whences),
                                         TEST(pair_types),
                                         TEST(empty_filetype),
                                         TEST(view_resets_pointers),
                                         TEST(refused_views),
                                         TEST(part_of_etype),
                                         TEST(lower_bounds),
                                         TEST(woven_tiles),
                                         TEST(parametric_etype),
                                         {0}};
TEST_MAIN(cases)
