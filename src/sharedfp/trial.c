/* The trial runs on a thread of its own: a call that never comes back costs that thread and
 * its descriptors, and not the rank. */
#include "sharedfp/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

struct trial {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    char *name;
    int owners; /* the asker and the thread: the last one frees */
    bool over;
    int errnum;
    const char *what; /* went wrong, or NULL */
};

static void leave(struct trial *t)
{
    bool last = --t->owners == 0;
    pthread_mutex_unlock(&t->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->ended);
    free(t->name);
    free(t);
}

/* A range that no module uses. */
static int lock_range(int fd, short type)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = 64, .l_len = 1};
    int n;
    do
        n = fcntl(fd, F_OFD_SETLK, &range);
    while (n != 0 && errno == EINTR);
    return n;
}

/* Other ranks may be trying, too: a lock that is refused works. What must not happen is that
 * two have it. */
static const char *try_pair(int a, int b)
{
    if (lock_range(a, F_WRLCK) != 0)
        return errno == EAGAIN || errno == EACCES ? NULL : "lock";
    if (lock_range(b, F_WRLCK) == 0) {
        errno = ENOLCK;
        return "locks are granted to two at a time: lock";
    }
    if (errno != EAGAIN && errno != EACCES)
        return "lock";
    return lock_range(a, F_UNLCK) == 0 ? NULL : "unlock";
}

static const char *try_locks(const char *name)
{
    int a = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    int b = a < 0 ? -1 : open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    const char *what = "open";
    if (b >= 0)
        what = try_pair(a, b);
    int errnum = errno;
    if (b >= 0)
        close(b);
    if (a >= 0)
        close(a);
    errno = errnum;
    return what;
}

static void *run(void *arg)
{
    struct trial *t = arg;
    const char *what = try_locks(t->name);
    int errnum = errno;
    pthread_mutex_lock(&t->lock);
    t->what = what;
    t->errnum = errnum;
    t->over = true;
    pthread_cond_signal(&t->ended);
    leave(t);
    return NULL;
}

static BRIO_ERR start(struct trial *t)
{
    pthread_t thread;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&thread, NULL, run, t);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failed)
        return brio_fail_errno(failed, "a thread to try locks");
    pthread_detach(thread);
    return BRIO_OK;
}

static BRIO_ERR await(struct trial *t, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)seconds;
    pthread_mutex_lock(&t->lock);
    int late = 0;
    while (!t->over && !late)
        late = pthread_cond_timedwait(&t->ended, &t->lock, &until);
    enum brio_err err = BRIO_OK;
    if (!t->over)
        err = brio_fail(BRIO_EUNSUPOP, "no answer to a lock of %s for %g seconds", t->name,
                        seconds);
    else if (t->what)
        err = brio_fail_errno(t->errnum, "%s of %s", t->what, t->name);
    leave(t);
    return err;
}

BRIO_ERR brio_trial_locks(const char *name, double seconds)
{
    struct trial *t = NULL;
    enum brio_err err = brio_calloc(1, sizeof *t, (void **)&t);
    if (err)
        return err;
    err = brio_strdup(name, &t->name);
    if (!err) {
        pthread_mutex_init(&t->lock, NULL);
        pthread_cond_init(&t->ended, NULL);
        t->owners = 2;
        err = start(t);
    }
    if (err) {
        free(t->name);
        free(t);
        return err;
    }
    return await(t, seconds);
}
