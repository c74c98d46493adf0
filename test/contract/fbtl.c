/* The contract of fbtl: every module, on random accesses against a model of bytes, and on a
 * system that fails. The system calls are replaced by the ones at the head of this file,
 * which pass on what they get unless a case has set them to fail. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "contract.h"

/* ---- The system, with faults ----------------------------------------------------------------
 */

static struct {
    _Atomic long calls;
    long at_most;    /* bytes per call; 0: as asked */
    long interrupt;  /* every n-th call is interrupted; 0: none */
    int64_t full_at; /* writing at or behind this offset fails with ENOSPC; -1: never */
    int64_t bad_at;  /* reading this byte fails with EIO; -1: never */
    int nothing;     /* writes return 0 */
    int no_populate; /* madvise says no */
    _Atomic long populated, flat, vectored;
} sys = {.full_at = -1, .bad_at = -1};

static void heal(void)
{
    atomic_store(&sys.calls, 0);
    sys.at_most = sys.interrupt = 0;
    sys.full_at = sys.bad_at = -1;
    sys.nothing = sys.no_populate = 0;
    atomic_store(&sys.populated, 0);
    atomic_store(&sys.flat, 0);
    atomic_store(&sys.vectored, 0);
}

/* How many of `len` bytes at `off` the system is willing to move; -1 and errno, or 0. */
static long willing(int write, long len, int64_t off)
{
    long call = atomic_fetch_add(&sys.calls, 1) + 1;
    if (sys.interrupt && call % sys.interrupt == 0) {
        errno = EINTR;
        return -1;
    }
    if (write && sys.nothing)
        return 0;
    if (write && sys.full_at >= 0 && off + len > sys.full_at) {
        if (off >= sys.full_at) {
            errno = ENOSPC;
            return -1;
        }
        len = (long)(sys.full_at - off);
    }
    if (!write && sys.bad_at >= off && sys.bad_at < off + len) {
        if (off == sys.bad_at) {
            errno = EIO;
            return -1;
        }
        len = (long)(sys.bad_at - off);
    }
    return sys.at_most && len > sys.at_most ? sys.at_most : len;
}

static ssize_t plain(int write, int fd, void *buf, size_t len, off_t off)
{
    atomic_fetch_add(&sys.flat, 1);
    long n = willing(write, (long)len, off);
    if (n <= 0 && len > 0)
        return n;
    return syscall(write ? SYS_pwrite64 : SYS_pread64, fd, buf, (size_t)n, off);
}

/* The first n bytes of the vector, one system call per piece. */
static ssize_t vector(int write, int fd, const struct iovec *iov, int niov, off_t off)
{
    long len = 0, done = 0;
    atomic_fetch_add(&sys.vectored, 1);
    for (int i = 0; i < niov; i++)
        len += (long)iov[i].iov_len;
    if (niov > 1024 || niov < 1) {
        errno = EINVAL;
        return -1;
    }
    long n = willing(write, len, off);
    if (n <= 0)
        return n;
    if (n == len)
        return syscall(write ? SYS_pwritev : SYS_preadv, fd, iov, niov, off, 0);
    for (int i = 0; i < niov && done < n; i++) {
        size_t want = iov[i].iov_len;
        if ((long)want > n - done)
            want = (size_t)(n - done);
        long got =
            syscall(write ? SYS_pwrite64 : SYS_pread64, fd, iov[i].iov_base, want, off + done);
        if (got <= 0)
            return done ? done : got;
        done += got;
    }
    return done;
}

ssize_t pread(int fd, void *buf, size_t len, off_t off)
{
    return plain(0, fd, buf, len, off);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t off)
{
    return plain(1, fd, (void *)(uintptr_t)buf, len, off);
}

ssize_t preadv(int fd, const struct iovec *iov, int niov, off_t off)
{
    return vector(0, fd, iov, niov, off);
}

ssize_t pwritev(int fd, const struct iovec *iov, int niov, off_t off)
{
    return vector(1, fd, iov, niov, off);
}

int madvise(void *addr, size_t len, int advice)
{
    if (advice == 23) { /* MADV_POPULATE_WRITE */
        atomic_fetch_add(&sys.populated, 1);
        if (sys.no_populate) {
            errno = EFAULT;
            return -1;
        }
    }
    return (int)syscall(SYS_madvise, addr, len, advice);
}

/* ---- One access against the model -------------------------------------------------------- */

static const char *const as_it_comes[] = {NULL};
static const char *const always_small[] = {"ds_read=enable", "ds_write=enable",
                                           "ind_rd_buffer_size=4096", "ind_wr_buffer_size=8192",
                                           NULL};
static const char *const always[] = {"ds_read=enable", "ds_write=enable", NULL};
static const char *const never[] = {"ds_read=disable", "ds_write=disable", NULL};
static const char *const *const settings[] = {as_it_comes, always_small, always, never};
enum {
    NSETTINGS = sizeof settings / sizeof *settings
};

enum {
    MODEL = 1 << 20
};

/* A file, the lane to it, and what it should hold. */
struct bed {
    struct store s;
    const struct brio_fbtl *fbtl;
    void *conf;
    struct brio_lane lane;
    char path[512];
    unsigned char *model;
    int64_t size;
};

static int bed_open(struct bed *bed, const struct brio_module *module, const char *const *set,
                    const char *path)
{
    memset(bed, 0, sizeof *bed);
    snprintf(bed->path, sizeof bed->path, "%s", path ? path : file_name("fbtl"));
    if (!path)
        unlink(bed->path);
    bed->fbtl = (const struct brio_fbtl *)module;
    bed->conf = make_conf(module, set);
    bed->model = calloc(1, MODEL);
    if (!bed->model || !bed->conf || !store_open(&bed->s, bed->path))
        return 0;
    enum brio_err err = bed->fbtl->open(&bed->s.store, bed->conf, &bed->lane);
    CHECK(err == BRIO_OK, "%s", brio_err_text());
    return err == BRIO_OK;
}

static void bed_close(struct bed *bed)
{
    bed->fbtl->close(&bed->lane);
    store_close(&bed->s);
    unlink(bed->path);
    free(bed->conf);
    free(bed->model);
}

static struct brio_result submit(struct bed *bed, const struct brio_io *io, enum brio_wait how)
{
    struct brio_ticket ticket = {.done = false};
    bed->lane.ops->submit(bed->lane.self, io, how, &ticket);
    while (!ticket.done)
        bed->lane.ops->reap(bed->lane.self, &ticket, test_below(2) ? BRIO_BLOCK : BRIO_POLL);
    if (ticket.result.err)
        brio_err_restore(ticket.text);
    return ticket.result;
}

static struct brio_io make_io(enum brio_dir dir, const struct pattern *file, int64_t base,
                              const struct pattern *mem, void *buf, int64_t bytes)
{
    return (struct brio_io){.dir = dir,
                            .file = file->map,
                            .base = base,
                            .mem = mem->map,
                            .buf = buf,
                            .bytes = bytes};
}

/* The leading data bytes that lie below `end` in the file. */
static int64_t prefix_below(const struct brio_io *io, const struct pattern *file, int64_t end)
{
    int64_t n = 0;
    while (n < io->bytes && io->base + pattern_at(file, io->pos + n) < end)
        n++;
    return n;
}

static void check_file(const struct bed *bed)
{
    static unsigned char got[MODEL];
    struct stat st;
    REQUIRE(fstat(bed->s.store.fd, &st) == 0, "fstat");
    CHECK(st.st_size == bed->size, "the file has %lld bytes, not %lld", (long long)st.st_size,
          (long long)bed->size);
    long n = syscall(SYS_pread64, bed->s.store.fd, got, (size_t)MODEL, 0L);
    REQUIRE(n == st.st_size, "read %ld", n);
    for (int64_t i = 0; i < n; i++)
        REQUIRE(got[i] == bed->model[i], "byte %lld is %d, not %d", (long long)i, got[i],
                bed->model[i]);
}

/* Puts the first n data bytes of a write into the model. */
static void model_write(struct bed *bed, const struct brio_io *io, const struct pattern *file,
                        const struct pattern *mem, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t at = io->base + pattern_at(file, io->pos + i);
        bed->model[at] = ((unsigned char *)io->buf)[pattern_at(mem, io->mem_pos + i)];
        if (at >= bed->size)
            bed->size = at + 1;
    }
}

/* Memory after a read of n bytes: those bytes from the model, all others as before. */
static void check_memory(const struct bed *bed, const struct brio_io *io,
                         const struct pattern *file, const struct pattern *mem, int64_t n,
                         unsigned char *expected, size_t size)
{
    for (int64_t i = 0; i < n; i++)
        expected[pattern_at(mem, io->mem_pos + i)] =
            bed->model[io->base + pattern_at(file, io->pos + i)];
    CHECK(memcmp(expected, io->buf, size) == 0, "memory differs after a read of %lld bytes",
          (long long)n);
}

static void random_bytes(unsigned char *buf, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf[i] = (unsigned char)test_random();
}

static void one_random(struct bed *bed, struct pattern *file, struct pattern *mem)
{
    pattern_random(file);
    pattern_random(mem);
    enum brio_dir dir = test_below(2) ? BRIO_READ : BRIO_WRITE;
    enum brio_wait how = test_below(2) ? BRIO_POLL : BRIO_BLOCK;
    struct brio_io io = make_io(dir, file, test_below(5000), mem, NULL, 0);
    io.pos = test_below(3 * file->size);
    io.mem_pos = test_below(3 * mem->size);
    /* As far as the model goes: the last tile of a swapped pattern may turn back. */
    int64_t limit = (MODEL - io.base) / file->extent - 4;
    int64_t most = limit > 0 ? limit * file->size - io.pos : 0;
    io.bytes = most > 0 ? test_below(1 + (most < 60000 ? most : 60000)) : 0;
    int64_t tiles = (io.mem_pos + io.bytes) / mem->size + 1;
    size_t size = (size_t)(tiles * mem->extent + 16);
    unsigned char *buf = malloc(size), *expected = malloc(size);
    random_bytes(buf, size);
    memcpy(expected, buf, size);
    io.buf = buf;
    int64_t want = dir == BRIO_READ ? prefix_below(&io, file, bed->size) : io.bytes;
    struct brio_result r = submit(bed, &io, how);
    CHECK(r.err == BRIO_OK, "%s", brio_err_text());
    CHECK(r.bytes == want, "%s of %lld bytes moved %lld, not %lld",
          dir == BRIO_READ ? "read" : "write", (long long)io.bytes, (long long)r.bytes,
          (long long)want);
    if (dir == BRIO_WRITE)
        model_write(bed, &io, file, mem, r.bytes);
    else
        check_memory(bed, &io, file, mem, r.bytes, expected, size);
    check_file(bed);
    free(buf);
    free(expected);
    pattern_free(file);
    pattern_free(mem);
}

static void random_on(const struct brio_module *module)
{
    static struct pattern file, mem;
    for (int i = 0; i < NSETTINGS; i++) {
        struct bed bed;
        if (bed_open(&bed, module, settings[i], NULL))
            for (int j = 0; j < 150 && !test_failed; j++)
                one_random(&bed, &file, &mem);
        bed_close(&bed);
    }
}

static void random_accesses(void)
{
    uint64_t seed = test_seed();
    heal();
    each_module(BRIO_FBTL, ".", random_on);
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

/* The same on a system that interrupts, and moves little at a time. */
static void random_on_a_poor_system(void)
{
    uint64_t seed = test_seed();
    heal();
    sys.at_most = 1 + test_below(3000);
    sys.interrupt = 2 + test_below(3);
    each_module(BRIO_FBTL, ".", random_on);
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu at most %ld, every %ld\n", (unsigned long long)seed,
                sys.at_most, sys.interrupt);
    heal();
}

/* ---- Single points of the contract
 * ----------------------------------------------------------- */

/* Writes and reads back `count` pieces each way of describing them. */
static void round_trip(struct bed *bed, struct pattern *file, struct pattern *mem,
                       int64_t bytes)
{
    int64_t tiles = bytes / mem->size + 1;
    size_t size = (size_t)(tiles * mem->extent + 1);
    unsigned char *buf = malloc(size), *back = calloc(1, size), *expected = calloc(1, size);
    random_bytes(buf, size);
    struct brio_io io = make_io(BRIO_WRITE, file, 100, mem, buf, bytes);
    struct brio_result r = submit(bed, &io, BRIO_BLOCK);
    CHECK(r.err == BRIO_OK && r.bytes == bytes, "wrote %lld: %s", (long long)r.bytes,
          brio_err_text());
    model_write(bed, &io, file, mem, bytes);
    check_file(bed);
    io.dir = BRIO_READ;
    io.buf = back;
    r = submit(bed, &io, BRIO_BLOCK);
    CHECK(r.err == BRIO_OK && r.bytes == bytes, "read %lld: %s", (long long)r.bytes,
          brio_err_text());
    check_memory(bed, &io, file, mem, bytes, expected, size);
    free(buf);
    free(back);
    free(expected);
}

static void many_pieces_on(const struct brio_module *module)
{
    static struct pattern flat, sparse, gaps;
    pattern_vector(&flat, 1, 1, 0, 0, 0);
    pattern_vector(&sparse, 3000, 2, 300, 0, 298);
    pattern_vector(&gaps, 5000, 3, 5, 0, 2);
    for (int i = 0; i < NSETTINGS; i++) {
        struct bed bed;
        if (bed_open(&bed, module, settings[i], NULL)) {
            round_trip(&bed, &flat, &gaps, 15000);  /* more than IOV_MAX pieces of memory */
            round_trip(&bed, &sparse, &flat, 6000); /* of the file */
            round_trip(&bed, &gaps, &sparse, 6000); /* of both */
        }
        bed_close(&bed);
    }
    pattern_free(&flat);
    pattern_free(&sparse);
    pattern_free(&gaps);
}

static void many_pieces(void)
{
    test_seed();
    heal();
    each_module(BRIO_FBTL, ".", many_pieces_on);
}

static void nothing_on(const struct brio_module *module)
{
    static struct pattern flat;
    struct bed bed;
    pattern_vector(&flat, 1, 1, 0, 0, 0);
    if (bed_open(&bed, module, as_it_comes, NULL)) {
        for (int i = 0; i < 4; i++) {
            struct brio_io io =
                make_io(i % 2 ? BRIO_READ : BRIO_WRITE, &flat, 1 << 20, &flat, NULL, 0);
            struct brio_result r = submit(&bed, &io, i / 2 ? BRIO_POLL : BRIO_BLOCK);
            CHECK(r.err == BRIO_OK && r.bytes == 0, "moved %lld", (long long)r.bytes);
        }
        check_file(&bed);
        char byte;
        struct brio_io io = make_io(BRIO_READ, &flat, 1 << 20, &flat, &byte, 1);
        struct brio_result r = submit(&bed, &io, BRIO_BLOCK);
        CHECK(r.err == BRIO_OK && r.bytes == 0, "read %lld behind the end", (long long)r.bytes);
        CHECK(bed.lane.ops->flush(bed.lane.self) == BRIO_OK, "%s", brio_err_text());
    }
    bed_close(&bed);
    pattern_free(&flat);
}

static void zero_bytes(void)
{
    heal();
    each_module(BRIO_FBTL, ".", nothing_on);
}

/* Offsets beyond 4 GiB, in a file that is nearly all hole. */
static void far_on(const struct brio_module *module)
{
    static struct pattern flat, gaps;
    pattern_vector(&flat, 1, 1, 0, 0, 0);
    pattern_vector(&gaps, 1000, 4, 16, 0, 12);
    for (int i = 0; i < NSETTINGS; i++) {
        struct bed bed;
        unsigned char out[4000], in[4000] = {0}, one[4];
        random_bytes(out, sizeof out);
        int64_t base = ((int64_t)1 << 33) + 12345;
        if (bed_open(&bed, module, settings[i], NULL)) {
            struct brio_io io = make_io(BRIO_WRITE, &gaps, base, &flat, out, sizeof out);
            struct brio_result r = submit(&bed, &io, BRIO_BLOCK);
            CHECK(r.err == BRIO_OK && r.bytes == sizeof out, "wrote %lld: %s",
                  (long long)r.bytes, brio_err_text());
            syscall(SYS_pread64, bed.s.store.fd, one, 4, base + 16 * 999);
            CHECK(memcmp(one, out + 4 * 999, 4) == 0, "not where it should be");
            io.dir = BRIO_READ;
            io.buf = in;
            r = submit(&bed, &io, BRIO_BLOCK);
            CHECK(r.bytes == sizeof in && memcmp(in, out, sizeof in) == 0, "not read back");
        }
        bed_close(&bed);
    }
    pattern_free(&flat);
    pattern_free(&gaps);
}

static void beyond_four_gigabytes(void)
{
    test_seed();
    heal();
    each_module(BRIO_FBTL, ".", far_on);
}

/* More than a system call takes. /dev/null does not look at the bytes. */
static void huge_on(const struct brio_module *module)
{
    static struct pattern flat;
    struct bed bed;
    size_t len = (size_t)5 << 30;
    void *buf = mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pattern_vector(&flat, 1, 1, 0, 0, 0);
    if (buf != MAP_FAILED && bed_open(&bed, module, as_it_comes, "/dev/null")) {
        struct brio_io io = make_io(BRIO_WRITE, &flat, 0, &flat, buf, (int64_t)len);
        struct brio_result r = submit(&bed, &io, BRIO_BLOCK);
        CHECK(r.err == BRIO_OK && r.bytes == (int64_t)len, "wrote %lld: %s", (long long)r.bytes,
              brio_err_text());
        bed.fbtl->close(&bed.lane);
        store_close(&bed.s);
        free(bed.conf);
        free(bed.model);
    }
    munmap(buf, len);
    pattern_free(&flat);
}

static void more_than_a_call_takes(void)
{
    heal();
    each_module(BRIO_FBTL, "/dev/null", huge_on);
}

/* Many accesses under way at once, reaped in another order. */
static void crowd_on(const struct brio_module *module)
{
    enum {
        CROWD = 64,
        EACH = 1024
    };
    static struct pattern flat;
    static unsigned char out[CROWD * EACH], in[CROWD * EACH];
    static struct brio_ticket ticket[CROWD];
    struct bed bed;
    pattern_vector(&flat, 1, 1, 0, 0, 0);
    random_bytes(out, sizeof out);
    memset(in, 0, sizeof in);
    if (bed_open(&bed, module, as_it_comes, NULL)) {
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < CROWD; i++) {
                unsigned char *at = (pass ? in : out) + i * EACH;
                struct brio_io io =
                    make_io(pass ? BRIO_READ : BRIO_WRITE, &flat, i * EACH, &flat, at, EACH);
                ticket[i].done = false;
                bed.lane.ops->submit(bed.lane.self, &io, BRIO_POLL, &ticket[i]);
            }
            for (int i = CROWD - 1; i >= 0; i--) {
                bed.lane.ops->reap(bed.lane.self, &ticket[i], BRIO_BLOCK);
                CHECK(ticket[i].done && ticket[i].result.err == BRIO_OK &&
                          ticket[i].result.bytes == EACH,
                      "access %d moved %lld", i, (long long)ticket[i].result.bytes);
            }
        }
        CHECK(memcmp(in, out, sizeof in) == 0, "not what was written");
    }
    bed_close(&bed);
    pattern_free(&flat);
}

static void many_at_once(void)
{
    test_seed();
    heal();
    each_module(BRIO_FBTL, ".", crowd_on);
    brio_pool_finalize();
    each_module(BRIO_FBTL, ".", crowd_on); /* the pool starts anew */
    brio_pool_finalize();
}

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
    each_module(BRIO_FBTL, ".", full_on);
    sys.at_most = 777;
    sys.interrupt = 3;
    each_module(BRIO_FBTL, ".", full_on);
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
    each_module(BRIO_FBTL, ".", limited_on);
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
                check_memory(&bed, &io, &file, &mem, r.bytes, expected, sizeof expected);
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
    each_module(BRIO_FBTL, ".", bad_byte_on);
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
    each_module(BRIO_FBTL, ".", stuck_on);
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
    each_module(BRIO_FBTL, ".", unmappable_on);
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
            syscall(SYS_pread64, bed.s.store.fd, back, (size_t)SPAN, 0L);
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

/* Two that write every other piece of the same pages at the same time; neither may lose a
 * byte of the other. */
struct half {
    struct bed *bed;
    const struct pattern *file, *mem;
    unsigned char *buf;
    int64_t base, bytes;
};

static void *write_half(void *arg)
{
    struct half *h = arg;
    struct brio_io io = make_io(BRIO_WRITE, h->file, h->base, h->mem, h->buf, h->bytes);
    struct brio_result r = brio_lane_access(&h->bed->lane, &io);
    h->bytes = r.err ? -1 : r.bytes;
    return NULL;
}

static void neighbours_on(const struct brio_module *module)
{
    enum {
        BYTES = MODEL / 2 - 64
    };
    static struct pattern file, mem;
    static unsigned char buf[2][BYTES];
    pattern_vector(&file, 1000, 4, 8, 0, 4);
    pattern_vector(&mem, 1, 1, 0, 0, 0);
    for (int i = 0; i < NSETTINGS; i++) {
        struct bed bed;
        if (bed_open(&bed, module, settings[i], NULL)) {
            struct half half[2];
            pthread_t thread[2];
            for (int k = 0; k < 2; k++) {
                random_bytes(buf[k], BYTES);
                half[k] = (struct half){&bed, &file, &mem, buf[k], 4 * k, BYTES};
                pthread_create(&thread[k], NULL, write_half, &half[k]);
            }
            for (int k = 0; k < 2; k++) {
                pthread_join(thread[k], NULL);
                struct brio_io io = make_io(BRIO_WRITE, &file, 4 * k, &mem, buf[k], BYTES);
                CHECK(half[k].bytes == BYTES, "wrote %lld", (long long)half[k].bytes);
                model_write(&bed, &io, &file, &mem, BYTES);
            }
            check_file(&bed);
        }
        bed_close(&bed);
    }
    pattern_free(&file);
    pattern_free(&mem);
}

static void neighbours_keep_their_bytes(void)
{
    test_seed();
    heal();
    each_module(BRIO_FBTL, ".", neighbours_on);
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

static const struct test_case cases[] = {TEST(random_accesses),
                                         TEST(random_on_a_poor_system),
                                         TEST(many_pieces),
                                         TEST(zero_bytes),
                                         TEST(beyond_four_gigabytes),
                                         TEST(more_than_a_call_takes),
                                         TEST(many_at_once),
                                         TEST(no_space),
                                         TEST(file_size_limit),
                                         TEST(bad_byte),
                                         TEST(a_write_of_nothing_is_an_error),
                                         TEST(no_pages),
                                         TEST(neighbours_keep_their_bytes),
                                         TEST(posix_takes_its_ways),
                                         TEST(full_file_system),
                                         {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
