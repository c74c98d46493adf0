/* Hints: what was asked for is in force and is told, what is unknown or wrong does no harm. */
#include "expect.h"

/* The value as a number; -1 if there is none. */
static long long number_of(MPI_File fh, const char *key)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info info;
    int there = 0;
    OK(MPI_File_get_info(fh, &info));
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
    MPI_Info_free(&info);
    return there ? strtoll(value, NULL, 10) : -1;
}

static int says(MPI_File fh, const char *key, const char *want)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info info;
    int there = 0;
    OK(MPI_File_get_info(fh, &info));
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
    MPI_Info_free(&info);
    return there && strcmp(value, want) == 0;
}

static MPI_File open_with(MPI_Info info)
{
    MPI_File fh = MPI_FILE_NULL;
    OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh));
    return fh;
}

static MPI_Info info_of(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

/* Without a word from the user there are values in force, too. */
static void defaults_are_told(void)
{
    MPI_File fh = open_with(MPI_INFO_NULL);
    MPI_Info info;
    int n = 0;
    OK(MPI_File_get_info(fh, &info));
    MPI_Info_get_nkeys(info, &n);
    CHECK(n > 5, "%d keys", n);
    MPI_Info_free(&info);
    CHECK(number_of(fh, "cb_buffer_size") > 0, "cb_buffer_size");
    CHECK(number_of(fh, "cb_nodes") >= 0, "cb_nodes");
    CHECK(says(fh, "filename", test_file()), "filename");
    OK(MPI_File_close(&fh));
}

static void given_at_open(void)
{
    MPI_Info info = info_of("cb_buffer_size", "1048576");
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "striping_unit", "65536");
    MPI_Info_set(info, "access_style", "write_once,sequential");
    MPI_File fh = open_with(info);
    MPI_Info_free(&info); /* not needed any more */
    CHECK(number_of(fh, "cb_buffer_size") == 1048576, "%lld", number_of(fh, "cb_buffer_size"));
    CHECK(number_of(fh, "cb_nodes") == 1, "%lld", number_of(fh, "cb_nodes"));
    CHECK(number_of(fh, "striping_unit") == 65536, "%lld", number_of(fh, "striping_unit"));
    CHECK(says(fh, "access_style", "write_once,sequential"), "access_style");
    OK(MPI_File_close(&fh));
    info = info_of("collective_buffering", "false");
    fh = open_with(info);
    MPI_Info_free(&info);
    CHECK(says(fh, "collective_buffering", "false"), "collective_buffering");
    OK(MPI_File_close(&fh));
}

/* set_info and the info of set_view replace single values, the others stay. Those for
 * collective accesses are in force with the next view at the latest. */
static void changed_later(void)
{
    MPI_Info info = info_of("cb_buffer_size", "1048576");
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_File fh = open_with(info);
    MPI_Info_free(&info);
    info = info_of("cb_buffer_size", "2097152");
    OK(MPI_File_set_info(fh, info));
    MPI_Info_free(&info);
    OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK(number_of(fh, "cb_buffer_size") == 2097152, "%lld", number_of(fh, "cb_buffer_size"));
    CHECK(number_of(fh, "cb_nodes") == 1, "%lld", number_of(fh, "cb_nodes"));
    info = info_of("cb_buffer_size", "4194304");
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", info));
    MPI_Info_free(&info);
    CHECK(number_of(fh, "cb_buffer_size") == 4194304, "%lld", number_of(fh, "cb_buffer_size"));
    CHECK(number_of(fh, "cb_nodes") == 1, "%lld", number_of(fh, "cb_nodes"));
    OK(MPI_File_set_info(fh, MPI_INFO_NULL));
    CHECK(number_of(fh, "cb_buffer_size") == 4194304, "%lld", number_of(fh, "cb_buffer_size"));
    OK(MPI_File_close(&fh));
}

/* A hint can never make a call fail. */
static void unknown_and_malformed(void)
{
    MPI_Info info = info_of("no_such_hint_anywhere", "42");
    MPI_Info_set(info, "another.one", "yes");
    MPI_Info_set(info, "cb_nodes", "many");
    MPI_Info_set(info, "cb_buffer_size", "-7");
    MPI_File fh = open_with(info);
    MPI_Info_free(&info);
    int value = test_rank, got = -1;
    CHECK(number_of(fh, "cb_buffer_size") > 0, "%lld", number_of(fh, "cb_buffer_size"));
    OK(MPI_File_write_at_all(fh, 4 * test_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(fh, 4 * test_rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(got == value, "%d", got);
    OK(MPI_File_close(&fh));
}

/* The environment is weaker than the info object. */
static void environment(void)
{
    setenv("BRIO_CB_BUFFER_SIZE", "3145728", 1);
    MPI_File fh = open_with(MPI_INFO_NULL);
    CHECK(number_of(fh, "cb_buffer_size") == 3145728, "%lld", number_of(fh, "cb_buffer_size"));
    OK(MPI_File_close(&fh));
    MPI_Info info = info_of("cb_buffer_size", "1048576");
    fh = open_with(info);
    MPI_Info_free(&info);
    CHECK(number_of(fh, "cb_buffer_size") == 1048576, "%lld", number_of(fh, "cb_buffer_size"));
    OK(MPI_File_close(&fh));
    unsetenv("BRIO_CB_BUFFER_SIZE");
}

/* What must be the same on all ranks and is not, is an error on all of them. */
static void must_be_the_same(void)
{
    if (test_nranks < 2)
        SKIP("needs two ranks");
    MPI_Info info = info_of("cb_nodes", test_rank == 0 ? "1" : "2");
    MPI_File fh = MPI_FILE_NULL;
    FAILS(
        MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh),
        MPI_ERR_NOT_SAME);
    CHECK(fh == MPI_FILE_NULL, "no handle");
    fh = open_with(MPI_INFO_NULL);
    FAILS(MPI_File_set_info(fh, info), MPI_ERR_NOT_SAME);
    MPI_Info_free(&info);
    OK(MPI_File_close(&fh));
}

/* May differ: it is one rank's own business. */
static void may_differ(void)
{
    MPI_Info info = info_of("access_style", test_rank % 2 ? "random" : "sequential");
    MPI_File fh = open_with(info);
    MPI_Info_free(&info);
    CHECK(says(fh, "access_style", test_rank % 2 ? "random" : "sequential"), "access_style");
    OK(MPI_File_close(&fh));
}

/* Each call makes a new object that belongs to the caller. */
static void objects_are_copies(void)
{
    MPI_File fh = open_with(MPI_INFO_NULL);
    long long before = number_of(fh, "cb_buffer_size");
    MPI_Info a, b;
    OK(MPI_File_get_info(fh, &a));
    OK(MPI_File_get_info(fh, &b));
    CHECK(a != b, "two objects");
    MPI_Info_set(a, "cb_buffer_size", "12345");
    MPI_Info_free(&a);
    CHECK(number_of(fh, "cb_buffer_size") == before, "%lld", number_of(fh, "cb_buffer_size"));
    OK(MPI_File_close(&fh));
    int n = 0;
    MPI_Info_get_nkeys(b, &n); /* outlives the file */
    CHECK(n > 0, "%d keys", n);
    MPI_Info_free(&b);
}

static MPI_Info info_from(MPI_File fh)
{
    MPI_Info info;
    OK(MPI_File_get_info(fh, &info));
    return info;
}

/* What MPI_File_get_info told of one file may be given to the open of another: the modules that
 * were chosen for the first are no order for the second, those that the user ordered are. */
static void passed_on(void)
{
    MPI_File fh = open_with(MPI_INFO_NULL);
    MPI_Info told = info_from(fh);
    OK(MPI_File_close(&fh));
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int there = 0;
    static const char *const frameworks[] = {"fs", "fbtl", "cache", "fcache", "fcoll"};
    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++) {
        char key[32];
        MPI_Info_get(told, frameworks[i], MPI_MAX_INFO_VAL, value, &there);
        CHECK(!there, "%s=%s would be an order", frameworks[i], value);
        snprintf(key, sizeof key, "brio_%s", frameworks[i]);
        MPI_Info_get(told, key, MPI_MAX_INFO_VAL, value, &there);
        CHECK(there, "no %s", key);
    }
    MPI_Info_set(told, "brio_cache", "writebehind"); /* could not serve this one */
    fh = open_with(told);
    MPI_Info_free(&told);
    CHECK(says(fh, "brio_cache", "none"), "it is no order");
    OK(MPI_File_close(&fh));

    MPI_Info info = info_of("fcoll", "two_phase");
    fh = open_with(info);
    MPI_Info_free(&info);
    told = info_from(fh);
    OK(MPI_File_close(&fh));
    fh = open_with(told);
    MPI_Info_free(&told);
    CHECK(says(fh, "fcoll", "two_phase") && says(fh, "brio_fcoll", "two_phase"), "an order is");
    OK(MPI_File_close(&fh));
}

static const struct test_case cases[] = {TEST(defaults_are_told), TEST(given_at_open),
                                         TEST(changed_later),     TEST(unknown_and_malformed),
                                         TEST(environment),       TEST(must_be_the_same),
                                         TEST(may_differ),        TEST(objects_are_copies),
                                         TEST(passed_on),         {0}};
TEST_MAIN(cases)
