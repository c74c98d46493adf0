/* Long writes of several ranks go in parts that fit a core's cache: all bytes, each once, in
 * order; and in one call where nobody waits for another. */
#include "fbtl/warm.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "fbtl/move.h"
#include "type/node.h"

enum {
    MOST = 4 << 20,     /* bytes of a write */
    LARGEST = 512 << 10 /* of a call */
};

static unsigned char mem[MOST], disk[MOST];
static struct {
    int64_t at;      /* where the next call has to begin */
    int64_t longest; /* call */
    int calls;
    bool lazy;  /* calls move less than they are asked to */
    bool empty; /* the file has no data */
} sys;

static brio_off to_disk(const struct brio_port *port, enum brio_dir dir,
                        const struct iovec *iov, int niov, brio_off off)
{
    int64_t n = 0;
    (void)port;
    CHECK(dir == BRIO_WRITE && off == sys.at, "a call at %lld, not %lld", (long long)off,
          (long long)sys.at);
    sys.calls++;
    if (sys.lazy && test_below(4) == 0)
        return -EINTR;
    for (int i = 0; i < niov; i++) {
        int64_t len = (int64_t)iov[i].iov_len, some = sys.lazy ? 1 + test_below(len) : len;
        memcpy(disk + off + n, iov[i].iov_base, (size_t)some);
        n += some;
        if (some < len)
            break;
    }
    sys.longest = n > sys.longest ? n : sys.longest;
    sys.at += n;
    return n;
}

static bool holds(const struct brio_port *port, brio_off off)
{
    (void)port, (void)off;
    return !sys.empty;
}

static struct brio_trial trial;

static void know(bool better)
{
    const int64_t little = 1 << 20, much = little << 20; /* whatever the calls here take */
    trial.cost[BRIO_PAYS_DOER][false] = better ? much : little;
    trial.cost[BRIO_PAYS_DOER][true] = better ? little : much;
    trial.uses = BRIO_TRIAL_FIRST;
}

static const struct brio_calls names = {.name = {{"pread", "preadv"}, {"pwrite", "pwritev"}}};

static const struct brio_port warming = {.move = to_disk,
                                         .most = 1 << 30,
                                         .warmth = &trial,
                                         .holds = holds,
                                         .calls = &names,
                                         .block = 4096};

/* `len` bytes in pieces of `piece` that lie `stride` apart in memory. */
static void write_once(bool warms, int64_t len, int64_t piece, int64_t stride)
{
    struct brio_port port = warming;
    struct brio_map *file, *pieces;
    struct brio_node *node;
    REQUIRE(!brio_map_bytes(1, &file) && !brio_node_bytes(piece, 0, &node) &&
                !brio_map_new(node, 0, stride, &pieces),
            "no maps");
    struct brio_io io = {
        .dir = BRIO_WRITE, .file = file, .mem = pieces, .buf = mem, .bytes = len};
    if (!warms)
        port.warmth = NULL;
    sys.at = sys.longest = sys.calls = 0;
    know(true);
    memset(disk, 0, sizeof disk);
    struct brio_result r = brio_move_stretches(&port, &io);
    CHECK(!r.err && r.bytes == len && sys.at == len, "%lld of %lld bytes", (long long)r.bytes,
          (long long)len);
    for (int64_t i = 0; i < len; i++)
        if (disk[i] != mem[i / piece * stride + i % piece]) {
            CHECK(0, "byte %lld of %lld is another", (long long)i, (long long)len);
            break;
        }
    brio_map_unref(file);
    brio_map_unref(pieces);
}

static void fill(void)
{
    for (int64_t i = 0; i < MOST; i++)
        mem[i] = (unsigned char)(i * 7 + i / 251 + 1);
}

static void long_ones_go_in_parts(void)
{
    fill();
    sys.lazy = false;
    for (int64_t len = 1; len <= MOST; len = len * 5 / 2 + 1) {
        write_once(true, len, MOST, MOST);
        CHECK(sys.longest <= LARGEST, "a call of %lld bytes", (long long)sys.longest);
        CHECK(len > LARGEST || sys.calls == 1, "%d calls for %lld bytes", sys.calls,
              (long long)len);
        write_once(false, len, MOST, MOST);
        CHECK(sys.calls == 1, "%d calls where nobody waits", sys.calls);
    }
}

static void pieces_of_memory(void)
{
    fill();
    for (int i = 0; i < 60; i++) {
        sys.lazy = i % 2;
        int64_t piece = 1 + test_below(200 << 10), stride = piece + test_below(piece);
        int64_t len = 1 + test_below(MOST / stride * piece);
        write_once(true, len, piece, stride);
        CHECK(sys.longest <= LARGEST, "a call of %lld bytes", (long long)sys.longest);
    }
}

static brio_off refuse(const struct brio_port *port, enum brio_dir dir, const struct iovec *iov,
                       int niov, brio_off off)
{
    (void)port, (void)dir, (void)iov, (void)niov, (void)off;
    return -EFAULT;
}

static void not_where_it_is_worse(void)
{
    fill();
    know(false);
    sys.lazy = false;
    sys.at = sys.calls = 0;
    struct brio_result r = brio_move_flat(&warming, BRIO_WRITE, mem, 0, MOST);
    CHECK(!r.err && r.bytes == MOST && memcmp(mem, disk, MOST) == 0, "other bytes");
    CHECK(sys.calls == 1, "%d calls", sys.calls);
}

static void what_is_new_goes_in_one_call(void)
{
    fill();
    sys.lazy = false;
    sys.empty = true;
    write_once(true, MOST, MOST, MOST);
    CHECK(sys.calls == 1, "%d calls", sys.calls);
    CHECK(trial.uses == BRIO_TRIAL_FIRST, "it was tried");
    sys.empty = false;
}

static void both_ways_are_tried(void)
{
    fill();
    memset(&trial, 0, sizeof trial);
    for (int i = 0; i < 2 * BRIO_TRIAL_FIRST; i++) {
        sys.at = 0;
        struct brio_result r = brio_move_flat(&warming, BRIO_WRITE, mem, 0, MOST);
        CHECK(!r.err && r.bytes == MOST && memcmp(mem, disk, MOST) == 0, "other bytes");
    }
    for (int way = 0; way < 2; way++)
        CHECK(trial.cost[BRIO_PAYS_DOER][way] > 0, "one way was not tried");
}

/* What cannot be read is the system's to refuse. */
static void memory_that_cannot_be_read(void)
{
    struct brio_port port = warming;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), len = MOST;
    port.move = refuse;
    char *at = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED, "no memory");
    know(true);
    struct brio_result r = brio_move_flat(&port, BRIO_WRITE, at, 0, (brio_off)len);
    CHECK(r.err && r.bytes == 0, "%lld bytes", (long long)r.bytes);
    CHECK(mprotect(at, page, PROT_READ) == 0, "no page");
    r = brio_move_flat(&port, BRIO_WRITE, at, 0, (brio_off)len);
    CHECK(r.err && r.bytes == 0, "%lld bytes", (long long)r.bytes);
    munmap(at, len);
}

static const struct test_case cases[] = {TEST(long_ones_go_in_parts),
                                         TEST(pieces_of_memory),
                                         TEST(not_where_it_is_worse),
                                         TEST(what_is_new_goes_in_one_call),
                                         TEST(both_ways_are_tried),
                                         TEST(memory_that_cannot_be_read),
                                         {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
