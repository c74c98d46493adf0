/* The contract of fcoll as one rank sees it: a module moves what it is given and nothing
 * else, blocking or step by step, counts what it moved, takes an error that is already there
 * to the verdict, and goes on after a failure. Several ranks: test/mpi/coll*.c. */
#include "bed.h"

#include "fcoll/fcoll.h"

enum {
    MEMORY = 1 << 18
};

/* A module opened on a file by one rank. */
struct stand {
    struct bed bed;
    const struct brio_fcoll *fcoll;
    struct brio_team team;
    struct brio_crew crew;
    void *conf, *self;
};

static int stand_open(struct stand *s, const struct brio_module *module,
                      const char *const *fbtl)
{
    static const int node_of[] = {0};
    static const struct brio_page_ref no_page;
    static const char *const tiny[] = {"cb_buffer_size=4096", NULL};
    struct brio_facts facts = plain_facts(here());
    memset(s, 0, sizeof *s);
    s->fcoll = (const struct brio_fcoll *)module;
    s->conf = make_conf(module, tiny);
    s->team = (struct brio_team){.comm = MPI_COMM_WORLD, .nranks = 1};
    if (!bed_open(&s->bed, best_module(BRIO_FBTL, &facts), fbtl, NULL))
        return 0;
    CHECK(!brio_crew_open(&s->crew, &s->team, node_of, &no_page, NULL), "%s", brio_err_text());
    const struct brio_coll_env env = {.team = &s->team,
                                      .lane = &s->bed.lane,
                                      .crew = &s->crew,
                                      .block_size = 4096,
                                      .places = {.ops = &brio_fcache_none}};
    enum brio_err err = s->fcoll->open(s->fcoll, &env, s->conf, &s->self);
    CHECK(!err, "%s", brio_err_text());
    return !err;
}

static void stand_close(struct stand *s)
{
    s->fcoll->close(s->self);
    brio_crew_close(&s->crew);
    bed_close(&s->bed);
    free(s->conf);
}

static struct brio_result run(struct stand *s, const struct brio_io *io, enum brio_err mine)
{
    struct brio_result out = {.bytes = -1};
    bool done = false;
    enum brio_wait how = test_below(2) ? BRIO_BLOCK : BRIO_POLL;
    s->fcoll->start(s->self, io, mine, how);
    for (long i = 0; !done && i < 100000000; i++)
        s->fcoll->step(s->self,
                       how == BRIO_BLOCK || test_below(50) == 0 ? BRIO_BLOCK : BRIO_POLL, &done,
                       &out);
    CHECK(done, "it does not end");
    return out;
}

static unsigned char buf[MEMORY], want[MEMORY];
static struct pattern file, mem;

/* A random access of at most `most` bytes somewhere in the file. */
static struct brio_io draw_io(enum brio_dir dir, int64_t most)
{
    pattern_random(&file);
    pattern_random(&mem);
    struct brio_io io = make_io(dir, &file, test_below(5000), &mem, buf, 0);
    io.pos = test_below(2 * file.size);
    io.bytes = test_below(most + 1);
    while (io.bytes > 0 &&
           (pattern_at(&mem, io.bytes) + mem.extent >= MEMORY ||
            io.base + pattern_at(&file, io.pos + io.bytes) + file.extent >= MODEL))
        io.bytes /= 2;
    return io;
}

static void forget_io(void)
{
    pattern_free(&file);
    pattern_free(&mem);
}

static void one_access(struct stand *s)
{
    struct brio_io io = draw_io(test_below(2) ? BRIO_WRITE : BRIO_READ, 20000);
    struct bed *bed = &s->bed;
    random_bytes(buf, MEMORY);
    memcpy(want, buf, MEMORY);
    int64_t due = io.bytes;
    if (io.dir == BRIO_READ)
        due = prefix_below(&io, &file, bed->size);
    struct brio_result r = run(s, &io, BRIO_OK);
    CHECK(r.err == BRIO_OK && r.bytes == due, "%lld of %lld bytes, not %lld: %s",
          (long long)r.bytes, (long long)io.bytes, (long long)due, brio_err_text());
    if (io.dir == BRIO_WRITE) {
        model_write(bed, &io, &file, &mem, io.bytes);
        CHECK(memcmp(buf, want, MEMORY) == 0, "a write changed its buffer");
        check_file(bed);
    } else {
        check_memory(bed, &io, &file, &mem, due, (struct memory){want, MEMORY});
    }
    forget_io();
}

static void moves_on(const struct brio_module *module)
{
    struct stand s;
    if (stand_open(&s, module, settings[0]))
        for (int i = 0; i < 400 && !test_failed; i++)
            one_access(&s);
    stand_close(&s);
}

static void moves_what_it_is_given(void)
{
    uint64_t seed = test_seed();
    each_module(BRIO_FCOLL, here(), moves_on);
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

/* An error that the rank brings is the verdict; nothing is moved. */
static void brings_on(const struct brio_module *module)
{
    struct stand s;
    if (!stand_open(&s, module, settings[0]))
        return;
    for (int i = 0; i < 20 && !test_failed; i++) {
        one_access(&s);
        struct brio_io io = draw_io(BRIO_WRITE, 20000);
        random_bytes(buf, MEMORY);
        struct brio_result r = run(&s, &io, brio_fail(BRIO_ETYPE, "brought along"));
        CHECK(r.err == BRIO_ETYPE, "error %d", r.err);
        CHECK(r.bytes == 0, "%lld bytes are claimed", (long long)r.bytes);
        CHECK(strstr(brio_err_text(), "brought along") != NULL, "the text is \"%s\"",
              brio_err_text());
        check_file(&s.bed);
        forget_io();
    }
    stand_close(&s);
}

static void brings_an_error(void)
{
    each_module(BRIO_FCOLL, here(), brings_on);
}

/* The system fails in the middle: the count is that of the bytes before, and the next access
 * is as if nothing had been. */
static void fails_on(const struct brio_module *module)
{
    struct stand s;
    if (!stand_open(&s, module, never))
        return;
    for (int i = 0; i < 100 && !test_failed; i++) {
        struct brio_io io = draw_io(BRIO_WRITE, 20000);
        random_bytes(buf, MEMORY);
        if (io.bytes > 0 && file.map->monotone) {
            int64_t k = test_below(io.bytes);
            sys.full_at = io.base + pattern_at(&file, io.pos + k);
            struct brio_result r = run(&s, &io, BRIO_OK);
            heal();
            CHECK(r.err == BRIO_ENOSPC, "error %d: %s", r.err, brio_err_text());
            CHECK(r.bytes == k, "%lld bytes are claimed, %lld were written", (long long)r.bytes,
                  (long long)k);
            model_write(&s.bed, &io, &file, &mem, k);
            check_file(&s.bed);
        }
        forget_io();
        one_access(&s);
    }
    stand_close(&s);
}

static void goes_on_after_a_failure(void)
{
    uint64_t seed = test_seed();
    each_module(BRIO_FCOLL, here(), fails_on);
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

static const struct test_case cases[] = {
    TEST(moves_what_it_is_given), TEST(brings_an_error), TEST(goes_on_after_a_failure), {0}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int code = test_main(argc, argv, cases);
    MPI_Finalize();
    return code;
}
