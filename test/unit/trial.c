/* Two ways to do the same: the faster one is found, whatever is in the way of it, and found
 * again when that changes. */
#include "base/trial.h"

#include "check.h"

enum {
    BYTES = 1 << 20,
    SHORT = 50000, /* nanoseconds */
    LONG = 80000
};

static struct brio_trial trial;

/* Some uses, of which `ns' says what they take by way, and one in `late' ten times as long.
 * Returns how many went the other way. */
static int use(int times, const int64_t ns[2], int late)
{
    int other = 0;
    for (int i = 0; i < times; i++) {
        struct brio_use u = brio_trial_begin(&trial);
        int64_t took = ns[u.other] + test_below(1000);
        if (late > 0 && test_below(late) == 0)
            took *= 10;
        other += u.other;
        if (u.began > 0)
            brio_trial_note(&trial, BRIO_PAYS_DOER, u.other, took, BYTES);
    }
    return other;
}

static void begin(void)
{
    memset(&trial, 0, sizeof trial);
}

static void both_are_tried_first(void)
{
    begin();
    int other = use(BRIO_TRIAL_FIRST, (int64_t[]){SHORT, LONG}, 0);
    CHECK(other == BRIO_TRIAL_FIRST / 2, "%d of %d the other way", other, BRIO_TRIAL_FIRST);
    CHECK(trial.cost[BRIO_PAYS_DOER][0] > 0 && trial.cost[BRIO_PAYS_DOER][1] > 0,
          "one way was not tried");
}

static void the_faster_is_taken(void)
{
    enum {
        USES = 100 * BRIO_TRIAL_AGAIN
    };
    begin();
    use(BRIO_TRIAL_FIRST, (int64_t[]){LONG, SHORT}, 10);
    int other = use(USES, (int64_t[]){LONG, SHORT}, 10);
    CHECK(other >= USES - USES / 10, "%d of %d the faster way", other, USES);
    begin();
    use(BRIO_TRIAL_FIRST, (int64_t[]){SHORT, LONG}, 10);
    other = use(USES, (int64_t[]){SHORT, LONG}, 10);
    CHECK(other <= USES / 10, "%d of %d the slower way", other, USES);
}

/* Uses come by turns, each of a cost of its own: owners that are near and far. */
static void uses_that_take_turns(void)
{
    enum {
        USES = 100 * BRIO_TRIAL_AGAIN
    };
    for (int period = 2; period <= 8; period++) {
        int other = 0;
        begin();
        for (int i = 0; i < USES; i++) {
            struct brio_use u = brio_trial_begin(&trial);
            int64_t took = (i % period == 0 ? 2 : 1) * (u.other ? LONG : SHORT);
            other += u.other;
            if (u.began > 0)
                brio_trial_note(&trial, BRIO_PAYS_DOER, u.other, took, BYTES);
        }
        CHECK(other <= USES / 10, "%d of %d the slower way, by turns of %d", other, USES,
              period);
    }
}

/* One try that told nothing true does not count for ever. */
static void a_cost_of_almost_nothing_grows(void)
{
    begin();
    brio_trial_note(&trial, BRIO_PAYS_DOER, true, 1, BYTES);
    use(1000 * BRIO_TRIAL_AGAIN, (int64_t[]){SHORT, LONG}, 0);
    CHECK(!brio_trial_prefers(&trial), "a cost of %lld",
          (long long)trial.cost[BRIO_PAYS_DOER][1]);
}

/* A little is not worth it. */
static void like_ones_stay_plain(void)
{
    begin();
    int other = use(1000, (int64_t[]){SHORT, SHORT - SHORT / 20}, 0);
    CHECK(other < 50, "%d of 1000 the other way", other);
}

static void a_change_is_seen(void)
{
    begin();
    use(10 * BRIO_TRIAL_AGAIN, (int64_t[]){SHORT, LONG}, 0);
    CHECK(!brio_trial_prefers(&trial), "the slower way is preferred");
    use(10 * BRIO_TRIAL_AGAIN, (int64_t[]){3 * LONG, LONG}, 0);
    CHECK(brio_trial_prefers(&trial), "what is slow now is still preferred");
    use(20 * BRIO_TRIAL_AGAIN, (int64_t[]){SHORT, LONG}, 0);
    CHECK(!brio_trial_prefers(&trial), "what was slow for a while is still avoided");
}

/* Uses that tell nothing do not count, and nothing is preferred that is not known. */
static void unknown_stays_plain(void)
{
    begin();
    for (int i = 0; i < 1000; i++) {
        struct brio_use u = brio_trial_begin(&trial);
        if (u.other && u.began > 0)
            brio_trial_note(&trial, BRIO_PAYS_DOER, true, 1, BYTES);
    }
    CHECK(!brio_trial_prefers(&trial), "preferred to a way that nobody tried");
}

/* A way that is cheap for one and dear for the next is dear. */
static void the_next_one_pays_too(void)
{
    begin();
    for (int i = 0; i < 1000; i++) {
        struct brio_use u = brio_trial_begin(&trial);
        if (u.began > 0)
            brio_trial_note(&trial, BRIO_PAYS_DOER, u.other, u.other ? LONG : SHORT, BYTES);
        brio_trial_note(&trial, BRIO_PAYS_NEXT, u.other, u.other ? SHORT : 2 * LONG, BYTES);
    }
    CHECK(brio_trial_prefers(&trial), "what the next one pays does not count");
}

/* Who learns from another trial goes on where that is. */
static void what_is_known_is_passed_on(void)
{
    static struct brio_trial other;
    begin();
    use(2 * BRIO_TRIAL_FIRST, (int64_t[]){LONG, SHORT}, 0);
    brio_trial_copy(&other, &trial);
    CHECK(brio_trial_prefers(&other), "the better way is forgotten");
    for (int i = 0; i < BRIO_TRIAL_ROW; i++)
        CHECK(brio_trial_begin(&other).other, "the slower way once more");
}

/* The first uses after a change of ways tell nothing. */
static void changes_tell_nothing(void)
{
    begin();
    for (int i = 0; i < BRIO_TRIAL_FIRST; i++) {
        struct brio_use u = brio_trial_begin(&trial);
        bool late = i % BRIO_TRIAL_ROW >= BRIO_TRIAL_ROW / 2;
        CHECK(u.tries && (u.began > 0) == late, "use %d", i);
        CHECK(u.other == (i / BRIO_TRIAL_ROW % 2 != 0), "use %d goes the other way", i);
    }
}

static void clocks_and_bytes_of_any_size(void)
{
    begin();
    brio_trial_note(&trial, BRIO_PAYS_DOER, false, INT64_MAX, 1);
    brio_trial_note(&trial, BRIO_PAYS_DOER, true, 0, INT64_MAX);
    CHECK(trial.cost[BRIO_PAYS_DOER][0] > 0 && trial.cost[BRIO_PAYS_DOER][1] > 0,
          "a cost of %lld and %lld", (long long)trial.cost[BRIO_PAYS_DOER][0],
          (long long)trial.cost[BRIO_PAYS_DOER][1]);
    brio_trial_note(&trial, BRIO_PAYS_DOER, true, -5, 0);
    CHECK(trial.cost[BRIO_PAYS_DOER][1] > 0, "a cost of %lld",
          (long long)trial.cost[BRIO_PAYS_DOER][1]);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        TEST(both_are_tried_first),         TEST(the_faster_is_taken),
        TEST(uses_that_take_turns),         TEST(a_cost_of_almost_nothing_grows),
        TEST(like_ones_stay_plain),         TEST(a_change_is_seen),
        TEST(unknown_stays_plain),          TEST(the_next_one_pays_too),
        TEST(what_is_known_is_passed_on),   TEST(changes_tell_nothing),
        TEST(clocks_and_bytes_of_any_size), {0}};
    return test_main(argc, argv, cases);
}
