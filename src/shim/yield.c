/* Preloaded into MPICH programs with more ranks than cores, by brio run and test/run: MPICH
 * over UCX busy-waits, and a rank that waits keeps the core from the one it waits for. This
 * wraps the one function that its waiting loops call, and gives the core away when there was
 * nothing to do. It touches no MPI call. */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

enum {
    IDLE_BEFORE_NAP = 2000,
    NAP_NS = 50000,
    LOOP_NS = 5000 /* a waiting loop is back sooner than this */
};

typedef unsigned progress_fn(void *worker);

/* libucp is not in the scope of RTLD_NEXT where MPI was loaded later with dlopen (Python). */
static progress_fn *find_progress(void)
{
    void *found = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (!found) {
        void *ucp = dlopen("libucp.so.0", RTLD_NOLOAD | RTLD_LAZY);
        found = ucp ? dlsym(ucp, "ucp_worker_progress") : NULL;
    }
    return (progress_fn *)found;
}

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Whether more than one thread of this process has come here. */
static bool are_several(void)
{
    static _Thread_local char me;
    static _Atomic(char *) first;
    static atomic_bool several;
    char *nobody = NULL;
    if (!atomic_compare_exchange_strong(&first, &nobody, &me) && nobody != &me)
        atomic_store_explicit(&several, true, memory_order_relaxed);
    return atomic_load_explicit(&several, memory_order_relaxed);
}

/* Who is back soon waits in a loop, and naps in the end. Who only looks from time to time does
 * not; and as this is called with MPICH's lock held, for which the process's other threads may
 * wait, one among several is then left alone: it makes room by itself. */
static void rest(bool done)
{
    static _Thread_local unsigned idle;
    static _Thread_local long long left;

    bool waits = now() - left <= LOOP_NS;
    idle = done || !waits ? 0 : idle + 1;
    if (idle >= IDLE_BEFORE_NAP)
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    else if (!done && (waits || !are_several()))
        sched_yield();
    left = now();
}

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker)
{
    static _Atomic(progress_fn *) progress;
    progress_fn *next = atomic_load_explicit(&progress, memory_order_acquire);
    if (!next) {
        next = find_progress();
        if (!next)
            return 0;
        atomic_store_explicit(&progress, next, memory_order_release);
    }
    unsigned done = next(worker);
    rest(done > 0);
    return done;
}
