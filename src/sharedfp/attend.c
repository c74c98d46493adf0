/* One thread per process, asleep most of the time: it looks into MPI every 50 microseconds
 * while somebody uses the pointer and every 10 ms while nobody does, for a second also while
 * there is none: a file whose pointer is never used does not wake it. Where neither the network
 * nor shared memory does the addition by itself, MPI does it inside calls of the target's:
 * without this thread a rank that computes for a second makes all others wait a second
 * (MPICH always, Open MPI where its window is made of messages). */
#include "sharedfp/attend.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "comm/real.h"

enum {
    SHORT_NAP_US = 50,
    LONG_NAP_US = 10000,
    PATIENCE = 200, /* looks without change before the naps become long */
    LINGER = 100    /* and without a pointer before it waits to be called */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct brio_attended *first;
    bool running, stop;
    bool away; /* until it is called */
    pthread_t thread;
} self = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* With the lock held. True if a pointer has moved. */
static bool look(void)
{
    bool moved = false;
    for (struct brio_attended *a = self.first; a; a = a->next) {
        int flag;
        /* For its progress only: nothing is ever sent with this tag. */
        PMPI_Iprobe(MPI_ANY_SOURCE, 32000, a->comm, &flag, MPI_STATUS_IGNORE);
        moved |= *a->value != a->seen;
        a->seen = *a->value;
    }
    return moved;
}

/* With the lock held. */
static void nap(long us)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += us * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&self.wake, &self.lock, &until);
}

static void *attend_for_ever(void *arg)
{
    int idle = PATIENCE, alone = 0;
    (void)arg;
    prctl(PR_SET_TIMERSLACK, 1000UL); /* this thread's: or each nap takes twice as long */
    pthread_mutex_lock(&self.lock);
    while (!self.stop) {
        alone = self.first ? 0 : alone + 1;
        self.away = alone > LINGER;
        if (self.away) {
            pthread_cond_wait(&self.wake, &self.lock);
            continue;
        }
        idle = look() ? 0 : (int)brio_min(idle + 1, PATIENCE);
        nap(idle < PATIENCE ? SHORT_NAP_US : LONG_NAP_US);
    }
    pthread_mutex_unlock(&self.lock);
    return NULL;
}

/* With the lock held. */
static void start_thread(void)
{
    sigset_t all, old;
    if (self.running)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    self.stop = false;
    self.running = pthread_create(&self.thread, NULL, attend_for_ever, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void brio_attend(struct brio_attended *a)
{
    pthread_mutex_lock(&self.lock);
    a->seen = *a->value;
    a->next = self.first;
    self.first = a;
    if (brio_real_thread_level() == MPI_THREAD_MULTIPLE)
        start_thread();
    if (self.away)
        pthread_cond_signal(&self.wake);
    pthread_mutex_unlock(&self.lock);
}

void brio_attend_end(struct brio_attended *a)
{
    pthread_mutex_lock(&self.lock);
    struct brio_attended **at = &self.first;
    while (*at && *at != a)
        at = &(*at)->next;
    if (*at)
        *at = a->next;
    pthread_mutex_unlock(&self.lock);
}

void brio_attend_finalize(void)
{
    pthread_mutex_lock(&self.lock);
    bool running = self.running;
    self.stop = true;
    self.running = false;
    self.first = NULL;
    pthread_cond_signal(&self.wake);
    pthread_mutex_unlock(&self.lock);
    if (running)
        pthread_join(self.thread, NULL);
}
