/* Beyond 2 and 4 GiB: offsets, sizes, counts, amounts in one call, numbers of blocks; and
 * the large-count forms of all functions. Files are sparse where they can be. */
#include <sys/mman.h>
#include <sys/statvfs.h>

#include "brio/brio.h"
#include "expect.h"

#define GIB ((int64_t)1 << 30)

/* ---- Far places
 * ------------------------------------------------------------------------------- */

static void far_offsets(void)
{
    static const int64_t places[] = {2 * GIB - 100, 4 * GIB - 100, 5 * GIB + 7, 1000 * GIB};
    MPI_File fh = open_new();
    for (int k = 0; k < 4; k++) {
        char data[300], got[300];
        MPI_Status st;
        MPI_Offset at = places[k] + 300 * test_rank, size = -1;
        memset(data, 'a' + k + test_rank, sizeof data);
        OK(MPI_File_write_at(fh, at, data, 300, MPI_CHAR, &st));
        CHECK(status_bytes(&st) == 300, "count");
        OK(MPI_File_read_at_all(fh, at, got, 300, MPI_CHAR, &st));
        CHECK(status_bytes(&st) == 300 && memcmp(got, data, 300) == 0, "place %d", k);
        OK(MPI_File_write_at_all(fh, at, data, 300, MPI_CHAR, &st));
        CHECK(status_bytes(&st) == 300, "count");
        OK(MPI_File_get_size(fh, &size));
        CHECK(size >= at + 300, "size %lld", (long long)size);
    }
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(size_on_disk(test_file()) == 1000 * GIB + 300 * test_nranks, "size %lld",
          (long long)size_on_disk(test_file()));
    for (int k = 0; k < 4; k++) {
        char got[300];
        load_file(test_file(), places[k] + 300 * test_rank, got, 300);
        CHECK(got[0] == 'a' + k + test_rank && got[299] == got[0], "place %d on disk", k);
    }
}

static void far_pointers(void)
{
    MPI_File fh = open_new();
    MPI_Offset at = -1;
    int value = test_rank, got = -1;
    OK(MPI_File_set_view(fh, 3, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_seek(fh, 3 * GIB + test_rank, MPI_SEEK_SET)); /* byte 12 GiB */
    OK(MPI_File_write(fh, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_get_position(fh, &at));
    CHECK(at == 3 * GIB + test_rank + 1, "at %lld", (long long)at);
    OK(MPI_File_seek(fh, -1, MPI_SEEK_CUR));
    OK(MPI_File_read(fh, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(got == value, "%d", got);
    OK(MPI_File_get_byte_offset(fh, 3 * GIB, &at));
    CHECK(at == 12 * GIB + 3, "byte %lld", (long long)at);
    OK(MPI_File_seek_shared(fh, 5 * GIB, MPI_SEEK_SET));
    OK(MPI_File_write_ordered(fh, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_get_position_shared(fh, &at));
    CHECK(at == 5 * GIB + test_nranks, "shared at %lld", (long long)at);
    OK(MPI_File_close(&fh));
    load_file(test_file(), 20 * GIB + 3 + 4 * test_rank, &got, 4);
    CHECK(got == value, "%d", got);
}

/* A view of three times 2^30 blocks of one byte; only its ends are touched. */
static void many_blocks(void)
{
    MPI_File fh = open_new();
    MPI_Datatype v, t;
    MPI_Offset at = -1, last = 3 * GIB - 1;
    char c = (char)('A' + test_rank), got[4] = {0};
    MPI_Status st;
    MPI_Type_vector(1 << 30, 1, 2, MPI_CHAR, &v);
    MPI_Type_contiguous(3, v, &t); /* a tile is 2^31 - 1 bytes */
    MPI_Type_commit(&t);
    OK(MPI_File_set_view(fh, test_rank, MPI_CHAR, t, "native", MPI_INFO_NULL));
    OK(MPI_File_get_byte_offset(fh, last, &at));
    CHECK(at == test_rank + 3 * (2 * GIB - 1) - 1, "byte %lld", (long long)at);
    if (test_rank < 2) {
        OK(MPI_File_write_at(fh, last, &c, 1, MPI_CHAR, &st));
        OK(MPI_File_read_at(fh, last - 3, got, 4, MPI_CHAR, &st));
        CHECK(status_bytes(&st) == 4 && got[3] == c && got[2] == 0, "%d %d", got[2], got[3]);
    }
    MPI_Type_free(&v);
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
    if (test_rank < 2) {
        load_file(test_file(), at, got, 1);
        CHECK(got[0] == c, "%d on disk", got[0]);
    }
}

/* A view so sparse that its bytes are soon 2^63 and more away from the first: 2^64 is not 0. */
static void beyond_any_file(void)
{
    const MPI_Offset far = (MPI_Offset)1 << 24;
    MPI_File fh = open_new();
    MPI_Datatype t;
    MPI_Offset at = -1;
    MPI_Request q = MPI_REQUEST_NULL;
    char data[16] = "beyond any file";
    MPI_Type_create_resized(MPI_BYTE, 0, (MPI_Aint)1 << 40, &t);
    MPI_Type_commit(&t);
    OK(MPI_File_set_view(fh, 0, MPI_BYTE, t, "native", MPI_INFO_NULL));
    OK(MPI_File_get_byte_offset(fh, far / 2 - 1, &at));
    CHECK(at == (far / 2 - 1) << 40, "byte %lld", (long long)at);
    FAILS(MPI_File_get_byte_offset(fh, far / 2, &at), MPI_ERR_ARG);
    for (int n = 1; n <= 16; n += 15) {
        FAILS(MPI_File_write_at(fh, far - n + 1, data, n, MPI_BYTE, MPI_STATUS_IGNORE),
              MPI_ERR_ARG);
        FAILS(MPI_File_write_at_all(fh, far, data, n, MPI_BYTE, MPI_STATUS_IGNORE),
              MPI_ERR_ARG);
        FAILS(MPI_File_write_at_all(fh, test_rank == 0 ? far - 1 : 0, data,
                                    test_rank == 0 ? n : 0, MPI_BYTE, MPI_STATUS_IGNORE),
              test_rank == 0 ? MPI_ERR_ARG : MPI_ERR_IO);
        OK(MPI_File_iwrite_at_all(fh, far + test_rank, data, n, MPI_BYTE, &q));
        FAILS(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_ERR_ARG);
        OK(MPI_File_seek_shared(fh, far, MPI_SEEK_SET));
        FAILS(MPI_File_write_ordered(fh, data, n, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
        FAILS(MPI_File_write_shared(fh, data, n, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    }
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
    CHECK(size_on_disk(test_file()) == 0, "%lld bytes", (long long)size_on_disk(test_file()));
}

#if MPI_VERSION >= 4
/* Types that only large-count constructors can make, in a view and in memory. */
static void large_types(void)
{
    MPI_File fh = open_new();
    MPI_Datatype v, m;
    MPI_Offset at = -1;
    MPI_Count one[2] = {1, 1}, disp[2] = {0, 6 * GIB};
    char data[2] = {'x', 'y'}, got[2] = {0};
    MPI_Type_vector_c(5 * GIB, 1, 3, MPI_CHAR, &v);
    MPI_Type_commit(&v);
    OK(MPI_File_set_view(fh, 0, MPI_CHAR, v, "native", MPI_INFO_NULL));
    OK(MPI_File_get_byte_offset(fh, 5 * GIB - 1, &at));
    CHECK(at == 15 * GIB - 3, "byte %lld", (long long)at);
    MPI_Type_create_hindexed_c(2, one, disp, MPI_CHAR, &m);
    MPI_Type_commit(&m);
    OK(MPI_File_set_view(fh, test_rank, MPI_CHAR, m, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(fh, 0, data, 2, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI_Type_free(&v);
    MPI_Type_free(&m);
    OK(MPI_File_close(&fh));
    load_file(test_file(), test_rank, got, 1);
    load_file(test_file(), 6 * GIB + test_rank, got + 1, 1);
    CHECK(got[0] == 'x' && got[1] == 'y', "%d %d", got[0], got[1]);
}
#endif

/* ---- Much data in one call
 * -------------------------------------------------------------------- */

enum {
    PAGE = 4096,
    PERIOD = 16411 * PAGE
}; /* no power of two divides it often */

static unsigned char expected(int64_t i)
{
    int64_t p = i % PERIOD;
    return (unsigned char)(p ^ p >> 8 ^ p >> 16 ^ p >> 24);
}

/* `bytes` of memory with the pattern, in which a few pages appear again and again. */
static unsigned char *map_pattern(int64_t bytes)
{
    int fd = memfd_create("pattern", 0);
    unsigned char *all =
        mmap(NULL, (size_t)bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fd < 0 || all == MAP_FAILED || ftruncate(fd, PERIOD) != 0)
        return NULL;
    for (int64_t at = 0; at < bytes; at += PERIOD) {
        int64_t n = bytes - at < PERIOD ? bytes - at : PERIOD;
        if (mmap(all + at, (size_t)n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
            MAP_FAILED)
            return NULL;
    }
    close(fd);
    for (int64_t i = 0; i < PERIOD && i < bytes; i++)
        all[i] = expected(i);
    return all;
}

/* Gigabytes go to memory where there is enough of it: a disk may take minutes. */
static MPI_File open_big(char *path, size_t room)
{
    struct statvfs fs;
    MPI_File fh = MPI_FILE_NULL;
    int64_t pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    int memory = pages * page > 7 * GIB && statvfs("/dev/shm", &fs) == 0 &&
                 (int64_t)fs.f_bavail * (int64_t)fs.f_bsize > 7 * GIB;
    snprintf(path, room, "%s", test_file());
    if (memory)
        snprintf(path, room, "/dev/shm/brio-large.%ld", (long)getpid());
    OK(MPI_File_open(MPI_COMM_WORLD, path,
                     MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &fh));
    return fh;
}

/* Samples: everywhere a little, all of it around the powers of two. */
static void check_pattern(const char *path, int64_t bytes)
{
    static unsigned char part[8192];
    for (int64_t at = 0; at + 8192 <= bytes;) {
        load_file(path, at, part, sizeof part);
        for (int i = 0; i < 8192; i++)
            if (part[i] != expected(at + i)) {
                CHECK(0, "byte %lld is %02x, not %02x", (long long)(at + i), part[i],
                      expected(at + i));
                return;
            }
        int64_t left = GIB - at % GIB;
        at += left > 8192 * 20 && left < GIB - 8192 * 20 ? 8192 * 16 : 8192;
    }
}

/* More than 4 GiB by a large count of bytes. */
static void write_four_gib(void)
{
    if (test_nranks > 1)
        SKIP("on one rank only");
    int64_t bytes = 4 * GIB + 123 * PAGE;
    unsigned char *data = map_pattern(bytes);
    REQUIRE(data, "no memory");
    char path[600];
    MPI_File fh = open_big(path, sizeof path);
    MPI_Status st;
    OK(MPI_File_write_at_c(fh, 0, data, bytes, MPI_BYTE, &st));
    CHECK(status_bytes(&st) == bytes, "%lld bytes", (long long)status_bytes(&st));
    CHECK(size_on_disk(path) == bytes, "size");
    check_pattern(path, bytes);
    OK(MPI_File_close(&fh));
    munmap(data, (size_t)bytes);
}

/* More than 2 GiB by a small count of a large type, written and read, end of file inside. */
static void two_gib_by_type(void)
{
    if (test_nranks > 1)
        SKIP("on one rank only");
    enum {
        COUNT = 2100
    };
    int64_t item = 1 << 20, bytes = COUNT * item, n = -1;
    unsigned char *data = map_pattern(bytes);
    REQUIRE(data, "no memory");
    char path[600];
    MPI_File fh = open_big(path, sizeof path);
    MPI_Status st;
    MPI_Datatype t;
    MPI_Count elements = -1;
    MPI_Type_contiguous((int)item, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    OK(MPI_File_write_all(fh, data, COUNT, t, &st));
    CHECK(status_count(&st, t) == COUNT, "count %d", status_count(&st, t));
    MPI_Get_elements_x(&st, t, &elements);
    CHECK(elements == bytes, "%lld elements", (long long)elements);
    munmap(data, (size_t)bytes);
    check_pattern(path, bytes);

    OK(MPI_File_set_size(fh, bytes - 5 * item));
    data = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(data != MAP_FAILED, "no memory");
    OK(MPI_File_read_at(fh, 0, data, COUNT, t, &st));
    n = status_bytes(&st);
    CHECK(n == bytes - 5 * item && status_count(&st, t) == COUNT - 5, "%lld bytes",
          (long long)n);
    for (int64_t i = 0; i<n; i += i % GIB> GIB - 5000 || i % GIB < 5000 ? 1 : 997)
        if (data[i] != expected(i)) {
            CHECK(0, "byte %lld is %02x", (long long)i, data[i]);
            break;
        }
    munmap(data, (size_t)bytes);
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
}

/* ---- The large-count forms, each once
 * ---------------------------------------------------------- */

static int data[8], got[8];

static void begin_form(MPI_File fh, int form)
{
    for (int i = 0; i < 8; i++)
        data[i] = form * 1000 + test_rank * 10 + i;
    memset(got, 0, sizeof got);
    OK(MPI_File_seek(fh, 8 * test_rank, MPI_SEEK_SET));
}

static void end_form(MPI_File fh, int form, const MPI_Status *st)
{
    CHECK(status_count(st, MPI_INT) == 8, "form %d: count %d", form, status_count(st, MPI_INT));
    CHECK(memcmp(got, data, sizeof got) == 0, "form %d: data", form);
    sync_all(fh);
}

static void blocking_forms(void)
{
    MPI_File fh = open_new();
    MPI_Status st;
    MPI_Offset at = 8 * test_rank;
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    begin_form(fh, 1);
    OK(MPI_File_write_at_c(fh, at, data, 8, MPI_INT, &st));
    OK(MPI_File_read_at_c(fh, at, got, 8, MPI_INT, &st));
    end_form(fh, 1, &st);
    begin_form(fh, 2);
    OK(MPI_File_write_at_all_c(fh, at, data, 8, MPI_INT, &st));
    OK(MPI_File_read_at_all_c(fh, at, got, 8, MPI_INT, &st));
    end_form(fh, 2, &st);
    begin_form(fh, 3);
    OK(MPI_File_write_c(fh, data, 8, MPI_INT, &st));
    OK(MPI_File_seek(fh, at, MPI_SEEK_SET));
    OK(MPI_File_read_c(fh, got, 8, MPI_INT, &st));
    end_form(fh, 3, &st);
    begin_form(fh, 4);
    OK(MPI_File_write_all_c(fh, data, 8, MPI_INT, &st));
    OK(MPI_File_seek(fh, at, MPI_SEEK_SET));
    OK(MPI_File_read_all_c(fh, got, 8, MPI_INT, &st));
    end_form(fh, 4, &st);
    begin_form(fh, 5);
    OK(MPI_File_write_ordered_c(fh, data, 8, MPI_INT, &st));
    sync_all(fh);
    OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    OK(MPI_File_read_ordered_c(fh, got, 8, MPI_INT, &st));
    end_form(fh, 5, &st);
    OK(MPI_File_close(&fh));
}

static void nonblocking_forms(void)
{
    MPI_File fh = open_new();
    MPI_Status st;
    MPI_Request req;
    MPI_Offset at = 8 * test_rank;
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    begin_form(fh, 1);
    OK(MPI_File_iwrite_at_c(fh, at, data, 8, MPI_INT, &req));
    OK(MPI_Wait(&req, &st));
    OK(MPI_File_iread_at_c(fh, at, got, 8, MPI_INT, &req));
    OK(MPI_Wait(&req, &st));
    end_form(fh, 1, &st);
    begin_form(fh, 2);
    OK(MPI_File_iwrite_at_all_c(fh, at, data, 8, MPI_INT, &req));
    OK(MPI_Wait(&req, &st));
    OK(MPI_File_iread_at_all_c(fh, at, got, 8, MPI_INT, &req));
    OK(MPI_Wait(&req, &st));
    end_form(fh, 2, &st);
    begin_form(fh, 3);
    OK(MPI_File_iwrite_c(fh, data, 8, MPI_INT, &req));
    OK(MPI_Wait(&req, &st));
    OK(MPI_File_seek(fh, at, MPI_SEEK_SET));
    OK(MPI_File_iread_c(fh, got, 8, MPI_INT, &req));
    OK(MPI_Wait(&req, &st));
    end_form(fh, 3, &st);
    begin_form(fh, 4);
    OK(MPI_File_iwrite_all_c(fh, data, 8, MPI_INT, &req));
    OK(MPI_Wait(&req, &st));
    OK(MPI_File_seek(fh, at, MPI_SEEK_SET));
    OK(MPI_File_iread_all_c(fh, got, 8, MPI_INT, &req));
    OK(MPI_Wait(&req, &st));
    end_form(fh, 4, &st);
    OK(MPI_File_close(&fh));
}

static void split_forms(void)
{
    MPI_File fh = open_new();
    MPI_Status st;
    MPI_Count extent = -1;
    MPI_Offset at = 8 * test_rank;
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    begin_form(fh, 1);
    OK(MPI_File_write_at_all_begin_c(fh, at, data, 8, MPI_INT));
    OK(MPI_File_write_at_all_end(fh, data, &st));
    OK(MPI_File_read_at_all_begin_c(fh, at, got, 8, MPI_INT));
    OK(MPI_File_read_at_all_end(fh, got, &st));
    end_form(fh, 1, &st);
    begin_form(fh, 2);
    OK(MPI_File_write_all_begin_c(fh, data, 8, MPI_INT));
    OK(MPI_File_write_all_end(fh, data, &st));
    OK(MPI_File_seek(fh, at, MPI_SEEK_SET));
    OK(MPI_File_read_all_begin_c(fh, got, 8, MPI_INT));
    OK(MPI_File_read_all_end(fh, got, &st));
    end_form(fh, 2, &st);
    begin_form(fh, 3);
    OK(MPI_File_write_ordered_begin_c(fh, data, 8, MPI_INT));
    OK(MPI_File_write_ordered_end(fh, data, &st));
    sync_all(fh);
    OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    OK(MPI_File_read_ordered_begin_c(fh, got, 8, MPI_INT));
    OK(MPI_File_read_ordered_end(fh, got, &st));
    end_form(fh, 3, &st);
    OK(MPI_File_get_type_extent_c(fh, MPI_INT, &extent));
    CHECK(extent == 4, "extent %lld", (long long)extent);
    FAILS(MPI_File_write_at_c(fh, 0, data, -1, MPI_INT, &st), MPI_ERR_COUNT);
    OK(MPI_File_close(&fh));
}

/* Who reads or writes what is not said by a shared pointer: one rank alone. */
static void shared_forms(void)
{
    MPI_File fh = MPI_FILE_NULL;
    MPI_Status st;
    MPI_Request req;
    char path[700];
    snprintf(path, sizeof path, "%s.%d", test_file(), test_rank);
    OK(MPI_File_open(MPI_COMM_SELF, path,
                     MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &fh));
    for (int form = 1; form <= 2; form++) {
        for (int i = 0; i < 8; i++)
            data[i] = form * 1000 + i;
        OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
        if (form == 1) {
            OK(MPI_File_write_shared_c(fh, data, 8, MPI_INT, &st));
        } else {
            OK(MPI_File_iwrite_shared_c(fh, data, 8, MPI_INT, &req));
            OK(MPI_Wait(&req, &st));
        }
        OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
        memset(got, 0, sizeof got);
        if (form == 1) {
            OK(MPI_File_read_shared_c(fh, got, 8, MPI_INT, &st));
        } else {
            OK(MPI_File_iread_shared_c(fh, got, 8, MPI_INT, &req));
            OK(MPI_Wait(&req, &st));
        }
        CHECK(status_count(&st, MPI_INT) == 8 && memcmp(got, data, sizeof got) == 0, "form %d",
              form);
    }
    OK(MPI_File_close(&fh));
}

static const struct test_case cases[] = {TEST(far_offsets),
                                         TEST(far_pointers),
                                         TEST(many_blocks),
                                         TEST(beyond_any_file),
#if MPI_VERSION >= 4
                                         TEST(large_types),
#endif
                                         TEST(blocking_forms),
                                         TEST(nonblocking_forms),
                                         TEST(split_forms),
                                         TEST(shared_forms),
                                         TEST(two_gib_by_type),
                                         TEST(write_four_gib),
                                         {0}};
TEST_MAIN(cases)
