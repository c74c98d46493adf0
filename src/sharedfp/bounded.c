/* The call is made on a thread of its own: one that never comes back costs that thread and its
 * descriptor, and not the rank. */
#include "sharedfp/bounded.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"

struct errand {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    int owners; /* who asks and who is sent: the last one frees */
    int fd, command;
    struct flock range;
    bool over;
    int errnum;
};

/* With the lock held, which it gives. */
static void leave(struct errand *e)
{
    bool last = --e->owners == 0;
    pthread_mutex_unlock(&e->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->ended);
    free(e);
}

static void *run(void *arg)
{
    struct errand *e = arg;
    int failed;
    do
        failed = fcntl(e->fd, e->command, &e->range);
    while (failed && errno == EINTR);
    int errnum = failed ? errno : 0;
    if (!errnum && e->command == F_OFD_GETLK && e->range.l_type != F_UNLCK)
        errnum = EAGAIN;
    pthread_mutex_lock(&e->lock);
    e->errnum = errnum;
    e->over = true;
    pthread_cond_signal(&e->ended);
    leave(e);
    return NULL;
}

static int start(struct errand *e)
{
    pthread_t thread;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&thread, NULL, run, e);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!failed)
        pthread_detach(thread);
    return failed;
}

static int await(struct errand *e, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)(1e9 * (seconds - (double)(time_t)seconds));
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&e->lock);
    int late = 0;
    while (!e->over && !late)
        late = pthread_cond_timedwait(&e->ended, &e->lock, &until);
    int errnum = e->over ? e->errnum : ETIMEDOUT;
    leave(e);
    return errnum;
}

static int run_errand(double seconds, int fd, int command, struct flock range)
{
    struct errand *e = NULL;
    if (brio_calloc(1, sizeof *e, (void **)&e))
        return ENOMEM;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->ended, NULL);
    e->owners = 2;
    e->fd = fd;
    e->command = command;
    e->range = range;
    int failed = start(e);
    if (!failed)
        return await(e, seconds);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->ended);
    free(e);
    return failed;
}

int brio_lock_within(double seconds, int fd, short type, brio_off at, brio_off len)
{
    return run_errand(
        seconds, fd, F_OFD_SETLK,
        (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = len});
}

int brio_lock_asked_within(double seconds, int fd, brio_off at)
{
    return run_errand(
        seconds, fd, F_OFD_GETLK,
        (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1});
}
