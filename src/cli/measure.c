/* Processes that access their files, started together. */
#define _GNU_SOURCE
#include "cli/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

enum {
    PAGE = 4096,
    FILL = 1 << 20
};

/* What one process has done. */
struct outcome {
    double begin, end;
    double bytes;
    int failed; /* errno */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A file that has a name only until it is open. */
static int open_nameless(const char *dir, int flags)
{
    char *name = brio_text("%s/.brio-calibrate-XXXXXX", dir);
    int fd = mkostemp(name, flags | O_CLOEXEC);
    int why = errno;
    if (fd >= 0)
        unlink(name);
    free(name);
    errno = why;
    return fd;
}

static bool transfer(int fd, bool write, char *buf, size_t size, off_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = write ? pwrite(fd, buf + done, size - done, at + (off_t)done)
                          : pread(fd, buf + done, size - done, at + (off_t)done);
        if (n == 0)
            errno = EIO;
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void *buffer(size_t size)
{
    void *buf = aligned_alloc(PAGE, size);
    if (buf)
        for (size_t i = 0; i < size / sizeof(uint64_t); i++) /* nothing that compresses well */
            ((uint64_t *)buf)[i] = (i + 1) * 0x9e3779b97f4a7c15u;
    return buf;
}

/* Blocks for the whole file, so that no measured write has to find some. */
static bool fill(int fd, size_t bytes)
{
    char *buf = buffer(FILL);
    bool good = buf != NULL;
    for (size_t at = 0; at < bytes && good; at += FILL)
        good = transfer(fd, true, buf, FILL, (off_t)at);
    int why = errno;
    free(buf);
    errno = why;
    return good && fdatasync(fd) == 0;
}

/* A file system may take the flag and refuse the access. */
static bool can_direct(const char *dir)
{
    int fd = open_nameless(dir, O_DIRECT);
    char *buf = buffer(PAGE);
    bool good = fd >= 0 && buf && transfer(fd, true, buf, PAGE, 0);
    free(buf);
    if (fd >= 0)
        close(fd);
    return good;
}

bool brio_measure_open(struct brio_measure *m, const char *dir, int nprocs, size_t file_bytes)
{
    *m = (struct brio_measure){.file_bytes = file_bytes, .direct = can_direct(dir)};
    m->shared = mmap(NULL, BRIO_MEASURE_PROCESSES * sizeof(struct outcome),
                     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m->shared == MAP_FAILED) {
        brio_say("calibrate: no memory: %s", strerror(errno));
        return false;
    }
    for (; m->nprocs < nprocs; m->nprocs++) {
        int fd = open_nameless(dir, m->direct ? O_DIRECT : 0);
        if (fd < 0 || !fill(fd, file_bytes)) {
            brio_say("calibrate: cannot write %zu bytes in %s: %s", file_bytes, dir,
                     strerror(errno));
            if (fd >= 0)
                close(fd);
            brio_measure_close(m);
            return false;
        }
        m->fd[m->nprocs] = fd;
    }
    return true;
}

void brio_measure_close(struct brio_measure *m)
{
    for (int i = 0; i < m->nprocs; i++)
        close(m->fd[i]);
    m->nprocs = 0;
    munmap(m->shared, BRIO_MEASURE_PROCESSES * sizeof(struct outcome));
}

/* One process: from a place of its own on, round and round. */
static int work(const struct brio_measure *m, int i, bool write, size_t size, double seconds)
{
    struct outcome *out = (struct outcome *)m->shared + i;
    size_t steps = m->file_bytes / size, at = (size_t)rand() % steps;
    char *buf = buffer(size);
    int failed = buf ? 0 : ENOMEM;
    out->begin = now();
    do {
        if (!failed && !transfer(m->fd[i], write, buf, size, (off_t)(at * size)))
            failed = errno;
        if (!failed && write && !m->direct && fdatasync(m->fd[i]))
            failed = errno;
        at = (at + 1) % steps;
        out->bytes += (double)size;
        out->end = now();
    } while (!failed && out->end - out->begin < seconds);
    out->failed = failed;
    return failed != 0;
}

/* Waits for the start, which is the end of the pipe. */
static void become(const struct brio_measure *m, int i, const int gate[2], bool write,
                   size_t size, double seconds)
{
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* an interrupted command leaves nobody behind */
    close(gate[1]);
    srand((unsigned)(size + (size_t)i));
    while (read(gate[0], &byte, 1) < 0 && errno == EINTR)
        ;
    _exit(work(m, i, write, size, seconds));
}

/* What was read before must not be read from memory now. */
static void forget(const struct brio_measure *m)
{
    for (int i = 0; i < m->nprocs && !m->direct; i++)
        posix_fadvise(m->fd[i], 0, 0, POSIX_FADV_DONTNEED);
}

static double sum_up(const struct brio_measure *m, int n)
{
    const struct outcome *out = m->shared;
    double begin = out[0].begin, end = out[0].end, bytes = 0;
    for (int i = 0; i < n; i++) {
        if (out[i].failed || out[i].end <= 0) {
            brio_say("calibrate: an access failed: %s",
                     out[i].failed ? strerror(out[i].failed) : "the process was killed");
            return -1;
        }
        begin = out[i].begin < begin ? out[i].begin : begin;
        end = out[i].end > end ? out[i].end : end;
        bytes += out[i].bytes;
    }
    return end > begin ? bytes / (end - begin) : 0;
}

double brio_measure_run(struct brio_measure *m, bool write, int n, size_t size, double seconds)
{
    int gate[2], started = 0;
    pid_t pid[BRIO_MEASURE_PROCESSES];
    memset(m->shared, 0, BRIO_MEASURE_PROCESSES * sizeof(struct outcome));
    if (!write)
        forget(m);
    if (pipe2(gate, O_CLOEXEC)) {
        brio_say("calibrate: no pipe: %s", strerror(errno));
        return -1;
    }
    fflush(NULL);
    for (; started < n; started++) {
        pid[started] = fork();
        if (pid[started] < 0)
            break;
        if (pid[started] == 0)
            become(m, started, gate, write, size, seconds);
    }
    bool short_of = started < n;
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < started; i++)
        while (waitpid(pid[i], NULL, 0) < 0 && errno == EINTR)
            ;
    if (short_of) {
        brio_say("calibrate: no process: %s", strerror(errno));
        return -1;
    }
    return sum_up(m, n);
}
