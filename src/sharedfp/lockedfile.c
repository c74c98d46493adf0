/* The shared pointer as eight bytes in a hidden file beside the user's, moved under a lock
 * (paper 000). Only the name is agreed on at open; who first moves the pointer makes the
 * file, and close removes it. Locks are those of open file descriptions: they exclude other
 * opens in the same process and end with the last descriptor. A rank that has the file open
 * also holds a shared lock on a second range for as long: a file without one belongs to a
 * job that was killed, and is removed by the next close of the same name. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "comm/verdict.h"
#include "sharedfp/sharedfp.h"
#include "sharedfp/side.h"
#include "sharedfp/trial.h"

struct conf {
    brio_off limit; /* seconds */
};

struct pointer {
    MPI_Comm comm;
    char *path, *name;
    brio_off start;
    double limit;
    pthread_mutex_t lock; /* threads of one rank share the descriptor, and so its lock */
    int fd;               /* -1 until this rank moves the pointer */
    bool touched;         /* this rank may have made the file */
    bool refused;         /* it was tried and cannot be had */
};

enum {
    VALUE_AT = 0,
    ALIVE_AT = 8
};

static const struct brio_hint hints[] = {
    {.name = "lockedfile_limit",
     .kind = BRIO_HINT_INT,
     .offset = offsetof(struct conf, limit),
     .def = "30",
     .min = 1,
     .max = 86400,
     .help = "seconds to wait for a lock on the shared pointer before it is an error"},
    {.name = NULL},
};

/* On file systems of this kernel locks are sure and fast; on others they may be wanting or
 * slow, and a process that can be asked is better. */
static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (strcmp(facts->store, BRIO_STORE_DESCRIPTOR) != 0)
        return brio_answer(-1, "there is no directory for a file beside it");
    if (facts->local)
        return brio_answer(30, "locks of one kernel are quick and sure");
    return brio_answer(10, "locks between machines are slow on %s", facts->fs_name);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Asks again and again, since waiting inside the system has no end: first soon, then
 * rarely, not to keep the holder from its core. */
static BRIO_ERR take_lock(const struct pointer *p)
{
    struct flock want = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = VALUE_AT, .l_len = 8};
    double begin = 0;
    for (int turn = 0;; turn++) {
        if (fcntl(p->fd, F_OFD_SETLK, &want) == 0)
            return BRIO_OK;
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return brio_fail_errno(errno, "lock of %s", p->name);
        if (turn == 0)
            begin = now();
        else if (now() - begin > p->limit)
            return brio_fail(BRIO_EIO, "no lock of %s for %g seconds", p->name, p->limit);
        if (turn < 10)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = turn < 100 ? 20000 : 200000}, NULL);
    }
}

static void give_lock(const struct pointer *p)
{
    struct flock none = {
        .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = VALUE_AT, .l_len = 8};
    while (fcntl(p->fd, F_OFD_SETLK, &none) != 0 && errno == EINTR)
        ;
}

/* Opens the file, making it if this rank is the first, and says that it is in use. One who
 * tidies up may have removed it in between: then again. */
static BRIO_ERR open_file(struct pointer *p)
{
    for (int turn = 0; turn < 100; turn++) {
        struct flock alive = {
            .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = ALIVE_AT, .l_len = 1};
        struct stat st;
        int fd = open(p->name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
            return brio_fail_errno(errno, "open of %s", p->name);
        if (fcntl(fd, F_OFD_SETLK, &alive) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0) {
            p->fd = fd;
            return BRIO_OK;
        }
        close(fd);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return brio_fail(BRIO_EIO, "%s cannot be kept", p->name);
}

/* With the mutex held. */
static BRIO_ERR need_file(struct pointer *p)
{
    enum brio_err err = BRIO_OK;
    if (p->fd >= 0)
        return BRIO_OK;
    p->touched = true;
    if (!p->refused)
        err = brio_trial_locks(p->name, p->limit);
    if (!err && !p->refused)
        err = open_file(p);
    if (!err && !p->refused)
        return BRIO_OK;
    p->refused = true;
    return err ? brio_fail(BRIO_EUNSUPOP, "no shared pointer: %s", brio_err_text())
               : brio_fail(BRIO_EUNSUPOP, "no shared pointer: it was tried before");
}

/* With the lock held. A file without contents is new. */
static BRIO_ERR load(const struct pointer *p, brio_off *out)
{
    int64_t value;
    ssize_t n;
    do
        n = pread(p->fd, &value, sizeof value, VALUE_AT);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return brio_fail_errno(errno, "read of %s", p->name);
    if (n != 0 && n != sizeof value)
        return brio_fail(BRIO_EIO, "%s has been changed by others", p->name);
    *out = n ? value : p->start;
    return BRIO_OK;
}

static BRIO_ERR store(const struct pointer *p, brio_off value)
{
    int64_t word = value;
    ssize_t n;
    do
        n = pwrite(p->fd, &word, sizeof word, VALUE_AT);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return brio_fail_errno(errno, "write of %s", p->name);
    return n == sizeof word ? BRIO_OK : brio_fail(BRIO_ENOSPC, "write of %s", p->name);
}

static BRIO_ERR add_locked(struct pointer *p, brio_off n, brio_off *old)
{
    brio_off value = 0;
    enum brio_err err = need_file(p);
    if (!err)
        err = take_lock(p);
    if (err)
        return err;
    err = load(p, &value);
    if (!err && n)
        err = store(p, value + n);
    give_lock(p);
    if (!err)
        *old = value;
    return err;
}

static BRIO_ERR add(void *self, brio_off n, brio_off *old)
{
    struct pointer *p = self;
    pthread_mutex_lock(&p->lock);
    enum brio_err err = add_locked(p, n, old);
    pthread_mutex_unlock(&p->lock);
    return err;
}

static BRIO_ERR set(void *self, brio_off value)
{
    struct pointer *p = self;
    pthread_mutex_lock(&p->lock);
    enum brio_err err = need_file(p);
    if (!err)
        err = take_lock(p);
    if (!err) {
        err = store(p, value);
        give_lock(p);
    }
    pthread_mutex_unlock(&p->lock);
    return err;
}

static void free_pointer(struct pointer *p)
{
    if (!p)
        return;
    pthread_mutex_destroy(&p->lock);
    free(p->path);
    free(p->name);
    free(p);
}

static BRIO_ERR make(const struct brio_sharedfp_env *env, const struct conf *conf,
                     const char *tag, struct pointer **out)
{
    struct pointer *p = NULL;
    enum brio_err err = brio_calloc(1, sizeof *p, (void **)&p);
    if (err)
        return err;
    pthread_mutex_init(&p->lock, NULL);
    p->comm = env->comm;
    p->start = env->start;
    p->limit = (double)conf->limit;
    p->fd = -1;
    err = brio_strdup(env->path, &p->path);
    if (!err)
        err = brio_side_name(env->path, "lock", tag, &p->name);
    if (err)
        free_pointer(p);
    else
        *out = p;
    return err;
}

static BRIO_ERR open_pointer(const struct brio_sharedfp_env *env, const void *conf, void **self)
{
    struct brio_team team;
    char tag[BRIO_SIDE_TAG + 1];
    struct pointer *p = NULL;
    enum brio_err err = brio_side_begin(env->path, env->comm, &team, tag);
    if (err)
        return err;
    err = brio_agree(&team, make(env, conf, tag, &p));
    if (err)
        free_pointer(p);
    else
        *self = p;
    return err;
}

/* Removes a file whose job is gone. */
static void remove_stale(const char *name)
{
    struct flock alone = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = ALIVE_AT, .l_len = 1};
    int fd = open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fcntl(fd, F_OFD_SETLK, &alone) == 0)
        unlink(name);
    close(fd);
}

/* Collective. When rank 0 knows whether anyone made the file, all are through with it. */
static void close_pointer(void *self)
{
    struct pointer *p = self;
    int touched = p->touched, any = 0, rank;
    if (p->fd >= 0)
        close(p->fd);
    PMPI_Comm_rank(p->comm, &rank);
    PMPI_Reduce(&touched, &any, 1, MPI_INT, MPI_MAX, 0, p->comm);
    if (rank == 0 && any) {
        unlink(p->name);
        brio_side_each(p->path, "lock", remove_stale);
    }
    free_pointer(p);
}

const struct brio_sharedfp brio_sharedfp_lockedfile = {
    .base = {.name = "lockedfile",
             .about = "number in a hidden file beside the user's, moved under a lock",
             .hints = hints,
             .conf_size = sizeof(struct conf),
             .query = query},
    .open = open_pointer,
    .add = add,
    .set = set,
    .close = close_pointer,
};
