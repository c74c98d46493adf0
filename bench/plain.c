/* The limit: the bytes of a job by plain pwrite and pread, as few and as contiguous as can be.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

static char own_path[4096];
static bool own_files;

static long long place(const struct job *job, int call)
{
    if (own_files)
        return job->done;
    return job->places ? job->places[call] : job->here + job->done;
}

static void open_plain(struct job *job)
{
    int how = job->amode & MPI_MODE_RDONLY   ? O_RDONLY
              : job->amode & MPI_MODE_WRONLY ? O_WRONLY | O_CREAT
                                             : O_RDWR | O_CREAT;
    job->fd = open(own_path, how | O_CLOEXEC, 0666);
    if (job->fd < 0)
        fail("cannot open the file for plain access");
}

static void close_plain(struct job *job)
{
    if (close(job->fd) != 0)
        fail("close failed");
    job->fd = -1;
}

static void move_plain(struct job *job, int call, int write)
{
    long long len = lens_at(job, call), first = place(job, call);
    for (long long done = 0; done < len;) {
        off_t at = (off_t)(first + done);
        size_t rest = (size_t)(len - done);
        ssize_t n = write ? pwrite(job->fd, job->buf + done, rest, at)
                          : pread(job->fd, job->buf + done, rest, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            fail(write ? "plain writing failed" : "plain reading failed");
        done += n;
    }
}

static void fill_plain(struct job *job, int call)
{
    data_fill(job->buf, job->here + job->done, lens_at(job, call), job->seed);
}

static long long check_plain(struct job *job, int call)
{
    return data_check(job->buf, job->here + job->done, lens_at(job, call), job->seed);
}

/* Each rank its own bytes. */
static long long verify_plain(struct job *job)
{
    long long bad = 0;
    int fd = job->fd;
    job->fd = open(own_path, O_RDONLY | O_CLOEXEC);
    if (job->fd < 0)
        fail("cannot open the file to verify it");
    job->done = 0;
    for (int i = 0; i < job->calls; i++) {
        move_plain(job, i, 0);
        bad += check_plain(job, i);
        job->done += lens_at(job, i);
    }
    close(job->fd);
    job->fd = fd;
    return bad;
}

static void finish_plain(struct job *job)
{
    (void)job;
    if (own_files)
        unlink(own_path);
}

void setup_plain(struct job *job)
{
    own_files = option_is(job->opt, "plain", "files");
    if (own_files)
        snprintf(own_path, sizeof own_path, "%s.%d", job->path, rank);
    else
        snprintf(own_path, sizeof own_path, "%s", job->path);
}

const struct workload plain_work = {
    .name = "plain",
    .open = open_plain,
    .look = open_plain,
    .move = move_plain,
    .close = close_plain,
    .fill = fill_plain,
    .check = check_plain,
    .verify = verify_plain,
    .prepare = nothing,
    .finish = finish_plain,
};
