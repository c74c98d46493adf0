/* What the suites of fbtl share: a file with a lane to it and a model of its bytes, on a
 * system that can be made to fail. The system calls are replaced by the ones here, which pass
 * on what they get unless a case has set them to fail. */
#ifndef BRIO_TEST_BED_H
#define BRIO_TEST_BED_H

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
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
    int no_ring;     /* there is no io_uring, as in a container */
    long busy_ring;  /* every n-th call of it fails; 0: none */
    _Atomic long populated, flat, vectored, rings;
} sys = {.full_at = -1, .bad_at = -1};

static inline void heal(void)
{
    atomic_store(&sys.calls, 0);
    sys.at_most = sys.interrupt = 0;
    sys.full_at = sys.bad_at = -1;
    sys.nothing = sys.no_populate = sys.no_ring = 0;
    sys.busy_ring = 0;
    atomic_store(&sys.rings, 0);
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

/* A faulty system has nothing at hand, and a ring would not meet its faults. */
static int is_faulty(void)
{
    return sys.at_most || sys.interrupt || sys.full_at >= 0 || sys.bad_at >= 0 || sys.nothing;
}

/* Half of what is asked for is in memory. */
ssize_t preadv2(int fd, const struct iovec *iov, int niov, off_t off, int flags)
{
    (void)flags;
    if (is_faulty() || off / 64 % 2) {
        errno = EAGAIN;
        return -1;
    }
    return preadv(fd, iov, niov, off);
}

long syscall(long number, ...)
{
    static long (*real)(long number, ...);
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_io_uring_setup && (sys.no_ring || is_faulty())) {
        errno = EPERM;
        return -1;
    }
    if (number == SYS_io_uring_enter) {
        long call = atomic_fetch_add(&sys.rings, 1) + 1;
        if (sys.busy_ring && call % sys.busy_ring == 0 && a[1] > 0) {
            errno = EBUSY;
            return -1;
        }
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
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

static inline int bed_open(struct bed *bed, const struct brio_module *module,
                           const char *const *set, const char *path)
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

static inline void bed_close(struct bed *bed)
{
    bed->fbtl->close(&bed->lane);
    store_close(&bed->s);
    unlink(bed->path);
    free(bed->conf);
    free(bed->model);
}

static inline struct brio_result submit(struct bed *bed, const struct brio_io *io,
                                        enum brio_wait how)
{
    struct brio_ticket ticket = {.done = false};
    bed->lane.ops->submit(bed->lane.self, io, how, &ticket);
    while (!ticket.done)
        bed->lane.ops->reap(bed->lane.self, &ticket, test_below(2) ? BRIO_BLOCK : BRIO_POLL);
    if (ticket.result.err)
        brio_err_restore(ticket.text);
    return ticket.result;
}

static inline struct brio_io make_io(enum brio_dir dir, const struct pattern *file,
                                     int64_t base, const struct pattern *mem, void *buf,
                                     int64_t bytes)
{
    return (struct brio_io){.dir = dir,
                            .file = file->map,
                            .base = base,
                            .mem = mem->map,
                            .buf = buf,
                            .bytes = bytes};
}

/* The leading data bytes that lie below `end` in the file. */
static inline int64_t prefix_below(const struct brio_io *io, const struct pattern *file,
                                   int64_t end)
{
    int64_t n = 0;
    while (n < io->bytes && io->base + pattern_at(file, io->pos + n) < end)
        n++;
    return n;
}

/* Reads by system calls, behind the lane's back; the name works for them, too. */
static inline long bed_peek(const struct bed *bed, void *buf, size_t len, int64_t off)
{
    long n = -1;
    int fd = open(bed->path, O_RDONLY);
    if (fd >= 0) {
        n = syscall(SYS_pread64, fd, buf, len, off);
        close(fd);
    }
    return n;
}

static inline void check_file(const struct bed *bed)
{
    static unsigned char got[MODEL];
    struct stat st;
    REQUIRE(stat(bed->path, &st) == 0, "stat of %s", bed->path);
    CHECK(st.st_size == bed->size, "the file has %lld bytes, not %lld", (long long)st.st_size,
          (long long)bed->size);
    long n = bed_peek(bed, got, MODEL, 0);
    REQUIRE(n == st.st_size, "read %ld", n);
    for (int64_t i = 0; i < n; i++)
        REQUIRE(got[i] == bed->model[i], "byte %lld is %d, not %d", (long long)i, got[i],
                bed->model[i]);
}

/* Puts the first n data bytes of a write into the model. */
static inline void model_write(struct bed *bed, const struct brio_io *io,
                               const struct pattern *file, const struct pattern *mem, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t at = io->base + pattern_at(file, io->pos + i);
        bed->model[at] = ((unsigned char *)io->buf)[pattern_at(mem, io->mem_pos + i)];
        if (at >= bed->size)
            bed->size = at + 1;
    }
}

/* Memory after a read of n bytes: those bytes from the model, all `size` others as before,
 * which is what `expected` holds. */
struct memory {
    unsigned char *expected;
    size_t size;
};

static inline void check_memory(const struct bed *bed, const struct brio_io *io,
                                const struct pattern *file, const struct pattern *mem,
                                int64_t n, struct memory m)
{
    for (int64_t i = 0; i < n; i++)
        m.expected[pattern_at(mem, io->mem_pos + i)] =
            bed->model[io->base + pattern_at(file, io->pos + i)];
    CHECK(memcmp(m.expected, io->buf, m.size) == 0, "memory differs after a read of %lld bytes",
          (long long)n);
}

static inline void random_bytes(unsigned char *buf, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf[i] = (unsigned char)test_random();
}

/* Writes and reads back `count` pieces each way of describing them. */
static inline void round_trip(struct bed *bed, struct pattern *file, struct pattern *mem,
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
    check_memory(bed, &io, file, mem, bytes, (struct memory){expected, size});
    free(buf);
    free(back);
    free(expected);
}

#endif
