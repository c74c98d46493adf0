/* What brio tune is made of: the space, the order of trials, what the numbers say, the number
 * in a program's output, the profile. */
#include "check.h"

#include <math.h>

#include "cli/profile.h"
#include "cli/search.h"
#include "cli/space.h"
#include "cli/trial.h"

/* ---- The space ------------------------------------------------------------------------- */

static size_t count(const char *text)
{
    struct brio_space space;
    char why[BRIO_SPACE_WHY] = "";
    int *all = NULL;
    CHECK(brio_space_parse(text, &space, why), "%s", why);
    size_t n = *why ? 0 : brio_space_all(&space, &all);
    free(all);
    if (!*why)
        brio_space_free(&space);
    return n;
}

static void expect_text(const char *text, size_t which, const char *want)
{
    struct brio_space space;
    char why[BRIO_SPACE_WHY] = "";
    int *all = NULL;
    REQUIRE(brio_space_parse(text, &space, why), "%s", why);
    size_t n = brio_space_all(&space, &all);
    REQUIRE(which < n, "only %zu", n);
    char *got = brio_space_text(&space, all + which * space.n);
    CHECK(strcmp(got, want) == 0, "%s, not %s", got, want);
    free(got);
    free(all);
    brio_space_free(&space);
}

static void spaces(void)
{
    static const char paper[] = "fcoll = static, dynamic, individual, two_phase\n"
                                "cb_nodes = 5, 10, 20, 40 when fcoll != individual\n"
                                "cb_buffer_size = 2m, 20m, 32m, 64m, 128m\n";
    CHECK(count(paper) == 65, "%zu combinations in paper 004's space", count(paper));
    expect_text(paper, 0, "fcoll=static cb_nodes=5 cb_buffer_size=2m");
    expect_text(paper, 40, "fcoll=individual cb_buffer_size=2m");
    expect_text(paper, 64, "fcoll=two_phase cb_nodes=40 cb_buffer_size=128m");
    CHECK(count("a=1") == 1, "one");
    CHECK(count("a = 1..10\n") == 10, "counted");
    CHECK(count("a = 1..10 by 4") == 3, "in steps");
    CHECK(count("a = 3..100 times 3") == 4, "multiplied");
    CHECK(count("a = 64k..1m") == 5, "doubled");
    expect_text("a = 64k..1m", 4, "a=1m");
    expect_text("a = 1..3, x 9", 3, "a=x");
    expect_text("# nothing\n\na = \"b c\" # more", 0, "a=b c");
    CHECK(count("a = x y\nb = 1 2 when a = x\nc = 1 2 3 when a = y and b != 1") == 5,
          "conditions on what does not matter");
    CHECK(count("a=1..400\nb=1..400") == 0, "too many");
}

static void refuse(const char *text, const char *want)
{
    struct brio_space space;
    char why[BRIO_SPACE_WHY] = "";
    CHECK(!brio_space_parse(text, &space, why), "`%s' is taken", text);
    CHECK(strstr(why, want), "`%s': %s", text, why);
}

static void wrong_spaces(void)
{
    refuse("", "no setting");
    refuse("a = 1\nb 2", "line 2: no `='");
    refuse("a =", "no values");
    refuse("a = 1\na = 2", "second time");
    refuse("a = 1 2 1", "twice");
    refuse("a = 9..1", "no range");
    refuse("a = 1..x", "no range");
    refuse("a = 1..9 by 0", "no step");
    refuse("a = 1..9 times 1", "no step");
    refuse("a = 0..9 times 2", "multiplied");
    refuse("A-B = 1", "no name");
    refuse("a = 1 when b = 2", "no setting of that name");
    refuse("a = 1\nb = 1 when a = 2", "none of the values");
    refuse("a = 1\nb = 1 when a", "needs");
    refuse("a = 1\nb = 1 when a =", "what?");
    refuse("a = 1\nb = 1 and a = 1", "without `when'");
    refuse("a = 1 = 2", "among the values");
    refuse("a = 1..100000", "more than");
}

/* ---- The search ------------------------------------------------------------------------- */

enum {
    N = 66
};

struct bench {
    struct brio_sample sample[N];
    double room[N][64];
    size_t runs;
};

static void begin(struct bench *b)
{
    memset(b, 0, sizeof *b);
    for (int i = 0; i < N; i++)
        b->sample[i].cost = b->room[i];
}

/* Combination 17 is the best. */
static double cost_of(size_t i)
{
    return i == 17 ? 1 : 1.2 + 0.01 * (double)((i * 7) % N);
}

static void run_all(struct bench *b, const struct brio_search *s, double noise)
{
    size_t at, left, before = 0;
    while (brio_search_next(s, b->sample, &at, &left)) {
        REQUIRE(at < N && b->sample[at].n < 64 && left > 0, "run %zu of %zu", b->runs, at);
        CHECK(before == 0 || left + 1 == before || s->kind == BRIO_SEARCH_HALVING,
              "%zu left, then %zu", before, left);
        before = left;
        double shift = noise * ((double)test_below(2001) / 1000 - 1);
        b->sample[at].cost[b->sample[at].n++] = cost_of(at) * exp(shift);
        b->runs++;
    }
}

static size_t best_of(const struct bench *b)
{
    size_t rank[N];
    return brio_search_rank(b->sample, N, rank) ? rank[0] : N;
}

static void exhaustive(void)
{
    struct bench b;
    begin(&b);
    b.sample[5].failed = true;
    run_all(&b, &(struct brio_search){.n = N, .repeats = 3, .seed = 4}, 0.01);
    CHECK(b.runs == 3 * (N - 1), "%zu runs", b.runs);
    for (size_t i = 0; i < N; i++)
        CHECK(b.sample[i].n == (i == 5 ? 0 : 3), "%zu runs of %zu", b.sample[i].n, i);
    CHECK(best_of(&b) == 17, "%zu is the best", best_of(&b));
}

static void by_chance(void)
{
    struct bench b;
    size_t tried = 0;
    begin(&b);
    run_all(&b,
            &(struct brio_search){
                .kind = BRIO_SEARCH_RANDOM, .n = N, .repeats = 2, .trials = 20, .seed = 9},
            0.01);
    for (size_t i = 0; i < N; i++)
        tried += b.sample[i].n == 2;
    CHECK(b.runs == 42 && tried == 21 && b.sample[0].n == 2, "%zu runs of %zu", b.runs, tried);
}

static void halving(void)
{
    for (int turn = 0; turn < 50; turn++) {
        struct bench b;
        begin(&b);
        run_all(&b,
                &(struct brio_search){
                    .kind = BRIO_SEARCH_HALVING, .n = N, .repeats = 4, .seed = (uint64_t)turn},
                0.05);
        CHECK(b.runs == 66 + 34 + 2 * 18, "%zu runs", b.runs);
        CHECK(best_of(&b) == 17 && b.sample[17].n == 4 && b.sample[0].n == 4, "%zu is the best",
              best_of(&b));
    }
}

/* ---- What the numbers say -----------------------------------------------------------------
 */

static double draw_normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)test_below(1000001) / 1e6;
    return sum;
}

/* How often two of many combinations are told apart, of 2000. */
static int told_apart(double ratio, size_t among)
{
    int told = 0;
    for (int turn = 0; turn < 2000; turn++) {
        struct bench b;
        begin(&b);
        for (int i = 0; i < N; i++)
            for (b.sample[i].n = 0; b.sample[i].n < 3; b.sample[i].n++)
                b.room[i][b.sample[i].n] = (i == 1 ? ratio : 1) * exp(0.05 * draw_normal());
        struct brio_spread spread = brio_spread_of(b.sample, N);
        CHECK(spread.freedom == 2 * N && fabs(spread.sigma - 0.05) < 0.02, "%g", spread.sigma);
        size_t rank[N];
        brio_search_rank(b.sample, N, rank);
        size_t other = among > 1 ? rank[0] : 1; /* the best of all, or any one */
        told += brio_differs(&b.sample[other], &b.sample[2], &spread, among);
    }
    return told;
}

static void noise(void)
{
    int none = told_apart(1, 1), luck = told_apart(1, N), much = told_apart(0.75, N);
    CHECK(none > 40 && none < 180, "noise taken for a difference %d times of 2000", none);
    CHECK(luck < 180, "luck taken for a difference %d times of 2000", luck);
    CHECK(much > 1990, "a difference of 25 %% was noise %d times of 2000", 2000 - much);
    CHECK(fabs(brio_student(12.706, 1) - 0.05) < 1e-4, "%g", brio_student(12.706, 1));
    CHECK(fabs(brio_student(2.776, 4) - 0.05) < 1e-4, "%g", brio_student(2.776, 4));
    CHECK(fabs(brio_student(3.169, 10) - 0.01) < 1e-4, "%g", brio_student(3.169, 10));
    CHECK(fabs(brio_student(0.1, 30) - 0.921) < 1e-3, "%g", brio_student(0.1, 30));
    double two[2] = {1, 2};
    struct brio_sample one[2] = {{.cost = two, .n = 1}, {.cost = two + 1, .n = 1}};
    struct brio_spread spread = brio_spread_of(one, 2);
    CHECK(spread.freedom == 0 && !brio_differs(&one[0], &one[1], &spread, 1),
          "without repeats");
}

/* ---- The rest ------------------------------------------------------------------------------
 */

static void numbers(void)
{
    static const struct {
        const char *pattern, *text;
        double want; /* 0: none */
    } cases[] = {{"bw: ([0-9.]+)", "bw: 1.5\nbw: 2.5 MB/s\n", 2.5},
                 {"[0-9]+ MB", "at 77 MB/s", 77},
                 {"^time ([0-9.e+-]+)$", "x time 3\ntime 4e-3\nmore", 0.004},
                 {"bw: ([0-9.]+)", "nothing", 0},
                 {"(bw)", "bw", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        regex_t match;
        double got = 0;
        REQUIRE(regcomp(&match, cases[i].pattern, REG_EXTENDED | REG_NEWLINE) == 0, "pattern");
        bool found = brio_trial_number(&match, cases[i].text, &got);
        CHECK(found == (cases[i].want > 0) && fabs(got - cases[i].want) < 1e-12, "%zu: %g", i,
              got);
        regfree(&match);
    }
}

static void profiles(void)
{
    const struct brio_profile_part a = {"[program=a]", "first", "x = 1\n"},
                                   b = {"[program=b]", "second", "y = 2\n"},
                                   again = {"[program=a]", "third", "x = 3\n"};
    char *one = brio_profile_put("# mine\n[program=a]\nx = 9\n", &a);
    char *two = brio_profile_put(one, &b), *three = brio_profile_put(two, &again);
    CHECK(strcmp(three, "# mine\n[program=a]\nx = 9\n\n# brio tune, second\n[program=b]\ny = "
                        "2\n\n# brio tune, third\n[program=a]\nx = 3\n") == 0,
          "%s", three);
    char *fresh = brio_profile_put("", &a);
    CHECK(strcmp(fresh, "# brio tune, first\n[program=a]\nx = 1\n") == 0, "%s", fresh);
    free(one);
    free(two);
    free(three);
    free(fresh);
}

static const struct test_case cases[] = {TEST(spaces),    TEST(wrong_spaces), TEST(exhaustive),
                                         TEST(by_chance), TEST(halving),      TEST(noise),
                                         TEST(numbers),   TEST(profiles),     {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
