/* What is Ceph's own: stripes as asked for and told, names that are not the system's, errors,
 * and who sees what. Run by test/ceph; without a cluster, all that can be seen is that. */
#include "striped.h"

/* Below the mount, named as any file is: found out. */
static int on_mount(void)
{
    const char *mount = getenv("BRIO_TEST_MOUNT");
    return mount && strncmp(test_file(), mount, strlen(mount)) == 0;
}

static int on_ceph(void)
{
    return strncmp(test_file(), "ceph:", 5) == 0 || on_mount();
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
    if (!on_ceph())
        SKIP("not on Ceph");
    MPI_File fh = open_striped("3", "65536");
    expect_modules(fh, on_mount() ? "cephmount" : "ceph", "ceph");
    OK(MPI_File_close(&fh));
}

static void stripes_hold_the_data(void)
{
    if (!on_ceph())
        SKIP("not on Ceph");
    expect_data_in_stripes("3", "65536");
}

/* A new file through the mount by the system's calls, since a hint leaves no other way: stripes
 * as asked for, and the data is there. */
static void expect_fallback(const char *key, const char *value)
{
    unsigned char mine[100], got[100];
    MPI_Info info;
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "striping_factor", "3");
    MPI_Info_set(info, "striping_unit", "131072");
    MPI_Info_set(info, key, value);
    OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh));
    MPI_Info_free(&info);
    expect_modules(fh, "cephsys", "posix");
    CHECK(number_of(fh, "striping_factor") == 3 && number_of(fh, "striping_unit") == 131072,
          "%s=%s: %lld by %lld", key, value, number_of(fh, "striping_factor"),
          number_of(fh, "striping_unit"));
    memset(mine, 'a' + test_rank, sizeof mine);
    OK(MPI_File_write_at_all(fh, 100 * test_rank, mine, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    sync_all(fh);
    load_file(test_file(), 100 * test_rank, got, 100);
    CHECK(memcmp(got, mine, 100) == 0, "%s=%s: other data", key, value);
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        OK(MPI_File_delete(test_file(), MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Where libcephfs does not get to the cluster, or the user has other wishes, the mount serves.
 */
static void falls_back_to_the_mount(void)
{
    if (!on_mount())
        SKIP("not below a mount of CephFS");
    expect_fallback("ceph_conf", "/no/such/file");
    expect_fallback("ceph_filesystem", "no_such_file_system");
    expect_fallback("fbtl", "posix");
    expect_fallback("fs", "cephsys");
}

/* One name, three ways: what one of them has written all others read. */
static void all_ways_alike(void)
{
    static const char *const ways[] = {"cephmount", "cephsys", "ceph", "ufs"};
    char by_name[600];
    unsigned char mine[1000], got[1000];
    if (!on_mount())
        SKIP("not below a mount of CephFS");
    snprintf(by_name, sizeof by_name, "ceph:%s",
             test_file() + strlen(getenv("BRIO_TEST_MOUNT")));
    for (int k = 0; k < 16; k++) {
        for (int step = 0; step < 2; step++) {
            const char *way = ways[step ? k % 4 : k / 4];
            MPI_Info info;
            MPI_File fh = MPI_FILE_NULL;
            MPI_Info_create(&info);
            MPI_Info_set(info, "fs", way);
            OK(MPI_File_open(MPI_COMM_WORLD, strcmp(way, "ceph") ? test_file() : by_name,
                             MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh));
            MPI_Info_free(&info);
            memset(mine, 1 + k + 20 * test_rank, sizeof mine);
            if (step == 0)
                OK(MPI_File_write_at(fh, 1000 * test_rank, mine, 1000, MPI_BYTE,
                                     MPI_STATUS_IGNORE));
            else
                OK(MPI_File_read_at(fh, 1000 * test_rank, got, 1000, MPI_BYTE,
                                    MPI_STATUS_IGNORE));
            OK(MPI_File_close(&fh));
        }
        CHECK(memcmp(got, mine, 1000) == 0, "%s does not read what %s wrote", ways[k % 4],
              ways[k / 4]);
    }
}

/* A file in a snapshot has the number of the one that it was taken of: it must not be read
 * instead. */
static void snapshots_stay_old(void)
{
    char dir[600], snap[700], old[900];
    int made = 0, got = 0, value = 1;
    MPI_File fh = MPI_FILE_NULL;
    if (!on_mount())
        SKIP("not below a mount of CephFS");
    snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(test_file(), '/') - test_file()),
             test_file());
    snprintf(snap, sizeof snap, "%s/.snap/brio", dir);
    snprintf(old, sizeof old, "%s%s", snap, strrchr(test_file(), '/'));
    for (; value <= 2; value++) {
        OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE,
                         MPI_INFO_NULL, &fh));
        OK(MPI_File_write_at_all(fh, 4 * test_rank, &value, 4, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&fh));
        if (test_rank == 0 && value == 1)
            made = mkdir(snap, 0755) == 0;
        MPI_Bcast(&made, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!made)
            SKIP("no snapshots here");
    }
    OK(MPI_File_open(MPI_COMM_WORLD, old, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
    OK(MPI_File_read_at_all(fh, 4 * test_rank, &got, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(got == 1, "%d is read, not what was there then", got);
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        rmdir(snap);
}

/* Two opens at the same time, the writer's through the library and the reader's through the
 * mount, and the other way round. */
static void mount_and_library_at_once(void)
{
    static const char *const ways[] = {"cephmount", "cephsys"};
    MPI_File fh[2] = {MPI_FILE_NULL, MPI_FILE_NULL};
    if (!on_mount())
        SKIP("not below a mount of CephFS");
    for (int i = 0; i < 2; i++) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "fs", ways[i]);
        OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, info,
                         &fh[i]));
        MPI_Info_free(&info);
    }
    for (int k = 0; k < 6; k++) {
        int mine = 100 * k + test_rank, got = -1, other = (test_rank + 1) % test_nranks;
        OK(MPI_File_write_at(fh[k % 2], 4 * test_rank, &mine, 4, MPI_BYTE, MPI_STATUS_IGNORE));
        sync_all(fh[k % 2]);
        OK(MPI_File_sync(fh[1 - k % 2]));
        OK(MPI_File_read_at(fh[1 - k % 2], 4 * other, &got, 4, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(got == 100 * k + other, "round %d: %d is read through %s", k, got,
              ways[1 - k % 2]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 2; i++)
        OK(MPI_File_close(&fh[i]));
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

static void errors(void)
{
    MPI_File fh;
    if (!on_ceph())
        SKIP("not on Ceph");
    FAILS(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR, MPI_INFO_NULL, &fh),
          MPI_ERR_NO_SUCH_FILE);
    FAILS(MPI_File_delete(test_file(), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    if (on_mount()) {
        expect_refused(test_file(), "fs", "ceph", MPI_ERR_UNSUPPORTED_OPERATION);
    } else {
        expect_refused(test_file(), "ceph_conf", "/no/such/file", MPI_ERR_NO_SUCH_FILE);
        expect_refused(test_file(), "fbtl", "posix", MPI_ERR_UNSUPPORTED_OPERATION);
        expect_refused(test_file(), "fs", "cephmount", MPI_ERR_UNSUPPORTED_OPERATION);
    }
    expect_refused("not.on.ceph", "fbtl", "ceph", MPI_ERR_UNSUPPORTED_OPERATION);
    expect_refused("not.on.ceph", "fs", "ceph", MPI_ERR_UNSUPPORTED_OPERATION);
    expect_refused("not.on.ceph", "fs", "cephmount", MPI_ERR_UNSUPPORTED_OPERATION);
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
                                         TEST(falls_back_to_the_mount),
                                         TEST(all_ways_alike),
                                         TEST(snapshots_stay_old),
                                         TEST(mount_and_library_at_once),
                                         TEST(errors),
                                         TEST(without_a_cluster),
                                         {0}};

TEST_MAIN(cases)
