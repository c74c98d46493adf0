/* The contract of cache: what is read is what was written, through the cache and, after a
 * flush, below it; failures and ends of files come through. The stage below is this test's
 * own: a file in memory that can be full. */
#include "contract.h"
#include "cache/cache.h"

enum {
    BELOW = 1 << 18
};

/* The file below. */
static struct {
    unsigned char bytes[BELOW];
    int64_t size, full_at;
    long accesses;
} below;

static void submit(void *self, const struct brio_io *io, enum brio_wait how,
                   struct brio_ticket *ticket)
{
    (void)self;
    (void)how;
    struct brio_result r = {BRIO_OK, 0};
    below.accesses++;
    for (; r.bytes < io->bytes; r.bytes++) {
        int64_t at = io->base + brio_map_offset(io->file, io->pos + r.bytes);
        unsigned char *mem =
            (unsigned char *)io->buf + brio_map_offset(io->mem, io->mem_pos + r.bytes);
        if (io->dir == BRIO_READ && at >= below.size)
            break;
        if (io->dir == BRIO_WRITE && at >= below.full_at) {
            r.err = brio_fail(BRIO_ENOSPC, "full at offset %lld", (long long)at);
            break;
        }
        if (io->dir == BRIO_READ)
            *mem = below.bytes[at];
        else
            below.bytes[at] = *mem;
        if (at >= below.size)
            below.size = at + 1;
    }
    brio_ticket_finish(ticket, r);
}

static void reap(void *self, struct brio_ticket *ticket, enum brio_wait how)
{
    (void)self;
    (void)ticket;
    (void)how;
}

static BRIO_ERR flush(void *self)
{
    (void)self;
    return BRIO_OK;
}

static const struct brio_lane_ops ops = {submit, reap, flush};
static const struct brio_lane bottom = {&ops, &below};

/* The one rank that opens it. */
static struct brio_team team = {.nranks = 1};
static struct brio_crew crew;

static struct brio_cache_env make_env(void)
{
    static const int node_of[] = {0};
    static const struct brio_page_ref no_page;
    team.comm = MPI_COMM_SELF;
    CHECK(!brio_crew_open(&crew, &team, node_of, &no_page, NULL), "%s", brio_err_text());
    return (struct brio_cache_env){
        .team = &team, .crew = &crew, .amode = contract_amode, .block_size = 4096};
}

static int open_cache(const struct brio_module *module, struct brio_lane *lane, void **conf)
{
    static const char *const tiny[] = {"cache_page=4096", "cache_size=65536", NULL};
    const struct brio_cache *cache = (const struct brio_cache *)module;
    struct brio_cache_env env = make_env();
    memset(&below, 0, sizeof below);
    below.full_at = BELOW;
    *conf = make_conf(module, tiny);
    enum brio_err err = cache->open(&env, &bottom, *conf, lane);
    CHECK(err == BRIO_OK, "%s", brio_err_text());
    return err == BRIO_OK;
}

static void close_cache(const struct brio_module *module, struct brio_lane *lane, void *conf)
{
    const struct brio_cache *cache = (const struct brio_cache *)module;
    CHECK(lane->ops->flush(lane->self) == BRIO_OK, "%s", brio_err_text());
    CHECK(cache->close(lane) == BRIO_OK, "%s", brio_err_text());
    brio_crew_close(&crew);
    free(conf);
}

/* Some modules serve write-only files alone. */
static void each_mode(void (*fn)(const struct brio_module *module))
{
    contract_amode = MPI_MODE_RDWR | MPI_MODE_CREATE;
    each_module(BRIO_CACHE, here(), fn);
    contract_amode = MPI_MODE_WRONLY | MPI_MODE_CREATE;
    each_module(BRIO_CACHE, here(), fn);
}

static void same_on(const struct brio_module *module)
{
    static struct pattern file, mem;
    static unsigned char model[BELOW];
    struct brio_lane lane;
    void *conf;
    int64_t size = 0;
    memset(model, 0, sizeof model);
    if (!open_cache(module, &lane, &conf))
        return;
    for (int j = 0; j < 300 && !test_failed; j++) {
        pattern_random(&file);
        pattern_random(&mem);
        int64_t base = test_below(1000);
        int64_t most = ((BELOW - base) / file.extent - 2) * file.size;
        int64_t bytes = most > 0 ? test_below(1 + (most < 20000 ? most : 20000)) : 0;
        size_t len = (size_t)((bytes / mem.size + 1) * mem.extent + 1);
        unsigned char *buf = calloc(1, len);
        for (size_t i = 0; i < len; i++)
            buf[i] = (unsigned char)test_random();
        bool reads = contract_amode & MPI_MODE_RDWR && test_below(2);
        struct brio_io io = {.dir = reads ? BRIO_READ : BRIO_WRITE,
                             .file = file.map,
                             .base = base,
                             .mem = mem.map,
                             .buf = buf,
                             .bytes = bytes};
        int64_t want = 0;
        if (io.dir == BRIO_WRITE)
            want = bytes;
        else
            while (want < bytes && base + pattern_at(&file, want) < size)
                want++;
        struct brio_result r = brio_lane_access(&lane, &io);
        CHECK(r.err == BRIO_OK && r.bytes == want, "moved %lld, not %lld", (long long)r.bytes,
              (long long)want);
        for (int64_t i = 0; i < r.bytes; i++) {
            int64_t at = base + pattern_at(&file, i);
            unsigned char *byte = buf + pattern_at(&mem, i);
            if (io.dir == BRIO_WRITE) {
                model[at] = *byte;
                size = at >= size ? at + 1 : size;
            } else if (*byte != model[at]) {
                CHECK(0, "byte %lld is %d, not %d", (long long)at, *byte, model[at]);
                break;
            }
        }
        free(buf);
        pattern_free(&file);
        pattern_free(&mem);
    }
    CHECK(lane.ops->flush(lane.self) == BRIO_OK, "%s", brio_err_text());
    CHECK(below.size == size && memcmp(below.bytes, model, BELOW) == 0,
          "the file below differs after a flush");
    close_cache(module, &lane, conf);
}

static void reads_what_was_written(void)
{
    uint64_t seed = test_seed();
    each_mode(same_on);
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

/* A failure below is told, if not at the access then at the flush. */
static void full_on(const struct brio_module *module)
{
    static struct pattern flat;
    static unsigned char buf[10000];
    struct brio_lane lane;
    void *conf;
    pattern_vector(&flat, 1, 1, 0, 0, 0);
    if (!open_cache(module, &lane, &conf))
        return;
    below.full_at = 5000;
    struct brio_io io = brio_io_flat(BRIO_WRITE, 0, buf, sizeof buf, flat.map);
    struct brio_result r = brio_lane_access(&lane, &io);
    if (r.err == BRIO_OK) {
        r.err = lane.ops->flush(lane.self);
    } else {
        CHECK(r.bytes <= 5000, "claims %lld bytes", (long long)r.bytes);
    }
    CHECK(r.err == BRIO_ENOSPC, "%s", brio_err_name(r.err));
    CHECK(strstr(brio_err_text(), "full at"), "says only: %s", brio_err_text());
    below.full_at = BELOW;
    close_cache(module, &lane, conf);
    pattern_free(&flat);
}

static void tells_failures(void)
{
    each_mode(full_on);
}

static void none_changes_nothing(void)
{
    struct brio_lane lane = {NULL, NULL};
    struct brio_cache_env env = make_env();
    CHECK(brio_cache_none.open(&env, &bottom, NULL, &lane) == BRIO_OK, "%s", brio_err_text());
    CHECK(lane.ops == bottom.ops && lane.self == bottom.self, "another lane");
    CHECK(brio_cache_none.close(&lane) == BRIO_OK, "%s", brio_err_text());
    brio_crew_close(&crew);
}

static const struct test_case cases[] = {
    TEST(none_changes_nothing), TEST(reads_what_was_written), TEST(tells_failures), {0}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int status = test_main(argc, argv, cases);
    MPI_Finalize();
    return status;
}
