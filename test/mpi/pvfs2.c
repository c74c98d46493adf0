/* What is OrangeFS's own: stripes as asked for and told, many pieces in one request, locks that
 * it does not have, errors. Run by test/pvfs2; without servers there is nothing to do. */
#include "striped.h"

static int on_pvfs2(void)
{
    return strncmp(test_file(), "pvfs2:", 6) == 0;
}

/* How many servers there are: as many as a file gets that is asked to have very many. */
static int count_servers(void)
{
    MPI_File fh = open_striped("1000", "65536");
    int n = (int)number_of(fh, "striping_factor");
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        OK(MPI_File_delete(test_file(), MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    return n;
}

static void stripes(void)
{
    char all[16];
    if (!on_pvfs2())
        SKIP("not on OrangeFS");
    int n = count_servers();
    snprintf(all, sizeof all, "%d", n);
    CHECK(n >= 1, "%d servers", n);
    expect_stripes(all, "65536", n, 65536);
    expect_stripes(all, "100000", n, 100000);
    expect_stripes("1", "1048576", 1, 1048576);
    expect_stripes(NULL, "16384", n, 16384);
    expect_stripes(all, NULL, n, 65536);
    expect_stripes(all, "100", n, 4096); /* no shorter ones */
}

static void modules_in_force(void)
{
    if (!on_pvfs2())
        SKIP("not on OrangeFS");
    if (count_servers() < 2)
        SKIP("one server only");
    MPI_File fh = open_striped(NULL, "65536");
    expect_modules(fh, "pvfs2", "pvfs2");
    OK(MPI_File_close(&fh));
}

static void stripes_hold_the_data(void)
{
    if (!on_pvfs2())
        SKIP("not on OrangeFS");
    expect_data_in_stripes(NULL, "65536");
}

/* Pieces of every length, written and read by each rank alone, in requests that are full: the
 * servers lose pieces of longer ones and say nothing. */
static void many_pieces(void)
{
    enum {
        PIECES = 300,
        LONGEST = 3000
    };
    static unsigned char out[PIECES * LONGEST], in[PIECES * LONGEST];
    static const int lengths[] = {1, 16, 100, 255, 1000, LONGEST};
    if (!on_pvfs2())
        SKIP("not on OrangeFS");
    MPI_File fh = open_striped(NULL, "4096");
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int len = lengths[k], stride = 2 * len + 7;
        MPI_Datatype type;
        MPI_Status status;
        int got;
        MPI_Type_vector(PIECES, len, stride, MPI_BYTE, &type);
        MPI_Type_commit(&type);
        for (int i = 0; i < PIECES * len; i++)
            out[i] = (unsigned char)(i * 13 + test_rank * 57 + (int)k + 1);
        memset(in, 0, sizeof in);
        OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * PIECES * (2 * LONGEST + 7), MPI_BYTE,
                             type, "native", MPI_INFO_NULL));
        OK(MPI_File_write_at(fh, 0, out, PIECES * len, MPI_BYTE, &status));
        MPI_Get_count(&status, MPI_BYTE, &got);
        CHECK(got == PIECES * len, "pieces of %d: %d bytes written", len, got);
        OK(MPI_File_read_at(fh, 0, in, PIECES * len, MPI_BYTE, &status));
        MPI_Get_count(&status, MPI_BYTE, &got);
        CHECK(got == PIECES * len, "pieces of %d: %d bytes read", len, got);
        CHECK(memcmp(in, out, (size_t)(PIECES * len)) == 0, "pieces of %d differ", len);
        MPI_Type_free(&type);
    }
    OK(MPI_File_close(&fh));
}

enum {
    HOLEY = 1 << 20
};

/* Reads n pieces of `len` bytes, `stride` apart, and compares. */
static void expect_pieces(MPI_File fh, const unsigned char *model, int off, int n, int len,
                          int stride)
{
    static unsigned char got[HOLEY];
    MPI_Datatype type;
    int wrong = 0;
    MPI_Type_vector(n, len, stride, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    OK(MPI_File_set_view(fh, off, MPI_BYTE, type, "native", MPI_INFO_NULL));
    memset(got, 0xee, sizeof got);
    OK(MPI_File_read_at(fh, 0, got, n * len, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < n * len; i++)
        wrong += got[i] != model[off + i / len * stride + i % len];
    CHECK(wrong == 0, "%d of %d bytes, %d pieces of %d every %d from %d", wrong, n * len, n,
          len, stride, off);
    MPI_Type_free(&type);
}

/* On a file of its own, by one rank: writes a few pieces, and reads all kinds of them. */
static void look_at_holes(MPI_File fh)
{
    static unsigned char model[HOLEY];
    memset(model, 0, sizeof model);
    for (int i = 0; i < 12; i++) {
        int len = 1 + (int)test_below(i % 2 ? 300 : 40000);
        int off = i == 0 ? HOLEY - len : (int)test_below(HOLEY - len);
        for (int j = 0; j < len; j++)
            model[off + j] = (unsigned char)(1 + test_below(255));
        OK(MPI_File_write_at(fh, off, model + off, len, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < 150 && !test_failed; i++) {
        int n = 1 + (int)test_below(i % 3 ? 150 : 1);
        int len = 1 + (int)test_below(n == 1 ? HOLEY / (1 + i % 100) : HOLEY / n / 2);
        int stride = len + (int)test_below(HOLEY / n - len);
        int off = (int)test_below(HOLEY - ((n - 1) * stride + len));
        expect_pieces(fh, model, off, n, len, stride);
    }
}

/* Holes are zeros and what is beside them is data, however much is read at once. Servers have
 * no bytes of a hole at their end, and the library has to make them up. */
static void holes(void)
{
    static const char *const units[] = {"4096", "16384", "65536"};
    if (!on_pvfs2())
        SKIP("not on OrangeFS");
    uint64_t seed = test_seed();
    for (int k = 0; k < 3; k++) {
        MPI_File fh = open_striped(NULL, units[k]);
        OK(MPI_File_close(&fh));
        if (test_rank == 0) {
            OK(MPI_File_open(MPI_COMM_SELF, test_file(), MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
            look_at_holes(fh);
            OK(MPI_File_close(&fh));
            OK(MPI_File_delete(test_file(), MPI_INFO_NULL));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

static void errors(void)
{
    MPI_File fh;
    if (!on_pvfs2())
        SKIP("not on OrangeFS");
    FAILS(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR, MPI_INFO_NULL, &fh),
          MPI_ERR_NO_SUCH_FILE);
    FAILS(MPI_File_delete(test_file(), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    expect_refused("pvfs2:/no/file/system/is/mounted/here", "cb_nodes", "1",
                   MPI_ERR_NO_SUCH_FILE);
    expect_refused(test_file(), "pvfs2_tab", "/no/such/file", MPI_ERR_NO_SUCH_FILE);
    expect_refused(test_file(), "fbtl", "posix", MPI_ERR_UNSUPPORTED_OPERATION);
    expect_refused("not.on.orangefs", "fbtl", "pvfs2", MPI_ERR_UNSUPPORTED_OPERATION);
    expect_refused("not.on.orangefs", "fs", "pvfs2", MPI_ERR_UNSUPPORTED_OPERATION);
}

static const struct test_case cases[] = {TEST(stripes),
                                         TEST(modules_in_force),
                                         TEST(stripes_hold_the_data),
                                         TEST(many_pieces),
                                         TEST(holes),
                                         TEST(errors),
                                         {0}};

TEST_MAIN(cases)
