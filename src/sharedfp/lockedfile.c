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

#include "base/log.h"
#include "base/mem.h"
#include "comm/verdict.h"
#include "sharedfp/bounded.h"
#include "sharedfp/sharedfp.h"
#include "sharedfp/side.h"
#include "sharedfp/trial.h"

struct conf {
    brio_off limit; /* seconds */
};

struct pointer {
    bool first; /* rank 0 */
    char *path, *name;
    brio_off start;
    double limit;
    bool sure;            /* locks are this kernel's own: an answer always comes */
    pthread_mutex_t lock; /* threads of one rank share the descriptor, and so its lock */
    int fd;               /* -1 until this rank moves the pointer */
    bool refused;         /* it was tried and cannot be had */
};

enum {
    VALUE_AT = 0,
    ALIVE_AT = 8,
    STALE_SECONDS = 5 /* for the answer to a lock of a file that is in nobody's way */
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

/* Sets or gives back a lock; 0, or an errno. ETIMEDOUT: the descriptor is lost, for the server
 * may take as long as it likes to answer, and close might wait, too. */
static int set_lock(struct pointer *p, short type, brio_off at, brio_off len)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = len};
    int failed;
    if (!p->sure) {
        int errnum = brio_lock_within(p->limit, p->fd, type, at, len);
        if (errnum == ETIMEDOUT)
            p->fd = -1;
        return errnum;
    }
    do
        failed = fcntl(p->fd, F_OFD_SETLK, &range);
    while (failed && errno == EINTR);
    return failed ? errno : 0;
}

static BRIO_ERR complain(struct pointer *p, int errnum)
{
    if (errnum != ETIMEDOUT)
        return brio_fail_errno(errnum, "lock of %s", p->name);
    p->refused = true;
    return brio_fail(BRIO_EUNSUPOP, "no answer to a lock of %s for %g seconds", p->name,
                     p->limit);
}

/* Asks again and again, since waiting inside the system has no end: first soon, then
 * rarely, not to keep the holder from its core. */
static BRIO_ERR take_lock(struct pointer *p)
{
    double begin = 0;
    for (int turn = 0;; turn++) {
        int errnum = set_lock(p, F_WRLCK, VALUE_AT, 8);
        if (!errnum)
            return BRIO_OK;
        if (errnum != EAGAIN && errnum != EACCES)
            return complain(p, errnum);
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

/* Opens the file, making it if this rank is the first, and says that it is in use. One who
 * tidies up may have removed it in between: then again. */
static BRIO_ERR open_file(struct pointer *p)
{
    for (int turn = 0; turn < 100; turn++) {
        struct stat st;
        p->fd = open(p->name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (p->fd < 0)
            return brio_fail_errno(errno, "open of %s", p->name);
        int errnum = set_lock(p, F_RDLCK, ALIVE_AT, 1);
        if (!errnum && fstat(p->fd, &st) == 0 && st.st_nlink > 0)
            return BRIO_OK;
        if (p->fd >= 0)
            close(p->fd);
        p->fd = -1;
        if (errnum && errnum != EAGAIN && errnum != EACCES)
            return complain(p, errnum);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return brio_fail(BRIO_EIO, "%s cannot be kept", p->name);
}

/* A lock that cannot be given back goes with its descriptor. Another is opened before, lest
 * nobody has the file in use for a moment. */
static void give_lock(struct pointer *p)
{
    char text[BRIO_ERR_TEXT];
    const int held = p->fd;
    if (set_lock(p, F_UNLCK, VALUE_AT, 8) == 0)
        return;
    if (p->fd < 0) { /* no answer, and nobody knows who has the lock */
        p->refused = true;
        return;
    }
    brio_err_save(text);
    if (open_file(p) != BRIO_OK)
        brio_log(BRIO_NOTE, "%s; it is tried again when it is needed", brio_err_text());
    brio_err_restore(text);
    close(held);
}

/* With the mutex held. */
static BRIO_ERR need_file(struct pointer *p)
{
    enum brio_err err = BRIO_OK;
    if (p->fd >= 0)
        return BRIO_OK;
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
    brio_off value = 0, next = 0;
    enum brio_err err = need_file(p);
    if (!err)
        err = take_lock(p);
    if (err)
        return err;
    err = load(p, &value);
    if (!err && !brio_add(value, n, &next))
        err = brio_fail(BRIO_EARG, "the shared pointer at %lld cannot go on by %lld",
                        (long long)value, (long long)n);
    if (!err && n)
        err = store(p, next);
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
    p->first = env->team->rank == 0;
    p->start = env->start;
    p->limit = (double)conf->limit;
    p->sure = env->local;
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
    char tag[BRIO_SIDE_TAG + 1];
    struct pointer *p = NULL;
    enum brio_err err = brio_side_begin(env->path, env->team, tag);
    if (err)
        return err;
    err = brio_agree(env->team, make(env, conf, tag, &p));
    if (err)
        free_pointer(p);
    else
        *self = p;
    return err;
}

/* Removes a file whose job is gone. */
static bool remove_stale(const char *path, const char *name)
{
    (void)path;
    int fd = open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return true;
    int errnum = brio_lock_within(STALE_SECONDS, fd, F_WRLCK, ALIVE_AT, 1);
    if (!errnum)
        unlink(name);
    if (errnum != ETIMEDOUT)
        close(fd);
    return true;
}

static void close_pointer(void *self, bool used)
{
    struct pointer *p = self;
    if (p->fd >= 0)
        close(p->fd);
    if (p->first && used) {
        unlink(p->name);
        if (!p->refused)
            brio_side_each(p->path, "lock", 0, remove_stale);
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
