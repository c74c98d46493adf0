/* The contract of fcache: the parts that a module gives tile the range that was asked for. */
#include "contract.h"
#include "fcache/fcache.h"

static const struct brio_layout layouts[] = {
    {.nservers = 1, .first = 0, .stripe = 0},
    {.nservers = 4, .first = 1, .stripe = 65536},
    {.nservers = 3, .first = 0, .stripe = 1000},
};

static void tile(const struct brio_fcache *fcache, const void *self, brio_off off, brio_off len)
{
    int servers = fcache->servers(self);
    CHECK(servers >= 1, "%d servers", servers);
    brio_off end = off + len;
    for (int i = 0; off < end && i < 100000; i++) {
        struct brio_part part = {.len = -1};
        fcache->map(self, off, end - off, &part);
        REQUIRE(part.off == off, "a part at %lld, not %lld", (long long)part.off,
                (long long)off);
        REQUIRE(part.len > 0 && part.len <= end - off, "a part of %lld of %lld bytes",
                (long long)part.len, (long long)(end - off));
        REQUIRE(part.server >= 0 && part.server < servers, "server %d", part.server);
        REQUIRE(part.local_off >= 0, "at %lld on the server", (long long)part.local_off);
        off += part.len;
    }
    CHECK(off == end, "the parts do not end");
}

static void tile_on(const struct brio_module *module)
{
    const struct brio_fcache *fcache = (const struct brio_fcache *)module;
    void *conf = make_conf(module, NULL);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        void *self = NULL;
        REQUIRE(fcache->open(&layouts[i], conf, &self) == BRIO_OK, "%s", brio_err_text());
        tile(fcache, self, 0, 1);
        tile(fcache, self, (brio_off)1 << 40, 12345678);
        for (int j = 0; j < 200; j++)
            tile(fcache, self, test_below((int64_t)1 << 33), 1 + test_below(5000000));
        fcache->close(self);
    }
    free(conf);
}

static void parts_tile_the_range(void)
{
    uint64_t seed = test_seed();
    each_module(BRIO_FCACHE, ".", tile_on);
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

static void none_is_one_part(void)
{
    void *self = NULL;
    struct brio_part part;
    CHECK(brio_fcache_none.open(&layouts[0], NULL, &self) == BRIO_OK, "%s", brio_err_text());
    brio_fcache_none.map(self, 12345, (brio_off)1 << 40, &part);
    CHECK(part.server == 0 && part.off == 12345 && part.local_off == 12345 &&
              part.len == (brio_off)1 << 40,
          "server %d, %lld bytes", part.server, (long long)part.len);
    brio_fcache_none.close(self);
}

static const struct test_case cases[] = {
    TEST(none_is_one_part), TEST(parts_tile_the_range), {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
