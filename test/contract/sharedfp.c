/* The contract of sharedfp: fetch and add, on one rank, by several threads, in several files
 * at one time, and nothing left behind. */
#include <dirent.h>
#include <pthread.h>

#include "comm/page.h"
#include "contract.h"
#include "sharedfp/attend.h"
#include "sharedfp/rma.h"
#include "sharedfp/service.h"
#include "sharedfp/sharedfp.h"

/* A pointer of the module under test, with what core gives it. */
struct pointer {
    const struct brio_sharedfp *module;
    struct brio_page_ref page;
    void *conf, *self;
    bool used;
};

static int begin(struct pointer *p, const struct brio_module *module, brio_off start)
{
    static const struct brio_team alone = {.comm = MPI_COMM_SELF, .nranks = 1};
    struct brio_sharedfp_env env = {
        .team = &alone, .path = file_name("data"), .nnodes = 2, .start = start};
    p->module = (const struct brio_sharedfp *)module;
    p->used = false;
    p->conf = make_conf(module, NULL);
    enum brio_err err = brio_page_take(&p->page, &env.slot);
    CHECK(!err, "%s", brio_err_text());
    if (!err)
        err = p->module->open(&env, p->conf, &p->self);
    CHECK(!err || err == BRIO_EUNSUPOP, "%s", brio_err_text());
    /* Whether a process can be started is the launcher's business, and here is none. */
    CHECK(!err || p->module == &brio_sharedfp_addproc, "%s", brio_err_text());
    if (err) {
        brio_page_give(&p->page);
        free(p->conf);
    }
    return !err;
}

static void end(struct pointer *p)
{
    p->module->close(p->self, p->used);
    brio_page_give(&p->page);
    free(p->conf);
}

static brio_off add(struct pointer *p, brio_off n)
{
    brio_off old = -1;
    p->used = true;
    enum brio_err err = p->module->add(p->self, n, &old);
    CHECK(err == BRIO_OK, "%s", brio_err_text());
    return old;
}

static void expect_add(struct pointer *p, brio_off n, brio_off want)
{
    brio_off old = add(p, n);
    CHECK(old == want, "add %lld at %lld, not %lld", (long long)n, (long long)old,
          (long long)want);
}

static void number_on(const struct brio_module *module)
{
    struct pointer p;
    if (!begin(&p, module, 5))
        return;
    expect_add(&p, 0, 5);
    expect_add(&p, 3, 5);
    expect_add(&p, (brio_off)1 << 40, 8);
    expect_add(&p, 0, 8 + ((brio_off)1 << 40));
    p.used = true;
    CHECK(p.module->set(p.self, 17) == BRIO_OK, "%s", brio_err_text());
    expect_add(&p, 1, 17);
    CHECK(p.module->set(p.self, 0) == BRIO_OK, "%s", brio_err_text());
    expect_add(&p, 0, 0);
    end(&p);
}

static void adds_and_sets(void)
{
    each_module(BRIO_SHAREDFP, here(), number_on);
}

/* The same name three times: three pointers. */
static void separate_on(const struct brio_module *module)
{
    struct pointer p[3];
    for (int i = 0; i < 3; i++)
        if (!begin(&p[i], module, 100 * i))
            return;
    for (int turn = 0; turn < 10; turn++)
        for (int i = 0; i < 3; i++)
            expect_add(&p[i], i + 1, 100 * i + turn * (i + 1));
    for (int i = 0; i < 3; i++)
        end(&p[i]);
}

static void pointers_are_separate(void)
{
    each_module(BRIO_SHAREDFP, here(), separate_on);
}

enum {
    THREADS = 4,
    TURNS = 500
};
static struct pointer shared;

static void *add_often(void *arg)
{
    brio_off *got = arg;
    for (int i = 0; i < TURNS; i++)
        if (shared.module->add(shared.self, 1, &got[i]))
            got[i] = -1;
    return NULL;
}

/* Every number goes to exactly one thread, and rises along each. */
static void threads_on(const struct brio_module *module)
{
    static brio_off got[THREADS][TURNS];
    static int seen[THREADS * TURNS];
    pthread_t thread[THREADS];
    if (!begin(&shared, module, 0))
        return;
    memset(seen, 0, sizeof seen);
    shared.used = true;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, add_often, got[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    end(&shared);
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < TURNS; j++) {
            brio_off at = got[i][j];
            REQUIRE(at >= 0 && at < THREADS * TURNS, "got %lld", (long long)at);
            CHECK(seen[at]++ == 0, "%lld came twice", (long long)at);
            CHECK(j == 0 || at > got[i][j - 1], "%lld after %lld", (long long)at,
                  (long long)got[i][j - 1]);
        }
}

static void threads_share_a_pointer(void)
{
    int level;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE)
        SKIP("the MPI grants no MPI_THREAD_MULTIPLE");
    each_module(BRIO_SHAREDFP, here(), threads_on);
}

static int entries(void)
{
    const char *dir = getenv("BRIO_TEST_DIR");
    int n = 0;
    DIR *d = opendir(dir ? dir : ".");
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static void traces_on(const struct brio_module *module)
{
    struct pointer p;
    int before = entries();
    if (!begin(&p, module, 9))
        return;
    CHECK(entries() == before, "%s touches the directory before it is used", module->name);
    end(&p);
    if (!begin(&p, module, 9))
        return;
    expect_add(&p, 1, 9);
    end(&p);
    CHECK(entries() == before, "%s leaves something behind", module->name);
}

static void nothing_is_left(void)
{
    each_module(BRIO_SHAREDFP, here(), traces_on);
}

static int64_t ask(struct brio_service *s, enum brio_demand demand, int64_t file, int64_t n)
{
    return brio_serve(s, (int)demand, &(struct brio_demand_words){.file = file, .n = n});
}

/* The six demands that paper 000's additional process answers. */
static void service_answers(void)
{
    struct brio_service s = {.nfiles = 0};
    CHECK(ask(&s, BRIO_DEMAND_SEEK_SET, 3, 10) == 10, "set");
    CHECK(ask(&s, BRIO_DEMAND_OFFSET, 3, 5) == 10, "the value before");
    CHECK(ask(&s, BRIO_DEMAND_POSITION, 3, 99) == 15, "position");
    CHECK(ask(&s, BRIO_DEMAND_OFFSET, 100, 7) == 0, "another file");
    CHECK(ask(&s, BRIO_DEMAND_SEEK_CUR, 3, -8) == 7, "back");
    CHECK(ask(&s, BRIO_DEMAND_SEEK_END, 3, 2) == 17, "after what was given out");
    CHECK(ask(&s, BRIO_DEMAND_SEEK_CUR, 3, -18) == -1, "before the beginning");
    CHECK(ask(&s, BRIO_DEMAND_POSITION, 3, 0) == 17, "it stays where it was");
    CHECK(ask(&s, BRIO_DEMAND_OFFSET, 3, INT64_MAX) == BRIO_ANSWER_TOO_FAR,
          "beyond all numbers");
    CHECK(ask(&s, BRIO_DEMAND_POSITION, 3, 0) == 17, "it stays where it was");
    CHECK(ask(&s, BRIO_DEMAND_POSITION, -7, 0) == -1 && ask(&s, BRIO_DEMANDS, 3, 0) == -1,
          "nonsense");
    CHECK(ask(&s, BRIO_DEMAND_END, 3, 0) == 0 && !s.over, "end of a file");
    CHECK(ask(&s, BRIO_DEMAND_POSITION, 3, 0) == 0, "a new file");
    CHECK(ask(&s, BRIO_DEMAND_POSITION, 100, 0) == 7, "the other stays");
    CHECK(ask(&s, BRIO_DEMAND_END, -1, 0) == 0 && s.over, "end of all");
    brio_service_free(&s);
}

static const struct test_case cases[] = {
    TEST(adds_and_sets),   TEST(pointers_are_separate), TEST(threads_share_a_pointer),
    TEST(nothing_is_left), TEST(service_answers),       {0}};

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    int code = test_main(argc, argv, cases);
    brio_attend_finalize();
    brio_rma_finalize();
    MPI_Finalize();
    return code;
}
