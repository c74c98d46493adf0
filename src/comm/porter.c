/* Doors are served in turn with the lock held, so that leaving waits for a serve that runs. */
#include "comm/porter.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOKS = 200,           /* without a nap, after something was done */
    SHORT_NAP = 50000,     /* nanoseconds */
    PATIENCE = 100,        /* short naps before they grow */
    LONGEST_NAP = 20000000 /* a look takes some 20 microseconds: a thousandth of a core */
};

static struct {
    pthread_mutex_t lock;
    struct brio_porter_door *first;
    _Atomic int npolled; /* doors that must be looked at */
    _Atomic int waiting; /* threads that want the lock: the porter lets them through */
    bool stop;
    pthread_t thread;
    struct brio_page_ref ref;
    struct brio_page_slot *bell;
    _Atomic bool napping; /* a long nap, of which asking others wakes it */
} porter = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER; /* starts and ends of the thread */

/* With the lock held. *polled: some door must be looked at. */
static bool serve_all(bool *polled)
{
    bool busy = false;
    *polled = false;
    for (struct brio_porter_door *d = porter.first; d; d = d->next) {
        busy |= d->serve(d->self);
        *polled |= d->polled;
    }
    return busy;
}

/* Twice as long after every eight naps. */
static long choose_nap(int idle)
{
    int grown = (idle - LOOKS - PATIENCE) / 8;
    if (grown <= 0)
        return SHORT_NAP;
    return grown < 9 ? brio_min((long)SHORT_NAP << grown, LONGEST_NAP) : LONGEST_NAP;
}

/* Sleeps until the bell has been rung more than `seen` times; `nap` nanoseconds at most, or
 * for good if it is 0. */
static void sleep_until_rung(uint32_t seen, long nap)
{
    struct timespec limit = {.tv_nsec = nap};
    atomic_store(&porter.bell->asleep, 1);
    if (atomic_load(&porter.bell->bell) == seen)
        syscall(SYS_futex, &porter.bell->bell, FUTEX_WAIT, seen, nap ? &limit : NULL, NULL, 0);
    atomic_store(&porter.bell->asleep, 0);
}

static void *attend(void *arg)
{
    int idle = 0;
    (void)arg;
    pthread_mutex_lock(&porter.lock);
    while (!porter.stop) {
        bool polled;
        uint32_t seen = atomic_load(&porter.bell->bell);
        idle = serve_all(&polled) ? 0 : idle + 1;
        pthread_mutex_unlock(&porter.lock);
        if (porter.waiting)
            sched_yield();
        if (idle > 0 && !polled) {
            sleep_until_rung(seen, 0);
        } else if (idle > LOOKS) {
            long nap = choose_nap(idle);
            atomic_store(&porter.napping, nap > SHORT_NAP);
            sleep_until_rung(seen, nap);
            if (atomic_load(&porter.bell->bell) != seen)
                idle = 0;
        } else if (idle > 0) {
            sched_yield();
        }
        pthread_mutex_lock(&porter.lock);
    }
    pthread_mutex_unlock(&porter.lock);
    return NULL;
}

void brio_porter_ring(struct brio_page_slot *bell)
{
    atomic_fetch_add(&bell->bell, 1);
    if (atomic_load(&bell->asleep))
        syscall(SYS_futex, &bell->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool brio_porter_looks(void)
{
    return atomic_load_explicit(&porter.npolled, memory_order_relaxed) > 0;
}

void brio_porter_hurry(void)
{
    if (atomic_exchange(&porter.napping, false))
        brio_porter_ring(porter.bell);
}

/* With `joining` held, no thread running. */
static BRIO_ERR start_thread(void)
{
    sigset_t all, old;
    enum brio_err err = brio_page_take(&porter.ref, &porter.bell);
    if (err)
        return err;
    porter.stop = false;
    atomic_store(&porter.bell->asleep, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&porter.thread, NULL, attend, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failed) {
        brio_page_give(&porter.ref);
        return brio_fail_errno(failed, "a thread to answer other ranks");
    }
    return BRIO_OK;
}

static void enter(void)
{
    porter.waiting++;
    pthread_mutex_lock(&porter.lock);
    porter.waiting--;
}

BRIO_ERR brio_porter_join(struct brio_porter_door *door, struct brio_page_ref *bell)
{
    pthread_mutex_lock(&joining);
    enum brio_err err = porter.first ? BRIO_OK : start_thread();
    if (!err) {
        enter();
        door->next = porter.first;
        porter.first = door;
        porter.npolled += door->polled;
        *bell = porter.ref;
        pthread_mutex_unlock(&porter.lock);
        brio_porter_ring(porter.bell);
    }
    pthread_mutex_unlock(&joining);
    return err;
}

void brio_porter_leave(struct brio_porter_door *door)
{
    pthread_mutex_lock(&joining);
    enter();
    struct brio_porter_door **at = &porter.first;
    while (*at != door)
        at = &(*at)->next;
    *at = door->next;
    porter.npolled -= door->polled;
    porter.stop = !porter.first;
    pthread_mutex_unlock(&porter.lock);
    if (porter.stop) {
        atomic_store(&porter.napping, false);
        brio_porter_ring(porter.bell);
        pthread_join(porter.thread, NULL);
        brio_page_give(&porter.ref);
    }
    pthread_mutex_unlock(&joining);
}
