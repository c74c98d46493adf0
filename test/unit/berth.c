/* To which core a rank moves: ranks that each look in turn end up spread, and stay there. */
#include "fcoll/berth.h"

#include <stdlib.h>

#include "check.h"

enum {
    RANKS = 40,
    CORES = 24
};

static struct brio_berths *all;
static struct brio_berth mine;

static void draw_cores(void)
{
    CPU_ZERO(&mine.allowed);
    mine.ncores = 0;
    for (int c = 0; c < CORES; c++)
        if (test_below(2)) {
            CPU_SET((size_t)c, &mine.allowed);
            mine.ncores = c + 1;
        }
    if (mine.ncores == 0) {
        CPU_SET(3, &mine.allowed);
        mine.ncores = 4;
    }
}

static int draw_core(void)
{
    int c = (int)test_below(CORES);
    while (!CPU_ISSET((size_t)c, &mine.allowed))
        c = (c + 1) % CORES;
    return c;
}

/* Ranks on the fullest core of those allowed, less those on the emptiest; of all, or only of
 * owners. */
static int difference(int n, bool owners)
{
    int most = 0, least = RANKS;
    for (int c = 0; c < mine.ncores; c++) {
        int count = 0;
        for (int r = 0; r < n; r++)
            count += all->core[r] == -(c + 1) || (!owners && all->core[r] == c + 1);
        if (CPU_ISSET((size_t)c, &mine.allowed)) {
            most = count > most ? count : most;
            least = count < least ? count : least;
        }
    }
    return most - least;
}

/* How many of the ranks, each in turn, moved. */
static int go_round(int n)
{
    int moves = 0;
    for (int r = 0; r < n; r++) {
        bool owns = all->core[r] < 0;
        int core = abs(all->core[r]) - 1, better = brio_berth_better(&mine, all, n, core, owns);
        CHECK(CPU_ISSET((size_t)better, &mine.allowed), "core %d is not allowed", better);
        moves += better != core;
        all->core[r] = owns ? -(better + 1) : better + 1;
    }
    return moves;
}

static void ranks_are_spread(void)
{
    uint64_t seed = test_seed();
    for (int i = 0; i < 20000 && !test_failed; i++) {
        int n = 1 + (int)test_below(RANKS), rounds = 0;
        draw_cores();
        for (int r = 0; r < n; r++)
            all->core[r] = (draw_core() + 1) * (test_below(3) ? 1 : -1);
        bool good = difference(n, false) < 2 && difference(n, true) < 2;
        while (go_round(n) > 0 && rounds < RANKS)
            rounds++;
        CHECK(rounds < RANKS, "seed %llu: they never come to rest", (unsigned long long)seed);
        CHECK(difference(n, false) < 2 && difference(n, true) < 2,
              "seed %llu: %d ranks more on a core than on another, %d owners",
              (unsigned long long)seed, difference(n, false), difference(n, true));
        CHECK(!good || rounds == 0, "seed %llu: moved without need", (unsigned long long)seed);
    }
}

/* Ranks that have not said where they are, or are where this one may not go. */
static void others_do_not_count(void)
{
    CPU_ZERO(&mine.allowed);
    CPU_SET(0, &mine.allowed);
    CPU_SET(1, &mine.allowed);
    mine.ncores = 2;
    for (int r = 0; r < 6; r++)
        all->core[r] = 0;
    all->core[0] = all->core[1] = 1;
    all->core[2] = all->core[3] = 8;
    CHECK(brio_berth_better(&mine, all, 6, 0, false) == 1, "an empty core is not seen");
    all->core[4] = 2;
    CHECK(brio_berth_better(&mine, all, 6, 0, false) == 0, "it moves where it is no better");
}

static void who_is_beside(void)
{
    all->core[0] = 3;
    all->core[1] = -3; /* an owner there */
    all->core[2] = 2;
    all->core[3] = all->core[4] = 0; /* has not said it yet */
    CHECK(brio_berth_beside(all, 0, 1) && brio_berth_beside(all, 1, 0), "one core is two");
    CHECK(!brio_berth_beside(all, 0, 2) && !brio_berth_beside(all, 2, 1), "two cores are one");
    CHECK(!brio_berth_beside(all, 3, 4), "nobody knows where they are");
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        TEST(ranks_are_spread), TEST(others_do_not_count), TEST(who_is_beside), {0}};
    all = calloc(1, sizeof *all + RANKS * sizeof all->core[0]);
    int code = all ? test_main(argc, argv, cases) : 1;
    free(all);
    return code;
}
