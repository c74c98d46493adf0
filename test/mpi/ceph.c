/* What is Ceph's own: stripes as asked for and told, names that are not the system's, errors,
 * and who sees what. Run by test/ceph; without a cluster, all that can be seen is that. */
#include "expect.h"

static int on_ceph(void)
{
    return strncmp(test_file(), "ceph:", 5) == 0;
}

static long long number_of(MPI_File fh, const char *key)
{
    MPI_Info info;
    char value[64] = "-1";
    int there = 0;
    OK(MPI_File_get_info(fh, &info));
    MPI_Info_get(info, key, sizeof value - 1, value, &there);
    MPI_Info_free(&info);
    return there ? atoll(value) : -1;
}

static void text_of(MPI_File fh, const char *key, char value[64])
{
    MPI_Info info;
    int there = 0;
    value[0] = '\0';
    OK(MPI_File_get_info(fh, &info));
    MPI_Info_get(info, key, 63, value, &there);
    MPI_Info_free(&info);
}

static MPI_File open_striped(const char *factor, const char *unit)
{
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    if (factor)
        MPI_Info_set(info, "striping_factor", factor);
    if (unit)
        MPI_Info_set(info, "striping_unit", unit);
    OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh));
    MPI_Info_free(&info);
    return fh;
}

static void expect_stripes(const char *factor, const char *unit, long long width,
                           long long bytes)
{
    MPI_File fh = open_striped(factor, unit);
    CHECK(number_of(fh, "striping_factor") == width, "%s by %s: %lld wide",
          factor ? factor : "-", unit ? unit : "-", number_of(fh, "striping_factor"));
    CHECK(number_of(fh, "striping_unit") == bytes, "%s by %s: units of %lld",
          factor ? factor : "-", unit ? unit : "-", number_of(fh, "striping_unit"));
    OK(MPI_File_close(&fh));
    /* Of a file that is there, hints change nothing. */
    fh = open_striped("7", "131072");
    CHECK(number_of(fh, "striping_unit") == bytes && number_of(fh, "striping_factor") == width,
          "a second open tells %lld by %lld", number_of(fh, "striping_factor"),
          number_of(fh, "striping_unit"));
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        OK(MPI_File_delete(test_file(), MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void stripes(void)
{
    if (!on_ceph())
        SKIP("not on Ceph");
    expect_stripes("3", "65536", 3, 65536);
    expect_stripes("2", "1048576", 2, 1048576);
    expect_stripes("2", NULL, 2, 4 << 20);
    expect_stripes("3", "100000", 3, 131072);   /* rounded up to 64 KiB */
    expect_stripes("2", "6291456", 2, 6291456); /* more than an object usually has */
    expect_stripes(NULL, NULL, 1, 4 << 20);     /* the directory's */
}

static void modules_in_force(void)
{
    char fs[64], fbtl[64], fcache[64];
    if (!on_ceph())
        SKIP("not on Ceph");
    MPI_File fh = open_striped("3", "65536");
    text_of(fh, "brio_fs", fs);
    text_of(fh, "brio_fbtl", fbtl);
    text_of(fh, "brio_fcache", fcache);
    CHECK(strcmp(fs, "ceph") == 0 && strcmp(fbtl, "ceph") == 0 && strcmp(fcache, "stripe") == 0,
          "fs %s, fbtl %s, fcache %s", fs, fbtl, fcache);
    OK(MPI_File_close(&fh));
}

/* Each rank writes every third piece of 10000 bytes, collectively, over many stripes; all is
 * read by the system's calls. */
static void stripes_hold_the_data(void)
{
    enum {
        PIECE = 10000,
        PIECES = 60
    };
    static unsigned char mine[PIECE * PIECES], all[8][PIECE];
    MPI_Datatype type;
    if (!on_ceph())
        SKIP("not on Ceph");
    MPI_File fh = open_striped("3", "65536");
    MPI_Type_vector(PIECES, PIECE, PIECE * test_nranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < PIECE * PIECES; i++)
        mine[i] = (unsigned char)(i * 7 + i / PIECE + test_rank * 31);
    OK(MPI_File_set_view(fh, test_rank * PIECE, MPI_BYTE, type, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(fh, mine, PIECE * PIECES, MPI_BYTE, MPI_STATUS_IGNORE));
    sync_all(fh);
    for (int i = 0; i < PIECES; i++) {
        load_file(test_file(), (int64_t)PIECE * (i * test_nranks + test_rank), all[0], PIECE);
        CHECK(memcmp(all[0], mine + PIECE * i, PIECE) == 0, "piece %d", i);
    }
    MPI_Offset size;
    OK(MPI_File_get_size(fh, &size));
    CHECK(size == (MPI_Offset)PIECE * PIECES * test_nranks, "%lld bytes", (long long)size);
    MPI_Type_free(&type);
    OK(MPI_File_close(&fh));
}

/* What the servers remember of a file. */
struct remembered {
    long long nservers, most_clients, read, written;
};

static struct remembered ask_servers(void)
{
    char command[1024], line[128];
    long long osd, clients, requests, in, out;
    struct remembered r = {0};
    snprintf(command, sizeof command, "\"$BRIO_SOURCE/tools/ceph-requests\" '%s'", test_file());
    FILE *said = popen(command, "r");
    while (said && fgets(line, sizeof line, said)) {
        if (sscanf(line, "%lld %lld %lld %lld %lld", &osd, &clients, &requests, &in, &out) != 5)
            continue;
        r.nservers++;
        r.most_clients = clients > r.most_clients ? clients : r.most_clients;
        r.read += in;
        r.written += out;
    }
    CHECK(said && pclose(said) == 0, "%s fails", command);
    return r;
}

/* Each server was accessed by one rank, and together they have moved all the bytes. They write
 * down what they did when they have time. */
static void expect_one_client(long long bytes)
{
    struct remembered r = ask_servers();
    for (int i = 0; i < 8 && (r.written < bytes || r.read < bytes); i++) {
        sleep(1);
        r = ask_servers();
    }
    CHECK(r.nservers > 1 && r.written == bytes && r.read == bytes,
          "%lld servers, %lld bytes of %lld written and %lld read", r.nservers, r.written,
          bytes, r.read);
    CHECK(r.most_clients == 1, "a server has requests of %lld ranks", r.most_clients);
}

/* fcoll/ioserver: as many owners as servers, and each server hears of its owner only, whatever
 * ranks have: small pieces, pieces larger than a stripe, and those at other places. */
static void one_owner_per_server(void)
{
    enum {
        BYTES = 3 << 20,
        PIECES = 96
    };
    static unsigned char mine[BYTES], got[BYTES];
    MPI_Datatype type;
    if (!on_ceph())
        SKIP("not on Ceph");
    if (test_rank == 0)
        CHECK(system("\"$BRIO_SOURCE/tools/ceph-requests\" --forget") == 0, "they remember");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Info info;
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "striping_factor",
                 "12"); /* objects, so that all three servers get some */
    MPI_Info_set(info, "striping_unit", "65536");
    MPI_Info_set(info, "fcoll", "ioserver");
    OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh));
    MPI_Info_free(&info);
    MPI_Type_vector(PIECES, BYTES / PIECES, BYTES / PIECES * test_nranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < BYTES; i++)
        mine[i] = (unsigned char)(i * 7 + i / 1000 + test_rank * 31);
    for (int round = 0; round < 3; round++) {
        MPI_Offset all = (MPI_Offset)BYTES * test_nranks, at = round * all;
        if (round == 1)
            OK(MPI_File_set_view(fh, at + (MPI_Offset)test_rank * BYTES, MPI_BYTE, MPI_BYTE,
                                 "native", MPI_INFO_NULL));
        else
            OK(MPI_File_set_view(fh, at + (MPI_Offset)test_rank * (BYTES / PIECES), MPI_BYTE,
                                 type, "native", MPI_INFO_NULL));
        OK(MPI_File_write_all(fh, mine, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        sync_all(fh);
        OK(MPI_File_read_at_all(fh, 0, got, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(memcmp(got, mine, BYTES) == 0, "round %d: not what was written", round);
    }
    MPI_Type_free(&type);
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        expect_one_client(3LL * BYTES * test_nranks);
}

/* An open with one hint that cannot work. */
static void expect_refused(const char *name, const char *key, const char *value, int class)
{
    MPI_File fh;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh),
          class);
    MPI_Info_free(&info);
}

static void errors(void)
{
    MPI_File fh;
    if (!on_ceph())
        SKIP("not on Ceph");
    FAILS(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR, MPI_INFO_NULL, &fh),
          MPI_ERR_NO_SUCH_FILE);
    FAILS(MPI_File_delete(test_file(), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    expect_refused(test_file(), "ceph_conf", "/no/such/file", MPI_ERR_NO_SUCH_FILE);
    expect_refused(test_file(), "fbtl", "posix", MPI_ERR_UNSUPPORTED_OPERATION);
    expect_refused("not.on.ceph", "fbtl", "ceph", MPI_ERR_UNSUPPORTED_OPERATION);
    expect_refused("not.on.ceph", "fs", "ceph", MPI_ERR_UNSUPPORTED_OPERATION);
}

/* Where there is no cluster, or no libcephfs, an open says so and the name is not the system's.
 */
static void without_a_cluster(void)
{
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "ceph_conf", "/no/such/file");
    int err = MPI_File_open(MPI_COMM_WORLD, "ceph:/nowhere.dat",
                            MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh);
    CHECK(err != MPI_SUCCESS && (error_class(err) == MPI_ERR_NO_SUCH_FILE ||
                                 error_class(err) == MPI_ERR_UNSUPPORTED_OPERATION),
          "%s", error_text(err));
    CHECK(access("ceph:", F_OK) != 0 || on_ceph(), "a directory of that name was made");
    MPI_Info_free(&info);
}

static const struct test_case cases[] = {TEST(stripes),
                                         TEST(modules_in_force),
                                         TEST(stripes_hold_the_data),
                                         TEST(one_owner_per_server),
                                         TEST(errors),
                                         TEST(without_a_cluster),
                                         {0}};

TEST_MAIN(cases)
