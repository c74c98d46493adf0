/* The test frame: a test is a program, a case is a function with a name. `prog` runs all
 * cases, `prog NAME...` only those. One line per case: "ok NAME", "FAIL NAME", "skip NAME".
 * Exit 0 if all that ran passed, 1 if one failed, 77 if all were skipped.
 *
 *     static void adds(void) { CHECK(1 + 1 == 2, "got %d", 1 + 1); }
 *     static const struct test_case cases[] = {TEST(adds), {0}};
 *     int main(int argc, char **argv) { return test_main(argc, argv, cases); }
 *
 * Programs that use MPI on several ranks include check_mpi.h instead. */
#ifndef BRIO_TEST_CHECK_H
#define BRIO_TEST_CHECK_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct test_case {
    const char *name;
    void (*run)(void);
};

#define TEST(f)                                                                                \
    {                                                                                          \
#f, f                                                                                  \
    }

static int test_failed;  /* failures of the running case */
static int test_skipped; /* the running case said it cannot run here */

static inline void test_report(const char *file, int line, const char *fmt, ...)
{
    if (++test_failed > 10)
        return; /* ten lines say enough */
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

/* CHECK(condition, format, ...) goes on after a failure; REQUIRE returns from the case. */
#define CHECK(cond, ...)                                                                       \
    do {                                                                                       \
        if (!(cond))                                                                           \
            test_report(__FILE__, __LINE__, #cond ": " __VA_ARGS__);                           \
    } while (0)
#define REQUIRE(cond, ...)                                                                     \
    do {                                                                                       \
        if (!(cond)) {                                                                         \
            test_report(__FILE__, __LINE__, #cond ": " __VA_ARGS__);                           \
            return;                                                                            \
        }                                                                                      \
    } while (0)
#define SKIP(...)                                                                              \
    do {                                                                                       \
        test_skipped = 1;                                                                      \
        fprintf(stderr, "skipped: " __VA_ARGS__);                                              \
        fputc('\n', stderr);                                                                   \
        return;                                                                                \
    } while (0)

/* A small generator with a seed that can be printed and given again (BRIO_SEED). */
static uint64_t test_state;

static inline uint64_t test_seed(void)
{
    const char *text = getenv("BRIO_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
    test_state = seed * 0x9e3779b97f4a7c15u + 1;
    return seed;
}

static inline uint64_t test_random(void)
{
    uint64_t z = test_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 .. n-1 */
static inline int64_t test_below(int64_t n)
{
    return (int64_t)(test_random() % (uint64_t)n);
}

static inline int test_wanted(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 2;
}

#ifndef BRIO_TEST_CHECK_MPI_H
static inline int test_main(int argc, char **argv, const struct test_case *cases)
{
    int ran = 0, bad = 0;
    for (; cases->name; cases++) {
        if (!test_wanted(argc, argv, cases->name))
            continue;
        test_failed = test_skipped = 0;
        cases->run();
        ran += !test_skipped;
        bad += test_failed > 0;
        printf("%s %s\n", test_failed ? "FAIL" : test_skipped ? "skip" : "ok", cases->name);
        fflush(stdout);
    }
    return bad ? 1 : ran ? 0 : 77;
}
#endif

#endif
