/* Where cached bytes lie, and where they do not: memory that an earlier file has left behind is
 * used for the next one, and nothing of the earlier file may come out of it; a large contiguous
 * write goes to the file without being kept, in its turn among the small ones around it. */
#include <fcntl.h>

#include "check_mpi.h"
#include "nodes_comm.h"

enum {
    PAGE = 16384,
    OLD = 12 * PAGE + 300, /* bytes of a file before it is written */
    STEP = 3001,           /* from one record to the next */
    RECORD = 7,
    PART = 8 * PAGE + 1000, /* bytes that one rank writes: pages at its ends are shared */
    CAP = 8 * PART
};

static MPI_File open_cached(const char *cache, int nodes, const char *path, const char *size)
{
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info;
    int amode = strcmp(cache, "coherent") == 0 ? MPI_MODE_RDWR : MPI_MODE_WRONLY;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cache", cache);
    MPI_Info_set(info, "cache_page", "16384");
    MPI_Info_set(info, "cache_size", size);
    int rc = MPI_File_open(nodes_comm(nodes), path, amode | MPI_MODE_CREATE, info, &fh);
    CHECK(rc == MPI_SUCCESS, "open of %s: %d", path, rc);
    MPI_Info_free(&info);
    return fh;
}

static void put(MPI_File fh, MPI_Offset at, char what, int len)
{
    static char buf[PART];
    MPI_Status st;
    int got = -1;
    memset(buf, what, sizeof buf);
    int rc = MPI_File_write_at(fh, at, buf, len, MPI_BYTE, &st);
    MPI_Get_count(&st, MPI_BYTE, &got);
    CHECK(rc == MPI_SUCCESS && got == len, "%d: %d bytes at %lld", rc, got, (long long)at);
}

/* By system calls: how many of the bytes are there and are not `what`, or are missing. */
static long count_others(const char *path, off_t at, char what, size_t len)
{
    static char buf[CAP];
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : pread(fd, buf, len, at);
    long bad = (long)len - (n > 0 ? n : 0);
    for (ssize_t i = 0; i < n; i++)
        bad += buf[i] != what;
    if (fd >= 0)
        close(fd);
    return bad;
}

/* ---- Second-hand memory --------------------------------------------------------------------
 */

static void make_old(const char *path)
{
    static char buf[OLD];
    memset(buf, 'o', sizeof buf);
    if (test_rank == 0) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        CHECK(fd >= 0 && write(fd, buf, OLD) == OLD, "making %s", path);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every byte that the ranks can cache. */
static void fill_all(const char *cache, int nodes, const char *path, const char *size)
{
    MPI_File fh = open_cached(cache, nodes, path, size);
    if (fh == MPI_FILE_NULL)
        return;
    for (int i = test_rank; i * 1000 < 40 * PAGE; i += test_nranks)
        put(fh, i * 1000, 'x', 1000);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS, "close");
}

static void write_records(MPI_File fh)
{
    for (int i = test_rank; (i + 1) * STEP < OLD; i += test_nranks)
        put(fh, i * STEP, 'r', RECORD);
}

/* Only the records are new. */
static void check_records(const char *path)
{
    MPI_Barrier(MPI_COMM_WORLD);
    long bad = 0;
    int i = 0;
    for (; (i + 1) * STEP < OLD; i++)
        bad += count_others(path, i * STEP, 'r', RECORD) +
               count_others(path, i * STEP + RECORD, 'o', STEP - RECORD);
    bad += count_others(path, i * STEP, 'o', (size_t)(OLD - i * STEP));
    CHECK(bad == 0, "%ld bytes are not what was there or was written", bad);
    CHECK(count_others(path, OLD, 'o', 1) == 1, "the file is longer than it was");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void read_old(MPI_File fh)
{
    char buf[100] = {0};
    for (int i = 0; (i + 1) * STEP < OLD; i++) {
        int rc = MPI_File_read_at(fh, i * STEP + 500, buf, 100, MPI_BYTE, MPI_STATUS_IGNORE);
        int bad = 0;
        for (int k = 0; k < 100; k++)
            bad += buf[k] != 'o';
        CHECK(rc == MPI_SUCCESS && bad == 0, "%d: %d wrong bytes after record %d", rc, bad, i);
    }
}

/* A file that fills the memory, then one with gaps. */
static void after_another(const char *before, const char *cache, int nodes, const char *size)
{
    fill_all(before, nodes, test_file(), size);
    make_old(test_file());
    MPI_File fh = open_cached(cache, nodes, test_file(), "262144");
    if (fh == MPI_FILE_NULL)
        return;
    write_records(fh);
    if (strcmp(cache, "coherent") == 0)
        read_old(fh);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS, "close");
    check_records(test_file());
}

/* What was laid out for one cache is used by another, or for a larger or smaller one. */
static void nothing_comes_back(void)
{
    static const char *const caches[] = {"writebehind", "coherent"};
    static const char *const sizes[] = {"262144", "1048576", "65536"};
    for (int nodes = 1; nodes <= 2; nodes++)
        for (int i = 0; i < 12; i++)
            after_another(caches[i % 2], caches[i / 2 % 2], nodes, sizes[i / 4]);
}

/* The memory that was kept is for one of them. */
static void two_files_at_once(void)
{
    char other[600];
    snprintf(other, sizeof other, "%s.other", test_file());
    for (int nodes = 1; nodes <= 2; nodes++) {
        fill_all("writebehind", nodes, test_file(), "262144");
        make_old(test_file());
        make_old(other);
        MPI_File a = open_cached("writebehind", nodes, test_file(), "262144");
        MPI_File b = open_cached("coherent", nodes, other, "262144");
        if (a != MPI_FILE_NULL && b != MPI_FILE_NULL) {
            write_records(a);
            write_records(b);
            read_old(b);
            CHECK(MPI_File_close(&a) == MPI_SUCCESS, "close");
            CHECK(MPI_File_close(&b) == MPI_SUCCESS, "close");
            check_records(test_file());
            check_records(other);
        }
    }
    if (test_rank == 0)
        unlink(other);
}

/* A file of some ranks uses memory that a file of all of them left, and the other way round. */
static void of_fewer_ranks(void)
{
    MPI_Comm half;
    MPI_Info info;
    char mine[600];
    int first = test_rank < (test_nranks + 1) / 2;
    MPI_Comm_split(MPI_COMM_WORLD, first, test_rank, &half);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cache", "writebehind");
    snprintf(mine, sizeof mine, "%s.%d", test_file(), first);
    for (int round = 0; round < 3; round++) {
        MPI_File fh = MPI_FILE_NULL;
        int rank;
        fill_all("writebehind", 1, test_file(), "262144");
        MPI_Comm_rank(half, &rank);
        int rc = MPI_File_open(half, mine, MPI_MODE_WRONLY | MPI_MODE_CREATE, info, &fh);
        REQUIRE(rc == MPI_SUCCESS, "open: %d", rc);
        put(fh, rank * PAGE, (char)('a' + round), 10);
        CHECK(MPI_File_close(&fh) == MPI_SUCCESS, "close");
        CHECK(count_others(mine, rank * PAGE, (char)('a' + round), 10) == 0, "round %d", round);
        if (rank > 0)
            CHECK(count_others(mine, rank * PAGE - 1000, '\0', 1000) == 0,
                  "the gap is not empty");
        make_old(test_file());
        fh = open_cached("writebehind", 1, test_file(), "262144");
        write_records(fh);
        CHECK(MPI_File_close(&fh) == MPI_SUCCESS, "close");
        check_records(test_file());
    }
    MPI_Info_free(&info);
    MPI_Comm_free(&half);
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(mine);
}

/* ---- Large writes ---------------------------------------------------------------------------
 */

static char image[CAP];

static void put_both(MPI_File fh, MPI_Offset at, char what, int len)
{
    put(fh, at, what, len);
    memset(image + at, what, (size_t)len);
}

/* Small, large and small again, over each other; what is kept back is not in the file. */
static void write_over(MPI_File fh, MPI_Offset base, int alone)
{
    for (int at = 50; at + 100 < PART; at += 1000)
        put_both(fh, base + at, 'a', 100);
    CHECK(count_others(test_file(), base + 5 * PAGE + 50 - 5 * PAGE % 1000, 'a', 100) > 0,
          "a small write was not kept back");
    put_both(fh, base + PAGE / 4, 'B', 5 * PAGE / 2);
    if (alone)
        CHECK(count_others(test_file(), base + PAGE / 4, 'B', 5 * PAGE / 2) == 0,
              "a large write was kept back");
    put_both(fh, base + PAGE / 2, 'c', 100);
    if (alone)
        CHECK(count_others(test_file(), base + PAGE / 2, 'B', 100) == 0,
              "a small write was not kept back after a large one");
    put_both(fh, base + PAGE, 'D', PAGE);
    put_both(fh, base + 2 * PAGE - 30, 'e', 60);
    put_both(fh, base + 4 * PAGE, 'f', PAGE / 2);
    put_both(fh, base + 6 * PAGE, 'g', PAGE / 2 - 1);
    if (!alone)
        return;
    CHECK(count_others(test_file(), base + 4 * PAGE, 'f', PAGE / 2) == 0,
          "half a page was kept back");
    CHECK(count_others(test_file(), base + 6 * PAGE, 'g', PAGE / 2 - 1) > 0,
          "less than half a page was not kept back");
}

/* Of this rank's part, up to where it wrote last: behind that the file may end. */
static long count_wrong(off_t base)
{
    static char buf[PART];
    const ssize_t len = PART - 1000;
    int fd = open(test_file(), O_RDONLY);
    long bad = len - pread(fd, buf, (size_t)len, base);
    for (ssize_t i = 0; i < len; i++)
        bad += buf[i] != image[base + i];
    close(fd);
    return bad;
}

static void large_writes_are_not_copied(void)
{
    for (int nodes = 1; nodes <= 2 && nodes <= test_nranks; nodes++) {
        memset(image, 0, sizeof image);
        if (test_rank == 0)
            unlink(test_file());
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File fh = open_cached("writebehind", nodes, test_file(), "4194304");
        if (fh == MPI_FILE_NULL)
            return;
        write_over(fh, (MPI_Offset)test_rank * PART, nodes == 1);
        CHECK(MPI_File_sync(fh) == MPI_SUCCESS, "sync");
        long bad = count_wrong((off_t)test_rank * PART);
        CHECK(bad == 0, "%d nodes: %ld wrong bytes", nodes, bad);
        CHECK(MPI_File_close(&fh) == MPI_SUCCESS, "close");
    }
}

static const struct test_case cases[] = {TEST(nothing_comes_back),
                                         TEST(two_files_at_once),
                                         TEST(of_fewer_ranks),
                                         TEST(large_writes_are_not_copied),
                                         {0}};

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    int code = test_main_mpi(argc, argv, cases);
    nodes_forget();
    MPI_Finalize();
    return code;
}
