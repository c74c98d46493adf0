/* What the stages of a lane build on: the walk over an access, and the threads. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "contract.h"
#include "lane/pool.h"
#include "lane/walk.h"

/* ---- The walk
 * -------------------------------------------------------------------------------- */

/* Takes an access apart and compares every byte with the patterns. */
static void walk_all(const struct brio_io *io, const struct pattern *file,
                     const struct pattern *mem, brio_off max_bytes, int max_iov)
{
    struct iovec iov[64];
    struct brio_walk walk;
    struct brio_stretch s;
    int64_t n = 0;
    brio_off end = -1;
    char *last = NULL;
    brio_walk_init(&walk, io);
    while (brio_walk_next(&walk, max_bytes, max_iov, iov, &s)) {
        int64_t sum = 0;
        bool full = s.len == max_bytes || s.niov == max_iov;
        REQUIRE(s.len > 0 && s.len <= max_bytes && s.niov > 0 && s.niov <= max_iov,
                "%lld bytes, %d pieces", (long long)s.len, s.niov);
        CHECK(s.off != end, "two stretches that touch at %lld", (long long)end);
        for (int i = 0; i < s.niov; i++) {
            char *at = iov[i].iov_base;
            CHECK(i == 0 || at != last, "two pieces of memory that touch");
            for (size_t j = 0; j < iov[i].iov_len; j++, n++, sum++) {
                REQUIRE(n < io->bytes, "more than was asked for");
                REQUIRE(io->base + pattern_at(file, io->pos + n) == s.off + sum, "byte %lld",
                        (long long)n);
                REQUIRE((char *)io->buf + pattern_at(mem, io->mem_pos + n) == at + j,
                        "byte %lld", (long long)n);
            }
            last = at + iov[i].iov_len;
        }
        CHECK(sum == s.len, "%lld bytes in memory, %lld in the file", (long long)sum,
              (long long)s.len);
        end = full ? -1 : s.off + s.len;
    }
    CHECK(n == io->bytes, "%lld of %lld bytes", (long long)n, (long long)io->bytes);
}

static void walk_covers_the_access(void)
{
    static struct pattern file, mem;
    static char buf[1 << 22];
    uint64_t seed = test_seed();
    for (int i = 0; i < 3000 && !test_failed; i++) {
        pattern_random(&file);
        pattern_random(&mem);
        struct brio_io io = {.file = file.map,
                             .base = test_below(1000),
                             .pos = test_below(2 * file.size),
                             .mem = mem.map,
                             .buf = buf,
                             .mem_pos = test_below(2 * mem.size),
                             .bytes = test_below(2000)};
        walk_all(&io, &file, &mem, 1 + test_below(500), 1 + (int)test_below(64));
        pattern_free(&file);
        pattern_free(&mem);
    }
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

static void walk_takes_all_that_is_contiguous(void)
{
    static struct pattern flat;
    struct iovec iov[2];
    struct brio_walk walk;
    struct brio_stretch s = {0};
    pattern_vector(&flat, 1, 8, 0, 0, 0);
    struct brio_io io = brio_io_flat(BRIO_WRITE, 5, NULL, (brio_off)5 << 30, flat.map);
    io.pos = 3;
    brio_walk_init(&walk, &io);
    CHECK(brio_walk_next(&walk, (brio_off)3 << 30, 2, iov, &s), "nothing");
    CHECK(s.off == 8 && s.len == (brio_off)3 << 30 && s.niov == 1, "%lld bytes",
          (long long)s.len);
    CHECK(brio_walk_next(&walk, (brio_off)3 << 30, 2, iov, &s), "nothing");
    CHECK(s.len == (brio_off)2 << 30 && s.niov == 1, "%lld bytes", (long long)s.len);
    CHECK(!brio_walk_next(&walk, (brio_off)3 << 30, 2, iov, &s), "more");
    pattern_free(&flat);
}

/* ---- The threads
 * ------------------------------------------------------------------------------- */

struct counted {
    struct brio_job job;
    _Atomic int *count;
};

static void count(struct brio_job *job)
{
    atomic_fetch_add(((struct counted *)job)->count, 1);
}

static void pool_runs_every_job(void)
{
    enum {
        JOBS = 300
    };
    static struct counted jobs[JOBS];
    for (int round = 0; round < 3; round++) {
        _Atomic int n = 0;
        for (int i = 0; i < JOBS; i++) {
            jobs[i] = (struct counted){.job.run = count, .count = &n};
            CHECK(brio_pool_submit(&jobs[i].job) == BRIO_OK, "%s", brio_err_text());
        }
        brio_pool_finalize();
        CHECK(n == JOBS, "%d of %d jobs", n, JOBS);
    }
}

/* A job that keeps its thread until the gate opens. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    int waiting;
    bool open;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false};

static void wait_at_gate(struct brio_job *job)
{
    (void)job;
    pthread_mutex_lock(&gate.lock);
    gate.waiting++;
    while (!gate.open)
        pthread_cond_wait(&gate.opened, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void tick(void *arg, int i)
{
    atomic_fetch_add((_Atomic int *)arg + i, 1);
}

static void expect_each_once(int n)
{
    static _Atomic int ticks[1000];
    for (int i = 0; i < n; i++)
        ticks[i] = 0;
    brio_pool_share(tick, ticks, n, n % 5);
    for (int i = 0; i < n; i++)
        REQUIRE(ticks[i] == 1, "call %d of %d: %d times", i, n, ticks[i]);
}

static void shared_work_is_done_once(void)
{
    for (int i = 0; i < 200; i++)
        expect_each_once(i);
    expect_each_once(1000);
    brio_pool_finalize();
}

/* With every thread busy, shared work does not wait, and the queue stays whole. */
static void a_busy_pool_does_not_delay_shared_work(void)
{
    enum {
        BUSY = 16
    };
    static struct brio_job busy[BUSY];
    struct counted after;
    _Atomic int n = 0;
    for (int i = 0; i < BUSY; i++) {
        busy[i].run = wait_at_gate;
        CHECK(brio_pool_submit(&busy[i]) == BRIO_OK, "%s", brio_err_text());
    }
    expect_each_once(100);
    after = (struct counted){.job.run = count, .count = &n};
    CHECK(brio_pool_submit(&after.job) == BRIO_OK, "%s", brio_err_text());
    expect_each_once(100);
    pthread_mutex_lock(&gate.lock);
    gate.open = true;
    pthread_cond_broadcast(&gate.opened);
    pthread_mutex_unlock(&gate.lock);
    brio_pool_finalize();
    CHECK(gate.waiting == BUSY && n == 1, "%d and %d jobs", gate.waiting, n);
}

static _Atomic int blocked;

static void look_at_signals(struct brio_job *job)
{
    (void)job;
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    blocked =
        sigismember(&now, SIGUSR1) && sigismember(&now, SIGALRM) && sigismember(&now, SIGINT);
}

static void signals_are_the_programs(void)
{
    struct brio_job job = {.run = look_at_signals};
    CHECK(brio_pool_submit(&job) == BRIO_OK, "%s", brio_err_text());
    brio_pool_finalize();
    CHECK(blocked, "a thread of the pool would take a signal");
}

static void a_child_has_its_own_pool(void)
{
    struct counted job;
    _Atomic int n = 0;
#ifdef __SANITIZE_THREAD__
    SKIP("the thread sanitizer does not follow a fork");
#endif
    job = (struct counted){.job.run = count, .count = &n};
    CHECK(brio_pool_submit(&job.job) == BRIO_OK, "%s", brio_err_text());
    while (n == 0)
        usleep(1000);
    usleep(100000); /* there is a thread now, and it is idle */
    n = 0;
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        job = (struct counted){.job.run = count, .count = &n};
        if (brio_pool_submit(&job.job))
            _exit(2);
        brio_pool_finalize();
        _exit(n == 1 ? 0 : 3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %#x", status);
    expect_each_once(50);
    brio_pool_finalize();
}

static const struct test_case cases[] = {TEST(walk_covers_the_access),
                                         TEST(walk_takes_all_that_is_contiguous),
                                         TEST(pool_runs_every_job),
                                         TEST(shared_work_is_done_once),
                                         TEST(a_busy_pool_does_not_delay_shared_work),
                                         TEST(signals_are_the_programs),
                                         TEST(a_child_has_its_own_pool),
                                         {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
