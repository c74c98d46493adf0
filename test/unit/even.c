/* Long reads to memory that lies unevenly: all bytes come to their places, however many a call
 * brings, and none beside them is changed. */
#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "fbtl/even.h"
#include "fbtl/move.h"

enum {
    FILE_BYTES = 3 << 20,
    GUARD = 256,
    BEFORE = 0x5A /* what was in memory */
};

static unsigned char *disk;
static struct {
    int64_t size;  /* of the file */
    int64_t bad;   /* from here on a read fails */
    int64_t upset; /* how far a call that fails has come */
    bool lazy;     /* calls bring less than was asked for */
    int calls, even;
} sys;

static struct brio_trial trial;

/* As if both ways had been tried already. */
static void found(int64_t straight, int64_t evenly)
{
    trial.cost[BRIO_PAYS_DOER][false] = straight << 30; /* whatever the calls here take */
    trial.cost[BRIO_PAYS_DOER][true] = evenly << 30;
    trial.uses = BRIO_TRIAL_FIRST;
}

static brio_off from_disk(const struct brio_port *port, enum brio_dir dir,
                          const struct iovec *iov, int niov, brio_off off)
{
    int64_t len = (int64_t)iov->iov_len, n = off < sys.size ? brio_min(len, sys.size - off) : 0;
    (void)port;
    CHECK(dir == BRIO_READ && niov == 1, "not one piece to read");
    sys.calls++;
    sys.even += ((uintptr_t)iov->iov_base - (uintptr_t)off) % (BRIO_LINE / 2) == 0;
    if (sys.lazy && test_below(4) == 0)
        return -EINTR;
    if (off + n > sys.bad) {
        memset(iov->iov_base, 0xBD, (size_t)brio_min(n, sys.upset));
        return -EIO;
    }
    if (sys.lazy && n > 1)
        n = 1 + test_below(n);
    memcpy(iov->iov_base, disk + off, (size_t)n);
    return n;
}

static const struct brio_calls names = {.name = {{"pread", "preadv"}, {"pwrite", "pwritev"}}};

static void check_memory(const unsigned char *mem, int64_t at, int64_t off, int64_t n,
                         int64_t all)
{
    for (int64_t i = 0; i < all; i++) {
        int want = i >= at && i < at + n ? disk[off + i - at] : BEFORE;
        if (mem[i] != want) {
            CHECK(0, "byte %lld of %lld is %02x, not %02x", (long long)(i - at), (long long)n,
                  mem[i], want);
            return;
        }
    }
}

/* Behind what a read that failed has brought anything may be. */
static void read_once(int64_t beside, int64_t off, int64_t len)
{
    const struct brio_port port = {
        .move = from_disk, .most = 1 << 30, .evenness = &trial, .calls = &names, .block = 4096};
    const int64_t all = len + 2 * GUARD, at = GUARD + beside;
    unsigned char *mem = aligned_alloc(BRIO_LINE, (size_t)(all + BRIO_LINE) & ~63ul);
    memset(mem, BEFORE, (size_t)all);
    struct brio_result r = brio_move_flat(&port, BRIO_READ, mem + at, off, len);
    int64_t there = off < sys.size ? brio_min(len, sys.size - off) : 0;
    if (sys.bad >= off + there) {
        CHECK(!r.err && r.bytes == there, "%lld of %lld bytes", (long long)r.bytes,
              (long long)there);
        check_memory(mem, at, off, there, all);
    } else {
        CHECK(r.err == BRIO_EIO, "no error");
        check_memory(mem, at, off, r.bytes, at + r.bytes);
    }
    free(mem);
}

static void fill_disk(void)
{
    found(100, 1);
    disk = malloc(FILE_BYTES);
    for (int64_t i = 0; i < FILE_BYTES; i++)
        disk[i] = (unsigned char)(i * 7 + i / 251);
    sys.size = FILE_BYTES;
    sys.bad = INT64_MAX;
    sys.lazy = false;
}

static void all_places(void)
{
    fill_disk();
    for (int64_t beside = 0; beside < BRIO_LINE; beside++)
        for (int64_t off = 0; off < 5; off++)
            read_once(beside, off * 4099, (1200 << 10) + beside * off);
    free(disk);
}

static void short_and_interrupted(void)
{
    fill_disk();
    sys.lazy = true;
    for (int i = 0; i < 300; i++) {
        sys.size = FILE_BYTES - test_below(FILE_BYTES);
        read_once(test_below(BRIO_LINE), test_below(FILE_BYTES), 1 + test_below(FILE_BYTES));
    }
    free(disk);
}

static void failing(void)
{
    fill_disk();
    for (int i = 0; i < 300; i++) {
        sys.bad = test_below(FILE_BYTES);
        sys.upset = test_below(100);
        sys.lazy = i % 2;
        read_once(test_below(BRIO_LINE), test_below(FILE_BYTES / 2),
                  1 + test_below(FILE_BYTES));
    }
    free(disk);
}

/* Of a long read all calls but the first are even, if that is faster. */
static void are_even(void)
{
    fill_disk();
    found(100, 86);
    sys.lazy = false;
    sys.calls = sys.even = 0;
    read_once(16, 8192, 2 << 20);
    CHECK(sys.calls >= 2 && sys.even == sys.calls - 1, "%d even of %d", sys.even, sys.calls);
    sys.calls = 0;
    read_once(32, 8192, 2 << 20);
    CHECK(sys.calls == 1, "%d calls where one would do", sys.calls);
    found(100, 90);
    sys.calls = 0;
    read_once(16, 8192, 2 << 20);
    CHECK(sys.calls == 1, "%d calls where one is as fast", sys.calls);
    free(disk);
}

/* What is not known is tried each way, and then it is known. */
static void both_are_tried(void)
{
    fill_disk();
    memset(&trial, 0, sizeof trial);
    for (int i = 0; i < BRIO_TRIAL_FIRST; i++)
        read_once(16, 8192, 1 << 20);
    CHECK(trial.cost[BRIO_PAYS_DOER][0] > 0 && trial.cost[BRIO_PAYS_DOER][1] > 0,
          "one way was not tried");
    free(disk);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {TEST(all_places),     TEST(short_and_interrupted),
                                             TEST(failing),        TEST(are_even),
                                             TEST(both_are_tried), {0}};
    return test_main(argc, argv, cases);
}
