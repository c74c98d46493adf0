/* File sizes: set_size, preallocate, get_size, and what they must leave alone. */
#include "expect.h"

static int64_t size_of(MPI_File fh)
{
    MPI_Offset size = -1;
    OK(MPI_File_get_size(fh, &size));
    return size;
}

static void grow_and_shrink(void)
{
    static const int64_t sizes[] = {100, 5000, 5000, 37, 0, 1, 6000000000, 12};
    MPI_File fh = open_new();
    CHECK(size_of(fh) == 0, "new file");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        OK(MPI_File_set_size(fh, sizes[i]));
        CHECK(size_of(fh) == sizes[i], "%lld, not %lld", (long long)size_of(fh),
              (long long)sizes[i]);
        CHECK(size_on_disk(test_file()) == sizes[i], "on disk");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    FAILS(MPI_File_set_size(fh, -1), MPI_ERR_ARG);
    CHECK(size_of(fh) == 12, "a refused size changes nothing");
    OK(MPI_File_close(&fh));
}

/* What is cut off is gone; what comes back is zero; the rest stays. */
static void content(void)
{
    make_file(test_file(), 1000, 'x');
    MPI_File fh = open_file(MPI_MODE_RDWR);
    char buf[1000];
    MPI_Status st;
    OK(MPI_File_set_size(fh, 600));
    OK(MPI_File_read_at_all(fh, 500, buf, 500, MPI_CHAR, &st));
    CHECK(status_bytes(&st) == 100, "%lld bytes", (long long)status_bytes(&st));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_set_size(fh, 1000));
    OK(MPI_File_read_at(fh, 0, buf, 1000, MPI_CHAR, &st));
    CHECK(status_bytes(&st) == 1000, "%lld bytes", (long long)status_bytes(&st));
    for (int i = 0; i < 1000; i++)
        CHECK(buf[i] == (i < 600 ? 'x' : 0), "byte %d is %02x", i, (unsigned char)buf[i]);
    OK(MPI_File_close(&fh));
}

static void pointers_stay(void)
{
    MPI_File fh = open_new();
    MPI_Offset own, shared;
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_seek(fh, 33 + test_rank, MPI_SEEK_SET));
    OK(MPI_File_seek_shared(fh, 44, MPI_SEEK_SET));
    OK(MPI_File_set_size(fh, 8));
    OK(MPI_File_preallocate(fh, 100));
    OK(MPI_File_set_size(fh, 40000));
    OK(MPI_File_get_position(fh, &own));
    OK(MPI_File_get_position_shared(fh, &shared));
    CHECK(own == 33 + test_rank && shared == 44, "%lld, %lld", (long long)own,
          (long long)shared);
    OK(MPI_File_close(&fh));
}

/* Never changes a byte, never shrinks, and really takes the space. */
static void preallocate(void)
{
    enum {
        OLD = 3000,
        NEW = 1 << 20
    };
    make_file(test_file(), OLD, 'p');
    MPI_File fh = open_file(MPI_MODE_RDWR);
    OK(MPI_File_preallocate(fh, 100));
    CHECK(size_of(fh) == OLD, "never shrinks: %lld", (long long)size_of(fh));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_preallocate(fh, NEW));
    CHECK(size_of(fh) == NEW, "%lld", (long long)size_of(fh));
    struct stat st;
    CHECK(stat(test_file(), &st) == 0 && st.st_blocks * 512 >= NEW, "only %lld on disk",
          (long long)st.st_blocks * 512);
    FAILS(MPI_File_preallocate(fh, -5), MPI_ERR_ARG);
    OK(MPI_File_close(&fh));
    char *all = malloc(NEW);
    load_file(test_file(), 0, all, NEW);
    for (int i = 0; i < NEW; i++)
        if (all[i] != (i < OLD ? 'p' : 0)) {
            CHECK(0, "byte %d is %02x", i, (unsigned char)all[i]);
            break;
        }
    free(all);
}

/* Space for a hole that has data on both sides. */
static void preallocate_hole(void)
{
    enum {
        END = 400000
    };
    MPI_File fh = open_new();
    char c = 'q', all[2];
    if (test_rank == 0) {
        OK(MPI_File_write_at(fh, 0, &c, 1, MPI_CHAR, MPI_STATUS_IGNORE));
        OK(MPI_File_write_at(fh, END - 1, &c, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    }
    sync_all(fh);
    OK(MPI_File_preallocate(fh, END));
    CHECK(size_of(fh) == END, "%lld", (long long)size_of(fh));
    OK(MPI_File_close(&fh));
    struct stat st;
    CHECK(stat(test_file(), &st) == 0 && st.st_blocks * 512 >= END, "only %lld on disk",
          (long long)st.st_blocks * 512);
    load_file(test_file(), 0, all, 2);
    CHECK(all[0] == 'q' && all[1] == 0, "%02x %02x", all[0], all[1]);
    load_file(test_file(), END - 2, all, 2);
    CHECK(all[0] == 0 && all[1] == 'q', "%02x %02x", all[0], all[1]);
}

/* A write makes the file longer, and the writer sees that at once. */
static void own_writes_count(void)
{
    MPI_File fh = open_new();
    char c = 1;
    for (int i = 1; i < 20; i++) {
        MPI_Offset at = 1000 * i + test_rank;
        OK(MPI_File_write_at(fh, at, &c, 1, MPI_CHAR, MPI_STATUS_IGNORE));
        CHECK(size_of(fh) > at, "%lld after a write at %lld", (long long)size_of(fh),
              (long long)at);
    }
    OK(MPI_File_write_at(fh, 1 << 20, &c, 0, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(size_of(fh) < 1 << 20, "a write of nothing makes nothing longer");
    MPI_Barrier(MPI_COMM_WORLD); /* all have looked */
    OK(MPI_File_write_at_all(fh, 2000000 + test_rank, &c, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(size_of(fh) >= 2000001 + test_rank, "%lld", (long long)size_of(fh));
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(size_on_disk(test_file()) == 2000000 + test_nranks, "%lld",
          (long long)size_on_disk(test_file()));
}

static const struct test_case cases[] = {TEST(grow_and_shrink),
                                         TEST(content),
                                         TEST(pointers_stay),
                                         TEST(preallocate),
                                         TEST(preallocate_hole),
                                         TEST(own_writes_count),
                                         {0}};
TEST_MAIN(cases)
