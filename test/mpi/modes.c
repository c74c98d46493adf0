/* Access modes, names and handles: what open promises and close ends. */
#include "expect.h"

static int open_mode(const char *path, int amode)
{
    MPI_File fh;
    int err = MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &fh);
    if (err == MPI_SUCCESS)
        OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    return err;
}

static void contradictions(void)
{
    make_file(test_file(), 10, 1);
    const char *f = test_file();
    FAILS(open_mode(f, 0), MPI_ERR_AMODE);
    FAILS(open_mode(f, MPI_MODE_RDONLY | MPI_MODE_WRONLY), MPI_ERR_AMODE);
    FAILS(open_mode(f, MPI_MODE_RDONLY | MPI_MODE_RDWR), MPI_ERR_AMODE);
    FAILS(open_mode(f, MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE);
    FAILS(open_mode(f, MPI_MODE_RDONLY | MPI_MODE_EXCL), MPI_ERR_AMODE);
    FAILS(open_mode(f, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL), MPI_ERR_AMODE);
    FAILS(open_mode(other_file("missing"), MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
    FAILS(open_mode(other_file("missing"), MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
    CHECK(size_on_disk(f) == 10, "nothing happened to the file");
    CHECK(size_on_disk(other_file("missing")) == -1, "nothing was made");
}

static void read_only(void)
{
    make_file(test_file(), 10, 'a');
    MPI_File fh = open_file(MPI_MODE_RDONLY);
    char buf[4] = "xyz";
    int amode = 0;
    FAILS(MPI_File_write_at(fh, 0, buf, 3, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    FAILS(MPI_File_write_at_all(fh, 0, buf, 3, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    FAILS(MPI_File_write_shared(fh, buf, 3, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    FAILS(MPI_File_set_size(fh, 5), MPI_ERR_READ_ONLY);
    OK(MPI_File_read_at_all(fh, 2, buf, 3, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(memcmp(buf, "aaa", 3) == 0, "%s", buf);
    OK(MPI_File_get_amode(fh, &amode));
    CHECK(amode == MPI_MODE_RDONLY, "%d", amode);
    OK(MPI_File_close(&fh));
    CHECK(size_on_disk(test_file()) == 10, "size");
}

/* Also a strided write, which would have to read what lies between. */
static void write_only(void)
{
    enum {
        N = 100
    };
    make_file(test_file(), N * 8 * test_nranks, 0x44);
    MPI_File fh = open_file(MPI_MODE_WRONLY);
    unsigned char data[N], file[N * 8];
    MPI_Datatype v;
    memset(data, 0x66, N);
    FAILS(MPI_File_read_at(fh, 0, data, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    FAILS(MPI_File_read_all(fh, data, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    MPI_Type_vector(N, 1, 8, MPI_BYTE, &v);
    MPI_Type_commit(&v);
    OK(MPI_File_set_view(fh, N * 8 * test_rank, MPI_BYTE, v, "native", MPI_INFO_NULL));
    OK(MPI_File_write(fh, data, N / 2, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_write_all(fh, data, N / 2, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Type_free(&v);
    OK(MPI_File_close(&fh));
    load_file(test_file(), N * 8 * test_rank, file, sizeof file);
    for (int i = 0; i < N * 8; i++)
        CHECK(file[i] == (i % 8 ? 0x44 : 0x66), "byte %d: %02x", i, file[i]);
}

static void append(void)
{
    make_file(test_file(), 24, 'a');
    MPI_File fh = open_file(MPI_MODE_RDWR | MPI_MODE_APPEND);
    MPI_Offset own = -1, shared = -1;
    OK(MPI_File_get_position(fh, &own));
    OK(MPI_File_get_position_shared(fh, &shared));
    CHECK(own == 24 && shared == 24, "at %lld, shared %lld", (long long)own, (long long)shared);
    MPI_Barrier(MPI_COMM_WORLD); /* all have looked before it moves */
    char c = 'b';
    OK(MPI_File_write_ordered(fh, &c, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    if (test_rank == 0)
        OK(MPI_File_write_at(fh, 0, "c", 1, MPI_CHAR, MPI_STATUS_IGNORE)); /* not appended */
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(size_on_disk(test_file()) == 24 + test_nranks, "size %lld",
          (long long)size_on_disk(test_file()));
    char head[2];
    load_file(test_file(), 0, head, 2);
    CHECK(head[0] == 'c' && head[1] == 'a', "%.2s", head);
}

static void exclusive(void)
{
    int all = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL;
    OK(open_mode(test_file(), all));
    FAILS(open_mode(test_file(), all), MPI_ERR_FILE_EXISTS);
    OK(open_mode(test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE));
    if (test_rank == 0)
        unlink(test_file());
    MPI_Barrier(MPI_COMM_WORLD);
    /* every rank for itself: one of them makes it */
    MPI_File fh;
    int err = MPI_File_open(MPI_COMM_SELF, test_file(), all, MPI_INFO_NULL, &fh);
    int won = err == MPI_SUCCESS, winners;
    if (won)
        OK(MPI_File_close(&fh));
    else
        CHECK(error_class(err) == MPI_ERR_FILE_EXISTS, "%s", error_text(err));
    MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(winners == 1, "%d winners", winners);
}

/* All ranks, each on its own communicator, make the same file at the same time. */
static void concurrent_create(void)
{
    MPI_File fh;
    OK(MPI_File_open(MPI_COMM_SELF, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                     &fh));
    OK(MPI_File_write_at(fh, 4 * test_rank, &test_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < test_nranks; r++) {
        int got = -1;
        load_file(test_file(), 4 * r, &got, 4);
        CHECK(got == r, "rank %d's word is %d", r, got);
    }
}

static void delete_on_close(void)
{
    MPI_File fh = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    int value = test_rank;
    OK(MPI_File_write_at_all(fh, 4 * test_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(size_on_disk(test_file()) > 0, "there while open");
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(size_on_disk(test_file()) == -1, "still there");
}

static void unique_open(void)
{
    int amode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_UNIQUE_OPEN, got = 0;
    MPI_File fh = open_file(amode);
    int value = test_rank;
    OK(MPI_File_get_amode(fh, &got));
    CHECK(got == amode, "%d", got);
    OK(MPI_File_write_at_all(fh, 4 * test_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(fh, 4 * test_rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(got == test_rank, "%d", got);
    OK(MPI_File_close(&fh));
}

static void sequential(void)
{
    MPI_File fh = open_file(MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL);
    int value = 100 + test_rank;
    MPI_Offset at;
    MPI_Request req;
    OK(MPI_File_write_ordered(fh, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_write_shared(fh, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    FAILS(MPI_File_write(fh, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
          MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_write_at(fh, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
          MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_write_at_all(fh, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
          MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_iwrite(fh, &value, 1, MPI_INT, &req), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_seek(fh, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_get_position(fh, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_Barrier(MPI_COMM_WORLD); /* all have written before the view begins here */
    OK(MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native",
                         MPI_INFO_NULL));
    OK(MPI_File_write_ordered(fh, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(size_on_disk(test_file()) == 12 * test_nranks, "size %lld",
          (long long)size_on_disk(test_file()));
    for (int third = 0; third < 3; third += 2) {
        int got = 0;
        load_file(test_file(), 4 * (third * test_nranks + test_rank), &got, 4);
        CHECK(got == 100 + test_rank, "%d", got);
    }
}

static void file_perm(void)
{
    MPI_File fh;
    MPI_Info info;
    struct stat st;
    mode_t mask = umask(0);
    MPI_Info_create(&info);
    MPI_Info_set(info, "file_perm", "0640");
    OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh));
    OK(MPI_File_close(&fh));
    CHECK(stat(test_file(), &st) == 0 && (st.st_mode & 0777) == 0640, "mode %o",
          (unsigned)st.st_mode);
    MPI_Info_free(&info);
    umask(mask);
}

/* A colon is an ordinary character of a name, also one that looks like a file system. */
static void odd_names(void)
{
    static const char *const tails[] = {"a:b", "with space", "-dash", "ünï", "%s%n"};
    for (int i = 0; i < 5; i++) {
        char path[700];
        MPI_File fh;
        snprintf(path, sizeof path, "%s", other_file(tails[i]));
        OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                         &fh));
        OK(MPI_File_close(&fh));
        CHECK(size_on_disk(path) == 0, "%s", path);
        MPI_Barrier(MPI_COMM_WORLD);
        if (test_rank == 0)
            OK(MPI_File_delete(path, MPI_INFO_NULL));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(size_on_disk(path) == -1, "%s is still there", path);
    }
    FAILS(MPI_File_delete(other_file("never"), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
}

/* A good many files at once, closed in another order than opened. */
static void many_files(void)
{
    enum {
        FILES = 200
    };
    static MPI_File fh[FILES];
    char path[700], name[16];
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "m%d", i);
        snprintf(path, sizeof path, "%s", other_file(name));
        OK(MPI_File_open(MPI_COMM_WORLD, path,
                         MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                         MPI_INFO_NULL, &fh[i]));
        for (int j = 0; j < i; j++)
            CHECK(fh[i] != fh[j], "handles %d and %d are the same", i, j);
    }
    for (int i = 0; i < FILES; i++) {
        int value = 1000 * i + test_rank;
        OK(MPI_File_write_at(fh[i], 4 * test_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    for (int k = 0; k < FILES; k++) {
        int i = k * 77 % FILES, got = 0;
        OK(MPI_File_read_at(fh[i], 4 * test_rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(got == 1000 * i + test_rank, "file %d: %d", i, got);
        OK(MPI_File_close(&fh[i]));
        CHECK(fh[i] == MPI_FILE_NULL, "the handle is null after close");
    }
}

static void reopen(void)
{
    for (int i = 0; i < 50; i++) {
        MPI_File fh = open_new();
        int got = -1, value = i + test_rank;
        OK(MPI_File_read_at(fh, 4 * test_rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(i == 0 || got == value - 1, "round %d: %d", i, got);
        OK(MPI_File_write_at(fh, 4 * test_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&fh));
    }
}

/* A rank that is through with the close of a common file opens one of its own at once, while
 * others are still on their way out. */
static void own_file_after_common(void)
{
    char path[700];
    snprintf(path, sizeof path, "%s.%d", test_file(), test_rank);
    for (int i = 0; i < 100; i++) {
        MPI_File fh = open_new();
        OK(MPI_File_close(&fh));
        for (int k = 0; k < 2; k++) {
            OK(MPI_File_open(MPI_COMM_SELF, path,
                             MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                             MPI_INFO_NULL, &fh));
            OK(MPI_File_write_shared(fh, &i, 1, MPI_INT, MPI_STATUS_IGNORE));
            OK(MPI_File_close(&fh));
        }
    }
}

static void stale_handles(void)
{
    MPI_File fh = open_new(), old = fh, null = MPI_FILE_NULL, other;
    int word = 0;
    OK(MPI_File_close(&fh));
    CHECK(fh == MPI_FILE_NULL, "null after close");
    other = open_new();
    FAILS(MPI_File_write_at(old, 0, &word, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    FAILS(MPI_File_get_amode(old, &word), MPI_ERR_FILE);
    FAILS(MPI_File_close(&old), MPI_ERR_FILE);
    FAILS(MPI_File_close(&null), MPI_ERR_FILE);
    FAILS(MPI_File_read_at_all(MPI_FILE_NULL, 0, &word, 1, MPI_INT, MPI_STATUS_IGNORE),
          MPI_ERR_FILE);
    OK(MPI_File_get_amode(other, &word));
    OK(MPI_File_close(&other));
}

static void communicators(void)
{
    MPI_Comm half;
    MPI_Group group, mine;
    MPI_File fh;
    int color = test_rank % 2, result, size, value = test_rank;
    char path[700];
    MPI_Comm_split(MPI_COMM_WORLD, color, -test_rank, &half);
    snprintf(path, sizeof path, "%s", other_file(color ? "odd" : "even"));
    OK(MPI_File_open(half, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &fh));
    OK(MPI_File_get_group(fh, &group));
    MPI_Comm_group(half, &mine);
    MPI_Group_compare(group, mine, &result);
    CHECK(result == MPI_IDENT, "group %d", result);
    MPI_Group_free(&group);
    MPI_Group_free(&mine);
    MPI_Comm_size(half, &size);
    MPI_Comm_free(&half); /* the file does not need it any more */
    OK(MPI_File_write_ordered(fh, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    int got[64];
    OK(MPI_File_read_at_all(fh, 0, got, size, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i + 1 < size; i++) /* the key turned the ranks around */
        CHECK(got[i] > got[i + 1], "%d before %d", got[i], got[i + 1]);
    OK(MPI_File_close(&fh));
}

static const struct test_case cases[] = {TEST(contradictions),
                                         TEST(read_only),
                                         TEST(write_only),
                                         TEST(append),
                                         TEST(exclusive),
                                         TEST(concurrent_create),
                                         TEST(delete_on_close),
                                         TEST(unique_open),
                                         TEST(sequential),
                                         TEST(file_perm),
                                         TEST(odd_names),
                                         TEST(many_files),
                                         TEST(reopen),
                                         TEST(own_file_after_common),
                                         TEST(stale_handles),
                                         TEST(communicators),
                                         {0}};
TEST_MAIN(cases)
