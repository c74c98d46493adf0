/* Reads that nobody waits for: whatever the order in which ranks come on, all of them meet at
 * the same reads. */
#include "fcoll/leash.h"

#include "check.h"

enum {
    RANKS = 5,
    CALLS = 400
};

/* A rank on its way through the calls of one file. */
struct walker {
    struct brio_leash leash;
    int call;
    bool waits;
    uint32_t epoch;
    int alone; /* reads that it did not meet for */
    bool met[CALLS];
};

static struct walker walkers[RANKS];
static struct brio_meet meet;
static bool is_write[CALLS], has_nothing[RANKS][CALLS];

/* Reads for nobody's owner in long runs, a few calls of other kinds between. */
static void write_programme(int nranks)
{
    int64_t odd = 5 + test_below(60);
    for (int c = 0; c < CALLS; c++) {
        is_write[c] = test_below(odd) == 0;
        bool mixed = test_below(odd) == 0;
        for (int r = 0; r < nranks; r++)
            has_nothing[r][c] = !mixed || test_below(2);
    }
}

static void begin_call(struct walker *w, const struct brio_team *team)
{
    bool nothing = has_nothing[team->rank][w->call];
    if (!is_write[w->call] && brio_leash_is_off(&w->leash, team, nothing)) {
        w->alone++;
        w->call++;
        return;
    }
    int64_t words[3] = {w->call, ~w->call, !nothing};
    brio_meet_enter(team, words, 3, &w->epoch);
    w->waits = true;
}

static void look_whether_over(struct walker *w, const struct brio_team *team)
{
    int64_t most[3];
    if (!brio_meet_over(team, w->epoch, BRIO_POLL, most, 3))
        return;
    CHECK(most[0] == w->call && ~most[1] == w->call, "%d meets others at %ld to %ld", w->call,
          (long)~most[1], (long)most[0]);
    if (!is_write[w->call])
        brio_leash_met(&w->leash, !most[2]);
    w->met[w->call++] = true;
    w->waits = false;
}

/* True if all came to the end, which they do unless some wait for one that does not come. */
static bool walk(int nranks)
{
    struct brio_team team = {.nranks = nranks, .meet = &meet};
    int64_t haste = 1 + test_below(8); /* some ranks get on faster than others */
    for (long step = 0; step < 200L * CALLS * nranks; step++) {
        int done = 0;
        for (int r = 0; r < nranks; r++)
            done += walkers[r].call == CALLS;
        if (done == nranks)
            return true;
        team.rank =
            (int)(test_below(haste) ? test_below(1 + test_below(nranks)) : test_below(nranks));
        struct walker *w = &walkers[team.rank];
        if (w->call == CALLS)
            continue;
        if (w->waits)
            look_whether_over(w, &team);
        else
            begin_call(w, &team);
    }
    return false;
}

static int play(int nranks)
{
    memset(walkers, 0, sizeof walkers);
    brio_meet_init(&meet);
    atomic_store(&meet.over.rung, test_below(2) ? 0 : UINT32_MAX - 20); /* epochs may wrap */
    write_programme(nranks);
    CHECK(walk(nranks), "%d ranks: some wait for ever", nranks);
    for (int r = 1; r < nranks; r++)
        CHECK(memcmp(walkers[r].met, walkers[0].met, sizeof walkers[0].met) == 0,
              "rank %d did not meet where rank 0 did", r);
    return walkers[0].alone;
}

static void all_meet_at_the_same_reads(void)
{
    long alone = 0, calls = 0;
    uint64_t seed = test_seed();
    for (int i = 0; i < 4000 && test_failed == 0; i++, calls += CALLS) {
        alone += play(1 + i % RANKS);
    }
    CHECK(alone > calls / 4, "only %ld of %ld reads were let off", alone, calls);
    CHECK(alone < calls, "no meeting at all");
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

static void not_without_shared_memory(void)
{
    struct brio_leash leash = {.run = 0};
    struct brio_team team = {.nranks = 2};
    for (int i = 0; i < 100; i++) {
        CHECK(!brio_leash_is_off(&leash, &team, true), "after %d meetings", i);
        brio_leash_met(&leash, true);
    }
}

static const struct test_case cases[] = {
    TEST(all_meet_at_the_same_reads), TEST(not_without_shared_memory), {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
