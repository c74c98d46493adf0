/* When keeping writes back pays. */
#include "cache/watch.h"
#include "check.h"

static char why[BRIO_WATCH_WORDS];

static int judge(int writes, brio_off bytes, int64_t ns)
{
    struct brio_watch w = {.writes = 0};
    int pays = 0;
    for (int i = 0; i < writes; i++)
        pays += brio_watch_add(&w, bytes, ns, 1 << 20, why);
    return pays;
}

static void small_and_costly(void)
{
    CHECK(judge(BRIO_WATCH_WRITES - 1, 1024, 60000) == 0, "too early");
    CHECK(judge(BRIO_WATCH_WRITES, 1024, 60000) == 1, "%s", why);
    CHECK(strstr(why, "1024 bytes took 60.0 us"), "%s", why);
}

static void small_and_cheap(void)
{
    CHECK(judge(10 * BRIO_WATCH_WRITES, 1024, 1500) == 0, "%s", why);
    CHECK(strstr(why, "1.5 us"), "%s", why);
}

static void large(void)
{
    CHECK(judge(10 * BRIO_WATCH_WRITES, 1 << 20, 1000000) == 0, "%s", why);
    CHECK(strstr(why, "large enough"), "%s", why);
}

/* A few that waited for a processor say nothing of the store. */
static void a_busy_machine(void)
{
    struct brio_watch w = {.writes = 0};
    int pays = 0;
    for (int i = 0; i < 10 * BRIO_WATCH_WRITES; i++)
        pays += brio_watch_add(&w, 1024, i % 8 ? 1500 : 4000000, 1 << 20, why);
    CHECK(pays == 0, "%s", why);
}

static const struct test_case cases[] = {
    TEST(small_and_costly), TEST(small_and_cheap), TEST(large), TEST(a_busy_machine), {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
