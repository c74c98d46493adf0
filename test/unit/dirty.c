/* Dirty runs against an array of flags, one per byte. */
#include "cache/dirty.h"
#include "check.h"

enum {
    PAGE = 300,
    RUNS = 20
};

static union {
    struct brio_dirty d;
    char room[sizeof(struct brio_dirty) + RUNS * sizeof(struct brio_dirty_run)];
} page;
static bool flag[PAGE];

/* The runs say what the flags say: sorted, apart, nothing else. */
static int same(void)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < page.d.n; i++) {
        const struct brio_dirty_run *r = &page.d.run[i];
        if (r->lo >= r->hi || r->hi > PAGE || (i > 0 && r->lo <= page.d.run[i - 1].hi))
            return 0;
        for (; at < r->lo; at++)
            if (flag[at])
                return 0;
        for (; at < r->hi; at++)
            if (!flag[at])
                return 0;
    }
    for (; at < PAGE; at++)
        if (flag[at])
            return 0;
    return 1;
}

static void set(uint32_t lo, uint32_t hi, bool value)
{
    for (uint32_t i = lo; i < hi; i++)
        flag[i] = value;
}

static uint32_t count_runs(void)
{
    uint32_t n = 0;
    for (int i = 0; i < PAGE; i++)
        n += flag[i] && (i == 0 || !flag[i - 1]);
    return n;
}

static void step(void)
{
    bool before[PAGE];
    uint32_t lo = (uint32_t)test_below(PAGE);
    uint32_t hi = lo + 1 + (uint32_t)test_below(test_below(4) ? 12 : PAGE - lo);
    bool add = test_below(3) > 0;
    hi = hi < PAGE ? hi : PAGE;
    memcpy(before, flag, sizeof before);
    set(lo, hi, add);
    bool fits = count_runs() <= RUNS;
    bool done = add ? brio_dirty_add(&page.d, lo, hi) : brio_dirty_cut(&page.d, lo, hi);
    if (!fits)
        memcpy(flag, before, sizeof before);
    CHECK(done == fits, "%s of [%u, %u) with %u runs", add ? "add" : "cut", lo, hi, page.d.n);
    CHECK(same(), "wrong after %s of [%u, %u)", add ? "add" : "cut", lo, hi);
    lo = (uint32_t)test_below(PAGE);
    hi = lo + 1 + (uint32_t)test_below(PAGE - lo);
    bool all = true;
    for (uint32_t i = lo; i < hi; i++)
        all &= flag[i];
    CHECK(brio_dirty_covers(&page.d, lo, hi) == all, "covers [%u, %u)", lo, hi);
}

static void like_flags(void)
{
    uint64_t seed = test_seed();
    for (int round = 0; round < 2000 && !test_failed; round++) {
        memset(flag, 0, sizeof flag);
        brio_dirty_init(&page.d, RUNS);
        for (int i = 0; i < 200 && !test_failed; i++)
            step();
    }
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

/* What nearly all programs do. */
static void one_behind_the_other(void)
{
    brio_dirty_init(&page.d, 1);
    for (uint32_t at = 0; at < PAGE; at += 10)
        CHECK(brio_dirty_add(&page.d, at, at + 10), "no room at %u", at);
    CHECK(page.d.n == 1 && page.d.run[0].lo == 0 && page.d.run[0].hi == PAGE, "not one run");
}

static const struct test_case cases[] = {TEST(like_flags), TEST(one_behind_the_other), {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
