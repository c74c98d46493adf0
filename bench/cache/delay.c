/* Preloaded into a program: what lies below one directory becomes as slow as a parallel file
 * system, and the calls that move its bytes are counted. Knows nothing of Brio.
 *
 *   DELAY_DIR     the directory; without it nothing happens
 *   DELAY_US      microseconds that every call takes longer (default 0: only count)
 *   DELAY_STRIPE  a write is aligned if it begins at a multiple of this (default 1m)
 *   DELAY_LOG     a file that gets one line from each process when it ends:
 *                      "writes N bytes N aligned N reads N bytes N" */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

enum {
    FDS = 4096
};

enum {
    UNKNOWN,
    SLOW,
    OTHER
};

static char dir[512];
static size_t dir_len;
static long delay_us, stripe = 1 << 20;
static _Atomic char kind[FDS];
static _Atomic long writes, write_bytes, aligned, reads, read_bytes;

/* The next definition of a function, looked up once. */
static void *next(_Atomic(void *) *kept, const char *name)
{
    void *found = atomic_load_explicit(kept, memory_order_relaxed);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(kept, found, memory_order_relaxed);
    }
    return found;
}

#define NEXT(name)                                                                             \
    ({                                                                                         \
        static _Atomic(void *) kept;                                                           \
        (__typeof__(&name))next(&kept, #name);                                                 \
    })

static int look_up(int fd)
{
    char link[64], path[1024];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return strncmp(path, dir, dir_len) == 0 && path[dir_len] == '/' ? SLOW : OTHER;
}

static int is_slow(int fd)
{
    if (dir_len == 0 || fd < 0 || fd >= FDS)
        return 0;
    if (kind[fd] == UNKNOWN)
        kind[fd] = (char)look_up(fd);
    return kind[fd] == SLOW;
}

static void wait_for_store(void)
{
    static _Thread_local int exact;
    if (delay_us == 0)
        return;
    if (!exact)
        exact = prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0) == 0;
    nanosleep(
        &(struct timespec){.tv_sec = delay_us / 1000000, .tv_nsec = delay_us % 1000000 * 1000},
        NULL);
}

/* Counts and delays a call that moved n bytes; at < 0: wherever the file pointer was. */
static ssize_t moved(int fd, int write, off_t at, ssize_t n)
{
    if (n <= 0 || !is_slow(fd))
        return n;
    if (write) {
        off_t from = at >= 0 ? at : lseek(fd, 0, SEEK_CUR) - n;
        writes++;
        write_bytes += n;
        aligned += from % stripe == 0;
    } else {
        reads++;
        read_bytes += n;
    }
    wait_for_store();
    return n;
}

__attribute__((constructor)) static void set_up(void)
{
    const char *text = getenv("DELAY_DIR");
    char *real = text ? realpath(text, NULL) : NULL;
    if (real && strlen(real) < sizeof dir)
        strcpy(dir, real);
    free(real);
    if ((text = getenv("DELAY_US")))
        delay_us = atol(text);
    if ((text = getenv("DELAY_STRIPE")) && atol(text) > 0)
        stripe = atol(text);
    dir_len = strlen(dir);
}

__attribute__((destructor)) static void report(void)
{
    const char *log = getenv("DELAY_LOG");
    char line[200];
    if (!log || (writes == 0 && reads == 0))
        return;
    int n =
        snprintf(line, sizeof line, "writes %ld bytes %ld aligned %ld reads %ld bytes %ld\n",
                 writes, write_bytes, aligned, reads, read_bytes);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd >= 0 && NEXT(write)(fd, line, (size_t)n) == n)
        close(fd);
}

SHOWN int close(int fd)
{
    if (fd >= 0 && fd < FDS)
        kind[fd] = UNKNOWN;
    return NEXT(close)(fd);
}

SHOWN ssize_t write(int fd, const void *buf, size_t n)
{
    return moved(fd, 1, -1, NEXT(write)(fd, buf, n));
}

SHOWN ssize_t read(int fd, void *buf, size_t n)
{
    return moved(fd, 0, 0, NEXT(read)(fd, buf, n));
}

SHOWN ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
    return moved(fd, 1, at, NEXT(pwrite)(fd, buf, n, at));
}

SHOWN ssize_t pwrite64(int fd, const void *buf, size_t n, off64_t at)
{
    return moved(fd, 1, at, NEXT(pwrite64)(fd, buf, n, at));
}

SHOWN ssize_t pread(int fd, void *buf, size_t n, off_t at)
{
    return moved(fd, 0, at, NEXT(pread)(fd, buf, n, at));
}

SHOWN ssize_t pread64(int fd, void *buf, size_t n, off64_t at)
{
    return moved(fd, 0, at, NEXT(pread64)(fd, buf, n, at));
}

SHOWN ssize_t writev(int fd, const struct iovec *v, int n)
{
    return moved(fd, 1, -1, NEXT(writev)(fd, v, n));
}

SHOWN ssize_t readv(int fd, const struct iovec *v, int n)
{
    return moved(fd, 0, 0, NEXT(readv)(fd, v, n));
}

SHOWN ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at)
{
    return moved(fd, 1, at, NEXT(pwritev)(fd, v, n, at));
}

SHOWN ssize_t pwritev64(int fd, const struct iovec *v, int n, off64_t at)
{
    return moved(fd, 1, at, NEXT(pwritev64)(fd, v, n, at));
}

SHOWN ssize_t preadv(int fd, const struct iovec *v, int n, off_t at)
{
    return moved(fd, 0, at, NEXT(preadv)(fd, v, n, at));
}

SHOWN ssize_t preadv64(int fd, const struct iovec *v, int n, off64_t at)
{
    return moved(fd, 0, at, NEXT(preadv64)(fd, v, n, at));
}
