/* The counters: names, sums over threads, sizes, samples, phases. */
#include "check.h"

#include <pthread.h>

#include "base/stats.h"
#include "base/trace.h"

static void names_lead_back(void)
{
    int known = 0;
    for (int i = 0; i < BRIO_COUNTERS; i++) {
        char name[32];
        if (!brio_counter_name(i, name))
            continue;
        known++;
        CHECK(brio_counter_named(name) == i, "%s is %d, not %d", name, brio_counter_named(name),
              i);
    }
    CHECK(known == BRIO_COUNTERS - 1, "%d of %d have a name", known, BRIO_COUNTERS);
    CHECK(brio_counter_named("write.collective") == BRIO_N_COLLECTIVE + BRIO_WRITE, "?");
    CHECK(brio_counter_named("read.calls_aligned") == BRIO_N_CALL_ALIGNED, "?");
    CHECK(brio_counter_named("nonsense") == -1, "?");
}

static void sizes_have_classes(void)
{
    static const struct {
        brio_off bytes;
        int class;
    } of[] = {{-1, 0},
              {0, 0},
              {1, 1},
              {2, 2},
              {3, 2},
              {4095, 12},
              {4096, 13},
              {1 << 20, 21},
              {((brio_off)1 << 32) - 1, 32},
              {(brio_off)1 << 32, 33},
              {BRIO_OFF_MAX, 33}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        CHECK(brio_size_class(of[i].bytes) == of[i].class, "%lld bytes: class %d",
              (long long)of[i].bytes, brio_size_class(of[i].bytes));
}

enum {
    THREADS = 2 * BRIO_SHARDS,
    EACH = 20000
};

static void *add(void *arg)
{
    struct brio_stats *s = arg;
    for (int i = 0; i < EACH; i++) {
        brio_count(s, BRIO_N_MESSAGES, 1);
        brio_count_access(s, BRIO_N_INDEPENDENT, BRIO_WRITE, 100);
        brio_count_call(s, BRIO_WRITE, 4096 * i, i % 2 ? 4096 : 100, 4096);
    }
    return NULL;
}

static int64_t get(const struct brio_stats *s, const char *name)
{
    return brio_stats_get(s, brio_counter_named(name));
}

/* More threads than shards, at the same time. */
static void nothing_is_lost(void)
{
    struct brio_stats *s;
    pthread_t thread[THREADS];
    REQUIRE(!brio_stats_new(&s), "no memory");
    for (int i = 0; i < THREADS; i++)
        REQUIRE(!pthread_create(&thread[i], NULL, add, s), "no thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    int64_t all = (int64_t)THREADS * EACH;
    CHECK(get(s, "messages") == all, "%lld", (long long)get(s, "messages"));
    CHECK(get(s, "write.independent") == all, "%lld", (long long)get(s, "write.independent"));
    CHECK(get(s, "write.bytes") == 100 * all, "%lld", (long long)get(s, "write.bytes"));
    CHECK(get(s, "sizes.write.7") == all, "%lld", (long long)get(s, "sizes.write.7"));
    CHECK(get(s, "write.calls_aligned") == all / 2, "%lld",
          (long long)get(s, "write.calls_aligned"));
    CHECK(get(s, "read.bytes") == 0, "reads were counted");
    brio_stats_free(s);
}

/* What the timed accesses stand for is about as many as there were, and few are timed. */
static void samples_stand_for_all(void)
{
    struct brio_stats *s;
    REQUIRE(!brio_stats_new(&s), "no memory");
    int64_t stood = 0, timed = 0;
    for (int i = 0; i < 100000; i++) {
        int weight = brio_sample(s, 4096);
        stood += weight;
        timed += weight > 0;
    }
    CHECK(stood > 100000 - BRIO_SAMPLE && stood <= 100000, "%lld", (long long)stood);
    CHECK(timed < 2000, "%lld of 100000 are timed", (long long)timed);
    CHECK(brio_sample(s, BRIO_LARGE) == 1, "a large access is not timed");
    brio_stats_free(s);
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
}

static void phases_add_up(void)
{
    struct brio_stats *s;
    REQUIRE(!brio_stats_new(&s), "no memory");
    int64_t began = brio_now();
    brio_phase_begin(s, 0);
    brio_phase(s, BRIO_PHASE_PLAN);
    rest();
    CHECK(brio_phase(s, BRIO_PHASE_FILE) == BRIO_PHASE_PLAN, "?");
    rest();
    brio_phase_pause(s);
    int64_t paused = brio_now();
    rest();
    paused = brio_now() - paused;
    brio_phase_resume(s);
    rest();
    CHECK(brio_phase(s, BRIO_PHASE_NONE) == BRIO_PHASE_FILE, "?");
    int64_t all = brio_now() - began, plan = get(s, "ns.plan"), file = get(s, "ns.file");
    CHECK(plan >= 3000000 && file >= 6000000, "plan %lld file %lld", (long long)plan,
          (long long)file);
    CHECK(get(s, "cpu.plan") < plan / 2, "asleep, it took %lld of %lld ns of a processor",
          (long long)get(s, "cpu.plan"), (long long)plan);
    CHECK(plan + file <= all - paused, "%lld + %lld of %lld", (long long)plan, (long long)file,
          (long long)(all - paused));
    CHECK(brio_phase(NULL, BRIO_PHASE_FILE) == BRIO_PHASE_NONE, "?");
    brio_stats_free(s);
}

/* Of many small collective accesses few are timed, and those stand for the others. */
static void phases_are_sampled(void)
{
    enum {
        N = 10 * BRIO_SAMPLE,
        LASTS = 20000 /* ns */
    };
    struct brio_stats *s;
    int timed = 0;
    REQUIRE(!brio_stats_new(&s), "no memory");
    for (int i = 0; i < N; i++) {
        brio_phase_begin(s, 64);
        brio_phase(s, BRIO_PHASE_FILE);
        for (int64_t began = brio_now(); brio_now() - began < LASTS;)
            ;
        CHECK(brio_phase(s, BRIO_PHASE_NONE) == BRIO_PHASE_FILE, "?");
        timed += s->weight > 0;
    }
    CHECK(timed < 2 * BRIO_SAMPLE, "%d of %d are timed", timed, N);
    CHECK(get(s, "ns.file") >= (int64_t)LASTS * (N - BRIO_SAMPLE), "%lld ns",
          (long long)get(s, "ns.file"));
    brio_stats_free(s);
}

/* However many there are, the list covers the whole time, evenly, and forgets no byte. */
static void records_cover_all(void)
{
    enum {
        ROOM = 100
    };
    for (int n = 1; n < 200000; n = n * 3 + 1) {
        for (int mixed = 0; mixed < 2; mixed++) {
            struct brio_trace *t;
            const struct brio_record *r;
            REQUIRE(!brio_trace_new(ROOM, 1000, &t), "no memory");
            for (int i = 0; i < n; i++)
                brio_trace_add(t, &(struct brio_record){.kind = mixed ? i % 2 : 1,
                                                        .n = 1,
                                                        .begin = 1000 + 10 * i,
                                                        .end = 1005 + 10 * i,
                                                        .bytes = 7});
            size_t got = brio_trace_records(t, &r);
            int64_t calls = 0, bytes = 0, most = 0;
            for (size_t i = 0; i < got; i++) {
                calls += r[i].n;
                bytes += r[i].bytes;
                most = brio_max(most, r[i].n);
                CHECK(i == 0 || r[i].begin >= r[i - 1].end, "out of order");
            }
            CHECK(got <= ROOM && (n < ROOM / 2 || got >= ROOM / 4), "%zu records of %d", got,
                  n);
            CHECK(calls == n && bytes == 7 * (int64_t)n, "%lld calls", (long long)calls);
            CHECK(r[0].begin == 0 && r[got - 1].end == 10 * (int64_t)n - 5,
                  "not from %lld to %lld", (long long)r[0].begin, (long long)r[got - 1].end);
            CHECK(most <= brio_max(1, 8 * (int64_t)n / ROOM), "one record for %lld of %d",
                  (long long)most, n);
            brio_trace_free(t);
        }
    }
}

static const struct test_case cases[] = {TEST(names_lead_back),   TEST(sizes_have_classes),
                                         TEST(nothing_is_lost),   TEST(samples_stand_for_all),
                                         TEST(phases_add_up),     TEST(phases_are_sampled),
                                         TEST(records_cover_all), {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
