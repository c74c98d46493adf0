/* The contract of fbtl on a system that fails: every byte that is claimed is there, every
 * byte that is there up to the failure is claimed. */
#include <sched.h>
#include <sys/mount.h>

#include "bed.h"

/* ---- Failures
 * ----------------------------------------------------------------------------------- */

/* Shapes that a module may write in different ways. */
static void make_shape(struct pattern *file, struct pattern *mem, int shape)
{
    pattern_vector(mem, shape == 1 ? 100 : 1, shape == 1 ? 3 : 1, 7, 0, shape == 1 ? 4 : 0);
    if (shape < 2)
        pattern_vector(file, 1, 1, 0, 0, 0);
    else if (shape == 2)
        pattern_vector(file, 1000, 4, 16, 0, 12); /* dense */
    else
        pattern_vector(file, 10, 500, 9000, 0, 100); /* sparse */
}

enum {
    NSHAPES = 4
};

/* Writes; the system refuses from file offset `end` on. Every byte below must be claimed and
 * be there, no byte at or behind it claimed. */
static void write_to_the_end(struct bed *bed, int shape, int64_t end, enum brio_err expected)
{
    static struct pattern file, mem;
    static unsigned char buf[1 << 18];
    make_shape(&file, &mem, shape);
    random_bytes(buf, sizeof buf);
    struct brio_io io = make_io(BRIO_WRITE, &file, 50, &mem, buf, 40000);
    int64_t want = prefix_below(&io, &file, end);
    REQUIRE(want > 0 && want < io.bytes, "the case is wrong");
    struct brio_result r = submit(bed, &io, test_below(2) ? BRIO_POLL : BRIO_BLOCK);
    CHECK(r.err == expected, "shape %d: %s (%s)", shape, brio_err_name(r.err), brio_err_text());
    CHECK(r.bytes == want, "shape %d: claims %lld of %lld", shape, (long long)r.bytes,
          (long long)want);
    CHECK(strstr(brio_err_text(), "offset"), "says only: %s", brio_err_text());
    model_write(bed, &io, &file, &mem, want);
    check_file(bed);
    pattern_free(&file);
    pattern_free(&mem);
}

static void full_on(const struct brio_module *module)
{
    for (int i = 0; i < NSETTINGS; i++)
        for (int shape = 0; shape < NSHAPES; shape++) {
            struct bed bed;
            if (bed_open(&bed, module, settings[i], NULL)) {
                sys.full_at = 10000 + test_below(20000);
                write_to_the_end(&bed, shape, sys.full_at, BRIO_ENOSPC);
                sys.full_at = -1;
            }
            bed_close(&bed);
        }
}

static void no_space(void)
{
    uint64_t seed = test_seed();
    heal();
    each_module(BRIO_FBTL, here(), full_on);
    sys.at_most = 777;
    sys.interrupt = 3;
    each_module(BRIO_FBTL, here(), full_on);
    heal();
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

static void limited_on(const struct brio_module *module)
{
    for (int i = 0; i < NSETTINGS; i++)
        for (int shape = 0; shape < NSHAPES; shape++) {
            struct bed bed;
            struct rlimit old, now;
            if (bed_open(&bed, module, settings[i], NULL)) {
                int64_t end = 10000 + test_below(20000);
                getrlimit(RLIMIT_FSIZE, &old);
                now = old;
                now.rlim_cur = (rlim_t)end;
                setrlimit(RLIMIT_FSIZE, &now);
                write_to_the_end(&bed, shape, end, BRIO_EQUOTA);
                setrlimit(RLIMIT_FSIZE, &old);
            }
            bed_close(&bed);
        }
}

static void file_size_limit(void)
{
    uint64_t seed = test_seed();
    heal();
    signal(SIGXFSZ, SIG_IGN);
    each_module(BRIO_FBTL, here(), limited_on);
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

/* A bad byte: in the data it is an error with an exact count, in a gap it is nobody's. */
static void bad_byte_on(const struct brio_module *module)
{
    static struct pattern file, mem;
    static unsigned char out[4000], in[4000], expected[4000];
    pattern_vector(&file, 1000, 4, 16, 0, 12);
    pattern_vector(&mem, 1, 1, 0, 0, 0);
    random_bytes(out, sizeof out);
    for (int i = 0; i < NSETTINGS; i++) {
        struct bed bed;
        if (bed_open(&bed, module, settings[i], NULL)) {
            struct brio_io io = make_io(BRIO_WRITE, &file, 0, &mem, out, sizeof out);
            submit(&bed, &io, BRIO_BLOCK);
            model_write(&bed, &io, &file, &mem, io.bytes);
            io.dir = BRIO_READ;
            io.buf = in;
            for (int gap = 0; gap < 2; gap++) {
                memset(in, 0xaa, sizeof in);
                memset(expected, 0xaa, sizeof expected);
                sys.bad_at = 16 * 400 + (gap ? 10 : 2);
                struct brio_result r = submit(&bed, &io, BRIO_BLOCK);
                CHECK(r.err == (gap ? BRIO_OK : BRIO_EIO), "%s", brio_err_text());
                CHECK(r.bytes == (gap ? 4000 : 1602), "claims %lld", (long long)r.bytes);
                sys.bad_at = -1;
                check_memory(&bed, &io, &file, &mem, r.bytes,
                             (struct memory){expected, sizeof expected});
            }
        }
        bed_close(&bed);
    }
    pattern_free(&file);
    pattern_free(&mem);
}

static void bad_byte(void)
{
    test_seed();
    heal();
    each_module(BRIO_FBTL, here(), bad_byte_on);
    heal();
}

static void stuck_on(const struct brio_module *module)
{
    for (int shape = 0; shape < NSHAPES; shape++) {
        static struct pattern file, mem;
        static unsigned char buf[1 << 18];
        struct bed bed;
        make_shape(&file, &mem, shape);
        if (bed_open(&bed, module, as_it_comes, NULL)) {
            struct brio_io io = make_io(BRIO_WRITE, &file, 0, &mem, buf, 20000);
            sys.nothing = 1;
            struct brio_result r = submit(&bed, &io, BRIO_BLOCK);
            CHECK(r.err == BRIO_EIO && r.bytes == 0, "%s, %lld bytes", brio_err_name(r.err),
                  (long long)r.bytes);
            sys.nothing = 0;
        }
        bed_close(&bed);
        pattern_free(&file);
        pattern_free(&mem);
    }
}

static void a_write_of_nothing_is_an_error(void)
{
    heal();
    each_module(BRIO_FBTL, here(), stuck_on);
}

/* Where pages cannot be had, the plain way is taken, and all is written. */
static void unmappable_on(const struct brio_module *module)
{
    static struct pattern file, mem;
    make_shape(&file, &mem, 2);
    for (int i = 0; i < NSETTINGS; i++) {
        struct bed bed;
        if (bed_open(&bed, module, settings[i], NULL))
            round_trip(&bed, &file, &mem, 40000);
        bed_close(&bed);
    }
    pattern_free(&file);
    pattern_free(&mem);
}

static void no_pages(void)
{
    test_seed();
    heal();
    sys.no_populate = 1;
    each_module(BRIO_FBTL, here(), unmappable_on);
    heal();
}

/* A file system that is really full, in the middle of a dense write. */
static void tiny_on(const struct brio_module *module)
{
    enum {
        SPAN = 4 << 20,
        PIECES = SPAN / 16
    };
    static struct pattern file, mem;
    static unsigned char back[SPAN];
    char path[600];
    snprintf(path, sizeof path, "%s/file", file_name("tiny"));
    pattern_vector(&file, 1000, 4, 16, 0, 12);
    pattern_vector(&mem, 1, 1, 0, 0, 0);
    unsigned char *buf = malloc(4 * PIECES);
    random_bytes(buf, 4 * PIECES);
    for (int i = 0; i < NSETTINGS; i++) {
        struct bed bed;
        if (bed_open(&bed, module, settings[i], path)) {
            struct brio_io io = make_io(BRIO_WRITE, &file, 0, &mem, buf, 4 * PIECES);
            struct brio_result r = submit(&bed, &io, BRIO_BLOCK);
            CHECK(r.err == BRIO_ENOSPC, "%s (%s)", brio_err_name(r.err), brio_err_text());
            CHECK(r.bytes > 4 * PIECES / 8 && r.bytes < 4 * PIECES / 2, "claims %lld bytes",
                  (long long)r.bytes);
            memset(back, 0, sizeof back);
            bed_peek(&bed, back, SPAN, 0);
            for (int64_t j = 0; j < r.bytes; j++)
                REQUIRE(back[pattern_at(&file, j)] == buf[j], "byte %lld was claimed",
                        (long long)j);
        }
        bed_close(&bed);
    }
    free(buf);
    pattern_free(&file);
    pattern_free(&mem);
}

static void full_file_system(void)
{
    test_seed();
    heal();
    const char *dir = file_name("tiny");
    mkdir(dir, 0700);
    /* A mount of our own, that no one else sees and that goes with us. */
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("none", dir, "tmpfs", 0, "size=1m")) {
        rmdir(dir);
        SKIP("no right to mount a small file system");
    }
    each_module(BRIO_FBTL, dir, tiny_on);
    dir = file_name("tiny");
    umount2(dir, MNT_DETACH);
    rmdir(dir);
}

/* An access long enough to be cut up for several threads: all of it, then with a system that
 * refuses in the middle, then reading over the end of the file. */
enum {
    LONG_SPAN = 48 << 20,
    LONG_BYTES = LONG_SPAN / 4,
    LONG_BASE = 4321
};

static void check_long(struct bed *bed, const unsigned char *out, int64_t n)
{
    unsigned char *all = calloc(1, LONG_SPAN);
    int64_t got = 0, bad = 0;
    for (long r = 1; r > 0 && got < LONG_SPAN; got += r)
        r = bed_peek(bed, all + got, (size_t)(LONG_SPAN - got), LONG_BASE + got);
    for (int64_t i = 0; i < LONG_SPAN; i++) {
        int64_t data = i / 16 * 4 + i % 16;
        if (i % 16 >= 4)
            bad += all[i] != 0; /* a gap */
        else if (data < n)
            bad += all[i] != out[data];
    }
    CHECK(bad == 0, "%lld bytes are wrong", (long long)bad);
    free(all);
}

static void long_on(const struct brio_module *module)
{
    static struct pattern file, mem;
    unsigned char *out = malloc(LONG_BYTES), *in = malloc(LONG_BYTES);
    pattern_vector(&file, 1000, 4, 16, 0, 12);
    pattern_vector(&mem, 1, 1, 0, 0, 0);
    random_bytes(out, LONG_BYTES);
    for (int poll = 0; poll < 2; poll++) {
        struct bed bed;
        memset(in, 0, LONG_BYTES);
        if (bed_open(&bed, module, as_it_comes, NULL)) {
            struct brio_io io = make_io(BRIO_WRITE, &file, LONG_BASE, &mem, out, LONG_BYTES);
            struct brio_result r = submit(&bed, &io, poll ? BRIO_POLL : BRIO_BLOCK);
            CHECK(r.err == BRIO_OK && r.bytes == LONG_BYTES, "%s", brio_err_text());
            check_long(&bed, out, LONG_BYTES);
            io.dir = BRIO_READ;
            io.buf = in;
            r = submit(&bed, &io, poll ? BRIO_POLL : BRIO_BLOCK);
            CHECK(r.err == BRIO_OK && r.bytes == LONG_BYTES, "%s", brio_err_text());
            CHECK(memcmp(in, out, LONG_BYTES) == 0, "not read back");
            CHECK(bed.s.fs->set_size(bed.s.self, LONG_BASE + (20 << 20) + 2) == BRIO_OK, "%s",
                  brio_err_text());
            r = submit(&bed, &io, BRIO_BLOCK);
            CHECK(r.err == BRIO_OK && r.bytes == (5 << 20) + 2, "%lld bytes up to the end",
                  (long long)r.bytes);
        }
        bed_close(&bed);
    }
    free(out);
    free(in);
    pattern_free(&file);
    pattern_free(&mem);
}

static void long_and_dense(void)
{
    test_seed();
    heal();
    each_module(BRIO_FBTL, here(), long_on);
}

static void long_limited_on(const struct brio_module *module)
{
    static struct pattern file, mem;
    unsigned char *out = malloc(LONG_BYTES);
    pattern_vector(&file, 1000, 4, 16, 0, 12);
    pattern_vector(&mem, 1, 1, 0, 0, 0);
    random_bytes(out, LONG_BYTES);
    struct bed bed;
    if (bed_open(&bed, module, as_it_comes, NULL)) {
        struct brio_io io = make_io(BRIO_WRITE, &file, LONG_BASE, &mem, out, LONG_BYTES);
        struct rlimit old, now;
        getrlimit(RLIMIT_FSIZE, &old);
        now = old;
        now.rlim_cur = LONG_BASE + (17 << 20) + 1;
        setrlimit(RLIMIT_FSIZE, &now);
        struct brio_result r = submit(&bed, &io, BRIO_BLOCK);
        setrlimit(RLIMIT_FSIZE, &old);
        CHECK(r.err == BRIO_EQUOTA, "%s", brio_err_text());
        CHECK(r.bytes == (17 << 20) / 4 + 1, "claims %lld", (long long)r.bytes);
        CHECK(strstr(brio_err_text(), "offset"), "says only: %s", brio_err_text());
        check_long(&bed, out, r.bytes);
    }
    bed_close(&bed);
    free(out);
    pattern_free(&file);
    pattern_free(&mem);
}

static void long_and_limited(void)
{
    test_seed();
    heal();
    signal(SIGXFSZ, SIG_IGN);
    each_module(BRIO_FBTL, here(), long_limited_on);
}

/* That the ways of fbtl/posix are really taken, so that the cases above test them. */
static void posix_takes_its_ways(void)
{
    static struct pattern dense, flat, small;
    struct bed bed;
    unsigned char *buf = calloc(1, 1 << 20);
    test_seed();
    heal();
    pattern_vector(&dense, 1000, 4, 16, 0, 12);
    pattern_vector(&small, 1000, 4, 16, 0, 12);
    pattern_vector(&flat, 1, 1, 0, 0, 0);
    if (bed_open(&bed, &brio_fbtl_posix.base, as_it_comes, NULL)) {
        struct brio_io io = make_io(BRIO_WRITE, &dense, 0, &flat, buf, 40000);
        CHECK(submit(&bed, &io, BRIO_BLOCK).bytes == 40000, "%s", brio_err_text());
        if (bed.s.store.mappable)
            CHECK(sys.populated == 1 && sys.flat <= 1, "%ld mappings, %ld writes",
                  sys.populated, sys.flat);
        heal();
        io.dir = BRIO_READ;
        CHECK(submit(&bed, &io, BRIO_BLOCK).bytes == 40000, "%s", brio_err_text());
        CHECK(sys.flat == 1 && sys.vectored == 0, "%ld reads", sys.flat);
        heal();
        io = make_io(BRIO_WRITE, &flat, 0, &small, buf, 40000);
        CHECK(submit(&bed, &io, BRIO_BLOCK).bytes == 40000, "%s", brio_err_text());
        CHECK(sys.flat == 1 && sys.vectored == 0, "%ld writes", sys.flat);
    }
    bed_close(&bed);
    free(buf);
    pattern_free(&dense);
    pattern_free(&small);
    pattern_free(&flat);
    heal();
}

static const struct test_case cases[] = {
    TEST(no_space),         TEST(file_size_limit),
    TEST(bad_byte),         TEST(a_write_of_nothing_is_an_error),
    TEST(no_pages),         TEST(long_and_dense),
    TEST(long_and_limited), TEST(posix_takes_its_ways),
    TEST(full_file_system), {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
