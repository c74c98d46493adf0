/* How far the other ranks' cores are said to be, and that taking lines out of the caches leaves
 * what is in them. */
#include "fcoll/beacon.h"

#include "check.h"

/* Looks of so many nanoseconds. */
static void look(struct brio_distance *d, int n, int64_t ns)
{
    for (int i = 0; i < n; i++)
        brio_distance_judge(d, ns);
}

static void near_and_far(void)
{
    struct brio_distance d = {.far = false};
    look(&d, 100, 90);
    CHECK(!d.far, "a shared cache is far");
    look(&d, 30, 500);
    CHECK(d.far, "another cache is near");
    look(&d, 30, 90);
    CHECK(!d.far, "what was far stays far");
}

/* Half of the others are on this core, and say nothing. */
static void on_this_core(void)
{
    struct brio_distance d = {.far = false};
    for (int i = 0; i < 30; i++) {
        look(&d, 3, 40);
        look(&d, 1, 500);
    }
    CHECK(d.far, "they are asked how far away another core is");
    look(&d, 100, 40);
    CHECK(d.far, "they have brought it nearer");
}

/* A look during which another rank had the core. */
static void interrupted(void)
{
    struct brio_distance d = {.far = false};
    for (int i = 0; i < 100; i++) {
        look(&d, 12, 90);
        look(&d, 1, 3000000);
        CHECK(!d.far, "far after one look in thirteen that took milliseconds");
    }
}

/* Whatever is in a beacon, a look ends; only one that was lit just now counts. */
static void looks(void)
{
    static struct brio_beacon beacon;
    struct brio_distance d = {.far = false};
    for (int i = 0; i < 1000; i++) {
        for (int k = 0; k < BRIO_BEACON_LINES; k++)
            beacon.line[k].next = test_below(9) - 2;
        brio_distance_look(&d, &beacon);
    }
    CHECK(d.line == 0, "a look at what was never lit counts");
    brio_beacon_light(&beacon);
    beacon.line[0].lit -= 1000000;
    brio_distance_look(&d, &beacon);
    CHECK(d.line == 0, "a look at what was lit long ago counts");
}

static void dropped(void)
{
    static unsigned char mem[4096];
    if (!brio_lines_droppable())
        return;
    for (int i = 0; i < 200; i++) {
        size_t from = (size_t)test_below(2000), n = (size_t)test_below(2000);
        for (size_t k = 0; k < sizeof mem; k++)
            mem[k] = (unsigned char)(k * 7 + (size_t)i);
        brio_lines_drop(mem + from, n);
        for (size_t k = 0; k < sizeof mem; k++)
            CHECK(mem[k] == (unsigned char)(k * 7 + (size_t)i), "byte %zu is another", k);
    }
}

static const struct test_case cases[] = {
    TEST(near_and_far), TEST(on_this_core), TEST(interrupted), TEST(looks), TEST(dropped), {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
