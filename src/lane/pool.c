/* A handful of sleeping threads and one queue. */
#include "lane/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

/* Enough to keep a disk busy; more would only fight for the file's lock in the kernel. */
enum {
    THREADS = 4
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;  /* there is a job, or the end has come */
    pthread_cond_t quiet; /* the last job is over */
    struct brio_job *first, *last;
    pthread_t thread[THREADS];
    int nthreads, nidle, nqueued, nrunning;
    bool ending;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .quiet = PTHREAD_COND_INITIALIZER};

static void before_fork(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void after_fork_parent(void)
{
    pthread_mutex_unlock(&pool.lock);
}

/* The child has none of the threads, and the parent's jobs are none of its business. */
static void after_fork_child(void)
{
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.quiet, NULL);
    pool.first = pool.last = NULL;
    pool.nthreads = pool.nidle = pool.nqueued = pool.nrunning = 0;
    pool.ending = false;
    pthread_mutex_unlock(&pool.lock);
}

static void watch_forks(void)
{
    /* Fails only for want of memory; then a child that forks and goes on with MPI-IO, which
     * MPI does not allow anyway, would wait for threads that it does not have. */
    (void)pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

/* With the lock held. */
static struct brio_job *take(void)
{
    struct brio_job *job = pool.first;
    pool.first = job->next;
    if (!pool.first)
        pool.last = NULL;
    pool.nqueued--;
    pool.nrunning++;
    return job;
}

static void *serve(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (!pool.first && !pool.ending) {
            pool.nidle++;
            pthread_cond_wait(&pool.work, &pool.lock);
            pool.nidle--;
        }
        if (!pool.first)
            break;
        struct brio_job *job = take();
        pthread_mutex_unlock(&pool.lock);
        job->run(job); /* the job may be gone now */
        pthread_mutex_lock(&pool.lock);
        if (--pool.nrunning == 0 && !pool.first)
            pthread_cond_broadcast(&pool.quiet);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* With the lock held. Signals are the program's: none is delivered to these threads. */
static int grow(void)
{
    sigset_t all, old;
    sigfillset(&all);
    int failed = pthread_sigmask(SIG_SETMASK, &all, &old);
    if (failed)
        return failed;
    failed = pthread_create(&pool.thread[pool.nthreads], NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!failed)
        pool.nthreads++;
    return failed;
}

BRIO_ERR brio_pool_submit(struct brio_job *job)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    enum brio_err err = BRIO_OK;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&pool.lock);
    int failed = 0;
    /* A thread that has been woken still counts as idle until it runs: hence nqueued. */
    if (pool.nqueued >= pool.nidle && pool.nthreads < THREADS && !pool.ending)
        failed = grow();
    if (pool.nthreads == 0 || pool.ending) {
        err = brio_fail(BRIO_EINTERN, "no thread for a nonblocking access (error %d)", failed);
    } else {
        job->next = NULL;
        if (pool.last)
            pool.last->next = job;
        else
            pool.first = job;
        pool.last = job;
        pool.nqueued++;
        pthread_cond_signal(&pool.work);
    }
    pthread_mutex_unlock(&pool.lock);
    return err;
}

/* Work that is shared with threads of the pool. */
struct share {
    void (*fn)(void *arg, int i);
    void *arg;
    int n;
    _Atomic int next;
    pthread_mutex_t lock;
    pthread_cond_t over;
    int nhelping; /* helpers that may still touch this struct */
};

struct helper {
    struct brio_job job; /* first: the pool gives it back */
    struct share *share;
};

static void work(struct share *share)
{
    int i;
    while ((i = atomic_fetch_add(&share->next, 1)) < share->n)
        share->fn(share->arg, i);
}

static void help(struct brio_job *job)
{
    struct share *share = ((struct helper *)job)->share;
    work(share);
    pthread_mutex_lock(&share->lock);
    share->nhelping--;
    pthread_cond_signal(&share->over);
    pthread_mutex_unlock(&share->lock);
}

/* Takes a job back that no thread has begun. */
static bool cancel(struct brio_job *job)
{
    struct brio_job *before = NULL, *at;
    pthread_mutex_lock(&pool.lock);
    for (at = pool.first; at && at != job; at = at->next)
        before = at;
    if (at) {
        if (before)
            before->next = job->next;
        else
            pool.first = job->next;
        if (pool.last == job)
            pool.last = before;
        pool.nqueued--;
    }
    pthread_mutex_unlock(&pool.lock);
    return at != NULL;
}

int brio_pool_spare(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) < 2 ? 0 : 1;
}

/* A helper that could not be had is one fewer. */
static int call_helpers(struct share *share, struct helper *helpers, int n)
{
    int called = 0;
    share->nhelping = n;
    for (int i = 0; i < n; i++) {
        helpers[called] = (struct helper){.job.run = help, .share = share};
        if (brio_pool_submit(&helpers[called].job) == BRIO_OK)
            called++;
    }
    return called;
}

void brio_pool_share(void (*fn)(void *arg, int i), void *arg, int n, int helpers)
{
    struct share share = {.fn = fn,
                          .arg = arg,
                          .n = n,
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .over = PTHREAD_COND_INITIALIZER};
    struct helper helper[THREADS];
    int wanted = (int)brio_max(0, brio_min(brio_min(helpers, THREADS), n - 1));
    int called = call_helpers(&share, helper, wanted), gone = wanted - called;
    work(&share);
    for (int i = 0; i < called; i++)
        gone += cancel(&helper[i].job);
    pthread_mutex_lock(&share.lock);
    share.nhelping -= gone;
    while (share.nhelping > 0)
        pthread_cond_wait(&share.over, &share.lock);
    pthread_mutex_unlock(&share.lock);
    pthread_cond_destroy(&share.over);
    pthread_mutex_destroy(&share.lock);
}

void brio_pool_finalize(void)
{
    pthread_mutex_lock(&pool.lock);
    if (pool.ending) {
        pthread_mutex_unlock(&pool.lock);
        return;
    }
    while (pool.first || pool.nrunning > 0)
        pthread_cond_wait(&pool.quiet, &pool.lock);
    pool.ending = true;
    pthread_cond_broadcast(&pool.work);
    int n = pool.nthreads;
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < n; i++)
        pthread_join(pool.thread[i], NULL);
    pthread_mutex_lock(&pool.lock);
    pool.nthreads = 0;
    pool.ending = false;
    pthread_mutex_unlock(&pool.lock);
}
