/* cache/coherent on several ranks, on one node and on pretended ones: random mixes of all kinds
 * of accesses against an array of bytes, one page for all, ranks that are busy, failures. */
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "brio/brio.h"
#include "busy.h"
#include "calls.h"
#include "expect.h"
#include "idle.h"

enum {
    PAGE = 512,
    SPAN = 40000, /* bytes of the file that are used */
    RECORDS = 2   /* of each rank that are written by the shared pointer at one time */
};

/* One open with the cache. */
struct scene {
    MPI_Comm comm;
    MPI_File fh;
    int nodes;
};

static void set_nodes(int nodes)
{
    char text[16];
    snprintf(text, sizeof text, "%d", nodes);
    setenv("BRIO_NODES", text, 1);
}

static MPI_File open_cached(MPI_Comm comm, int amode, const char *size)
{
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cache", "coherent");
    MPI_Info_set(info, "cache_page", "512");
    MPI_Info_set(info, "cache_size", size);
    OK(MPI_File_open(comm, test_file(), amode, info, &fh));
    MPI_Info_free(&info);
    return fh;
}

static int open_scene(struct scene *s, int nodes, const char *size)
{
    set_nodes(nodes);
    s->nodes = nodes;
    MPI_Comm_dup(MPI_COMM_WORLD, &s->comm); /* a new one: nodes are asked once for each */
    if (test_rank == 0)
        unlink(test_file());
    MPI_Barrier(s->comm);
    s->fh = open_cached(s->comm, MPI_MODE_RDWR | MPI_MODE_CREATE, size);
    return s->fh != MPI_FILE_NULL;
}

static void close_scene(struct scene *s)
{
    OK(MPI_File_close(&s->fh));
    MPI_Comm_free(&s->comm);
}

/* Runs it on one node, on two, and on as many as there are ranks. */
static void on_nodes(const char *size, void (*run)(struct scene *s))
{
    const int nodes[] = {1, 2, test_nranks};
    for (int i = 0, failed = 0; i < 3 && !failed; i++) {
        struct scene s;
        if ((i > 0 && nodes[i] == nodes[i - 1]) || nodes[i] > test_nranks)
            continue;
        if (!open_scene(&s, nodes[i], size))
            return;
        run(&s);
        close_scene(&s);
        MPI_Allreduce(&test_failed, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
}

/* ---- Mixes against an array ---------------------------------------------------------------
 */

static unsigned char model[2 * SPAN];
static int64_t model_size;

static unsigned char content(int64_t round, int64_t at)
{
    return (unsigned char)(round * 131 + at * 7 + at / 251);
}

static void model_write(int64_t round, int64_t off, int64_t len)
{
    for (int64_t i = off; i < off + len; i++)
        model[i] = content(round, i);
    if (len > 0 && off + len > model_size)
        model_size = off + len;
}

/* Reads [off, off + len) and compares. */
static void expect_read(MPI_File fh, int64_t off, int64_t len, int coll)
{
    static unsigned char buf[2 * SPAN];
    MPI_Status st;
    int64_t want = off >= model_size ? 0 : len < model_size - off ? len : model_size - off;
    memset(buf, 0xee, (size_t)len);
    if (coll)
        OK(MPI_File_read_at_all(fh, off, buf, (int)len, MPI_BYTE, &st));
    else
        OK(MPI_File_read_at(fh, off, buf, (int)len, MPI_BYTE, &st));
    CHECK(status_bytes(&st) == want, "read of %lld at %lld: %lld bytes, not %lld",
          (long long)len, (long long)off, (long long)status_bytes(&st), (long long)want);
    for (int64_t i = 0; i < want; i++)
        if (buf[i] != model[off + i]) {
            CHECK(0, "byte %lld is %d, not %d", (long long)(off + i), buf[i], model[off + i]);
            break;
        }
    for (int64_t i = want; i < len; i++)
        if (buf[i] != 0xee) {
            CHECK(0, "byte %lld behind the end was touched", (long long)i);
            break;
        }
}

/* The file is cut at random; each piece has one rank that may write it, or nobody. All ranks
 * draw the same numbers. */
static void write_pieces(struct scene *s, int64_t round)
{
    static unsigned char buf[SPAN];
    int64_t largest = test_below(3) ? 300 : 6000;
    for (int64_t off = test_below(2000); off < SPAN;) {
        int64_t len = 1 + test_below(largest);
        int who = (int)test_below(test_nranks + 1);
        len = len < SPAN - off ? len : SPAN - off;
        if (who == test_rank) {
            for (int64_t i = 0; i < len; i++)
                buf[i] = content(round, off + i);
            MPI_Status st;
            const struct call c = {off % 2 ? AT : IAT, off,      buf,
                                   (int)len,           MPI_BYTE, off % 3 > 0};
            OK(call_write(s->fh, &c, &st));
            CHECK(status_bytes(&st) == len, "%lld bytes", (long long)status_bytes(&st));
            /* A rank sees its own writes at once, whatever the others do. */
            unsigned char got = 0;
            OK(MPI_File_read_at(s->fh, off + len - 1, &got, 1, MPI_BYTE, MPI_STATUS_IGNORE));
            CHECK(got == buf[len - 1], "not the byte just written at %lld",
                  (long long)(off + len - 1));
        }
        if (who < test_nranks)
            model_write(round, off, len);
        off += len + (test_below(3) ? 0 : test_below(3000));
    }
}

/* Every rank has a strided view; together they cover everything in turns. */
static void write_strided(struct scene *s, int64_t round, int coll)
{
    static unsigned char buf[SPAN];
    int block = 1 + (int)test_below(700), count = 1 + (int)test_below(6);
    int64_t disp = test_below(3000);
    MPI_Datatype type;
    MPI_Type_vector(count, block, block * test_nranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    OK(MPI_File_set_view(s->fh, disp + (int64_t)test_rank * block, MPI_BYTE, type, "native",
                         MPI_INFO_NULL));
    int64_t n = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < block; j++)
            buf[n++] =
                content(round, disp + ((int64_t)i * test_nranks + test_rank) * block + j);
    if (coll)
        OK(MPI_File_write_all(s->fh, buf, (int)n, MPI_BYTE, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write(s->fh, buf, (int)n, MPI_BYTE, MPI_STATUS_IGNORE));
    model_write(round, disp, (int64_t)count * block * test_nranks);
    OK(MPI_File_set_view(s->fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Type_free(&type);
}

/* By the shared pointer: in rank order, wherever it stands. */
static void write_ordered(struct scene *s, int64_t round)
{
    static unsigned char buf[500];
    int64_t at = test_below(SPAN - 500 * 8);
    int len = 1 + (int)test_below(500);
    OK(MPI_File_seek_shared(s->fh, at, MPI_SEEK_SET));
    for (int i = 0; i < len; i++)
        buf[i] = content(round, at + (int64_t)test_rank * len + i);
    OK(MPI_File_write_ordered(s->fh, buf, len, MPI_BYTE, MPI_STATUS_IGNORE));
    model_write(round, at, (int64_t)len * test_nranks);
}

/* One of the records that are written by the shared pointer in any order. */
static unsigned char record_byte(int64_t round, int who, int i)
{
    return (unsigned char)(round * 131 + who * 29 + i * 7 + i / 251);
}

static int find_record(int64_t round, const unsigned char *got, int len)
{
    for (int who = 0; who < RECORDS * test_nranks; who++) {
        int i = 0;
        while (i < len && got[i] == record_byte(round, who, i))
            i++;
        if (i == len)
            return who;
    }
    return -1;
}

/* By the shared pointer, in any order: each record is there once. The model learns the order.
 */
static void write_shared(struct scene *s, int64_t round)
{
    static unsigned char buf[500], all[RECORDS * 8 * 500];
    const int n = RECORDS * test_nranks, len = 1 + (int)test_below(500);
    const int64_t at = test_below(SPAN - RECORDS * 8 * 500);
    bool seen[RECORDS * 8] = {false};
    OK(MPI_File_seek_shared(s->fh, at, MPI_SEEK_SET));
    for (int k = 0; k < RECORDS; k++) {
        for (int i = 0; i < len; i++)
            buf[i] = record_byte(round, RECORDS * test_rank + k, i);
        OK(MPI_File_write_shared(s->fh, buf, len, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    MPI_Barrier(s->comm);
    OK(MPI_File_read_at(s->fh, at, all, n * len, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int k = 0; k < n; k++) {
        int who = find_record(round, all + k * len, len);
        CHECK(who >= 0 && !seen[who], "record %d at %lld is %d's", k, (long long)at, who);
        if (who >= 0)
            seen[who] = true;
    }
    model_write(round, at, (int64_t)n * len);
    memcpy(model + at, all, (size_t)(n * len));
}

static void change_size(struct scene *s)
{
    int64_t size = test_below(SPAN + 2000);
    if (test_below(3) == 0) {
        OK(MPI_File_preallocate(s->fh, size));
        model_size = size > model_size ? size : model_size;
        return;
    }
    OK(MPI_File_set_size(s->fh, size));
    if (size < model_size)
        memset(model + size, 0, (size_t)(model_size - size));
    model_size = size;
}

static void check_size(struct scene *s)
{
    MPI_Offset size = -1;
    OK(MPI_File_get_size(s->fh, &size));
    CHECK(size == model_size, "size %lld, not %lld", (long long)size, (long long)model_size);
}

static void check_disk(void)
{
    static unsigned char buf[2 * SPAN];
    int fd = open(test_file(), O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof buf);
    CHECK(n == model_size && memcmp(buf, model, (size_t)model_size) == 0,
          "%lld bytes on disk, or others, not %lld", (long long)n, (long long)model_size);
    if (fd >= 0)
        close(fd);
}

/* On disk: `len` bytes from `off` on. */
static void expect_bytes(int64_t off, int len, unsigned char want)
{
    unsigned char buf[PAGE];
    int fd = open(test_file(), O_RDONLY), same = pread(fd, buf, (size_t)len, off) == len;
    for (int i = 0; i < len && same; i++)
        same = buf[i] == want;
    CHECK(same, "%d bytes at %lld are not all %d", len, (long long)off, want);
    close(fd);
}

static void one_round(struct scene *s, int64_t round)
{
    switch (test_below(9)) {
    case 0:
        write_strided(s, round, 1);
        break;
    case 1:
        write_strided(s, round, 0);
        break;
    case 2:
        write_ordered(s, round);
        break;
    case 3:
        change_size(s);
        break;
    case 4:
        write_shared(s, round);
        break;
    case 5:
        OK(MPI_File_sync(s->fh));
        MPI_Barrier(s->comm);
        check_disk();
        break;
    default:
        write_pieces(s, round);
    }
    MPI_Barrier(s->comm); /* the cache is coherent: no sync is needed */
    uint64_t common = test_state;
    test_state += (uint64_t)(test_rank + 1) << 32;
    for (int i = 0; i < 4; i++)
        expect_read(s->fh, test_below(SPAN), 1 + test_below(3000), 0);
    test_state = common;
    expect_read(s->fh, test_below(SPAN), 1 + test_below(3000), 1);
    check_size(s);
    MPI_Barrier(s->comm);
}

static void mix(struct scene *s)
{
    memset(model, 0, sizeof model);
    model_size = 0;
    for (int round = 1; round <= 25 && !test_failed; round++) {
        if (round % 8 == 0)
            OK(MPI_File_set_atomicity(s->fh, round % 16 == 0));
        one_round(s, round);
        int failed;
        MPI_Allreduce(&test_failed, &failed, 1, MPI_INT, MPI_MAX, s->comm);
        if (failed)
            break;
    }
    OK(MPI_File_sync(s->fh));
    MPI_Barrier(s->comm);
    check_disk();
}

static void mixes(void)
{
    unsigned long long seed = test_seed();
    MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    test_state = seed;
    on_nodes("4096", mix); /* less than the largest accesses: those go past the cache */
    on_nodes("1m", mix);
    if (test_failed)
        fprintf(stderr, "seed %llu\n", seed);
}

/* ---- Two phases ----------------------------------------------------------------------------
 */

static long long write_calls(struct scene *s)
{
    long long mine = -1, all = 0;
    OK(brio_counter(s->fh, "write.calls", &mine));
    MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, s->comm);
    return all;
}

/* Pages of all ranks in turn, one piece of the file: they leave together, wherever they are.
 * A second piece far behind them has a gap, which is not written. */
static void neighbours(struct scene *s)
{
    enum {
        PAGES = 200
    };
    unsigned char buf[PAGE], want = 'z';
    memset(buf, 'a' + test_rank, sizeof buf);
    if (test_rank == 0)
        OK(MPI_File_write_at(s->fh, 2 * PAGES * PAGE + 7, &want, 1, MPI_BYTE,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_sync(s->fh));
    long long before = write_calls(s);
    for (int p = test_rank; p < PAGES; p += test_nranks) {
        OK(MPI_File_write_at(s->fh, p * PAGE, buf, PAGE, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_write_at(s->fh, (2 * PAGES + p) * PAGE + 8, buf, PAGE - 8, MPI_BYTE,
                             MPI_STATUS_IGNORE));
    }
    OK(MPI_File_sync(s->fh));
    long long calls = write_calls(s) - before;
    CHECK(calls <= PAGES + test_nranks, "%d pages and as many runs in %lld calls", PAGES,
          calls);
    for (int p = 0; p < PAGES; p++) {
        expect_bytes(p * PAGE, PAGE, (unsigned char)('a' + p % test_nranks));
        expect_bytes((2 * PAGES + p) * PAGE + 8, PAGE - 8,
                     (unsigned char)('a' + p % test_nranks));
    }
    expect_bytes(2 * PAGES * PAGE + 7, 1, want);
    MPI_Barrier(s->comm);
}

static void neighbours_leave_together(void)
{
    on_nodes("1m", neighbours);
}

/* ---- One page for all ---------------------------------------------------------------------
 */

/* Records across the boundary of two pages, all bytes equal: none is ever seen half. */
static void hammer(struct scene *s)
{
    unsigned char buf[200];
    OK(MPI_File_set_atomicity(s->fh, 1));
    memset(buf, 0, sizeof buf);
    OK(MPI_File_write_at(s->fh, PAGE - 100, buf, sizeof buf, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(s->comm);
    for (int i = 0; i < 60 && !test_failed; i++) {
        memset(buf, 1 + (i * test_nranks + test_rank) % 250, sizeof buf);
        OK(MPI_File_write_at(s->fh, PAGE - 100, buf, sizeof buf, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(s->fh, PAGE - 100, buf, sizeof buf, MPI_BYTE, MPI_STATUS_IGNORE));
        for (size_t j = 1; j < sizeof buf; j++)
            if (buf[j] != buf[0]) {
                CHECK(0, "a record of two writers: %d and %d", buf[0], buf[j]);
                break;
            }
    }
}

static void one_page_for_all(void)
{
    on_nodes("8192", hammer);
}

/* ---- Ranks that are busy ------------------------------------------------------------------
 */

static void access_for_a_while(struct scene *s)
{
    unsigned char buf[100];
    for (int i = 0; i < 8; i++) {
        memset(buf, test_rank, sizeof buf);
        OK(MPI_File_write_at(s->fh, i * PAGE + test_rank * 20, buf, 20, MPI_BYTE,
                             MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(s->fh, i * PAGE, buf, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    }
}

/* Rank 0 has all pages; then it computes, sits in MPI_Recv, and closes first; each until the
 * others have used them. */
static void one_is_busy(struct scene *s)
{
    static unsigned char all[8 * PAGE];
    int token = 0;
    if (test_nranks == 1)
        return;
    if (test_rank == 0)
        OK(MPI_File_write_at(s->fh, 0, all, sizeof all, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(s->comm);
    if (test_rank == 0) {
        busy_compute();
        for (int r = 1; r < test_nranks; r++)
            MPI_Recv(&token, 1, MPI_INT, r, 3, s->comm, MPI_STATUS_IGNORE);
        return;
    }
    access_for_a_while(s);
    busy_done();
    access_for_a_while(s);
    MPI_Send(&token, 1, MPI_INT, 0, 3, s->comm);
    access_for_a_while(s);
}

static void busy_ranks(void)
{
    on_nodes("1m", one_is_busy);
}

static void idle(struct scene *s)
{
    access_for_a_while(s);
    MPI_Barrier(s->comm);
    double share = idle_share();
    CHECK(share < IDLE_SHARE, "an idle open file takes %.2f %% of a core", 100 * share);
    MPI_Barrier(s->comm);
}

static void idle_costs_nothing(void)
{
    on_nodes("1m", idle);
}

/* ---- Other opens, and failures ------------------------------------------------------------
 */

static void second(struct scene *s)
{
    int value = 100 + test_rank, got = 0;
    MPI_File other = open_cached(s->comm, MPI_MODE_RDWR, "8192");
    for (int round = 0; round < 3; round++, value += 1000) {
        OK(MPI_File_write_at(s->fh, 4 * test_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_sync(s->fh));
        MPI_Barrier(s->comm);
        OK(MPI_File_sync(other));
        OK(MPI_File_read_at(other, 4 * test_rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(got == value, "the second open reads %d, not %d", got, value);
    }
    OK(MPI_File_close(&other));
}

static void second_open(void)
{
    on_nodes("8192", second);
}

/* No room in the file for a while: sync says so on all ranks, and nothing is lost. */
static void full(struct scene *s)
{
    unsigned char buf[PAGE], got[PAGE];
    struct rlimit before, small;
    int64_t at = (int64_t)test_rank * PAGE;
    memset(buf, 'a' + test_rank, sizeof buf);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = PAGE / 2;
    setrlimit(RLIMIT_FSIZE, &small);
    OK(MPI_File_write_at(s->fh, at, buf, PAGE, MPI_BYTE, MPI_STATUS_IGNORE));
    int err = MPI_File_sync(s->fh);
    CHECK(err != MPI_SUCCESS, "sync to a full file succeeds");
    MPI_Barrier(s->comm);
    setrlimit(RLIMIT_FSIZE, &before);
    MPI_Barrier(s->comm);
    OK(MPI_File_sync(s->fh));
    OK(MPI_File_read_at(s->fh, at, got, PAGE, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(buf, got, PAGE) == 0, "the data is not what was written");
}

static void full_file(void)
{
    on_nodes("1m", full);
}

/* Told at the close if not before, on all ranks, and all come back. */
static void full_at_close(void)
{
    unsigned char buf[PAGE] = {1};
    struct rlimit before, small;
    struct scene s;
    if (!open_scene(&s, 1, "1m"))
        return;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = PAGE / 2;
    setrlimit(RLIMIT_FSIZE, &small);
    OK(MPI_File_write_at(s.fh, test_rank * PAGE, buf, PAGE, MPI_BYTE, MPI_STATUS_IGNORE));
    int err = MPI_File_close(&s.fh);
    CHECK(err != MPI_SUCCESS, "close of a full file succeeds");
    setrlimit(RLIMIT_FSIZE, &before);
    MPI_Comm_free(&s.comm);
}

/* A byte that nobody wrote is not written, though its page is cached: the file keeps what
 * another program put there. */
static void gap(struct scene *s)
{
    enum {
        LEN = 16 * PAGE
    };
    static unsigned char buf[LEN];
    int64_t wrong = 0;
    OK(MPI_File_set_size(s->fh, LEN));
    for (int at = 100 * test_rank; at + 3 <= LEN; at += 100 * test_nranks)
        OK(MPI_File_write_at(s->fh, at, "xyz", 3, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(s->fh, 0, buf, LEN, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(s->comm);
    if (test_rank == 0) {
        int fd = open(test_file(), O_WRONLY);
        memset(buf, 'b', sizeof buf);
        CHECK(pwrite(fd, buf, LEN, 0) == LEN, "pwrite");
        close(fd);
    }
    MPI_Barrier(s->comm);
    OK(MPI_File_sync(s->fh));
    int fd = open(test_file(), O_RDONLY);
    CHECK(pread(fd, buf, LEN, 0) == LEN, "pread");
    close(fd);
    for (int i = 0; i < LEN; i++)
        wrong += buf[i] != (i % 100 < 3 && i - i % 100 + 3 <= LEN ? "xyz"[i % 100] : 'b');
    CHECK(wrong == 0, "%lld bytes that nobody wrote, or not those that were", (long long)wrong);
    MPI_Barrier(s->comm);
}

static void leaves_gaps_alone(void)
{
    on_nodes("1m", gap);
}

static const struct test_case cases[] = {TEST(mixes),
                                         TEST(neighbours_leave_together),
                                         TEST(one_page_for_all),
                                         TEST(busy_ranks),
                                         TEST(idle_costs_nothing),
                                         TEST(second_open),
                                         TEST(full_file),
                                         TEST(full_at_close),
                                         TEST(leaves_gaps_alone),
                                         {0}};

int main(int argc, char **argv)
{
    return test_main_threads(argc, argv, cases);
}
