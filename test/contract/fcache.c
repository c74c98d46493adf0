/* The contract of fcache: the parts that a module gives tile the range that was asked for,
 * and each is found again where it came from. */
#include "contract.h"
#include "fcache/fcache.h"

enum {
    LAYOUTS = 5
};

static void make_layout(int which, struct brio_layout *out)
{
    switch (which) {
    case 0:
        brio_layout_plain(out);
        break;
    case 1:
        brio_layout_round(out, 4, 1, 65536);
        break;
    case 2:
        brio_layout_round(out, 3, 0, 1000);
        break;
    case 3: /* objects of limited size */
        brio_layout_round(out, 3, 0, 65536);
        out->extents[0].object = 4 << 20;
        out->extents[0].n = out->nobjects = 7;
        for (int i = 0; i < 7; i++)
            out->objects[i] = (uint16_t)(i * i % 3);
        break;
    default: /* two extents, and nothing behind them */
        brio_layout_round(out, 5, 2, 1 << 20);
        out->nextents = 2;
        out->extents[1] = out->extents[0];
        out->extents[0].hi = out->extents[1].lo = 16 << 20;
        out->extents[0].width = 1;
        out->extents[1].hi = (brio_off)1 << 32;
    }
}

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
        REQUIRE(part.local_off >= 0, "at %lld in the object", (long long)part.local_off);
        REQUIRE(fcache->find(self, &part) == off, "found at %lld, not %lld",
                (long long)fcache->find(self, &part), (long long)off);
        part.local_off += part.len - 1;
        REQUIRE(fcache->find(self, &part) == off + part.len - 1, "the last byte is elsewhere");
        off += part.len;
    }
    CHECK(off == end, "the parts do not end");
}

/* One period on, the servers are the same. */
static void repeat(const struct brio_fcache *fcache, const void *self)
{
    brio_off period = fcache->period(self);
    CHECK(period >= 0, "a period of %lld", (long long)period);
    for (int i = 0; period > 0 && i < 200; i++) {
        struct brio_part a, b;
        brio_off off = test_below((int64_t)1 << 33);
        fcache->map(self, off, 1, &a);
        fcache->map(self, off + period * (1 + test_below(9)), 1, &b);
        CHECK(a.server == b.server, "server %d, and %d some periods on", a.server, b.server);
    }
}

static void tile_on(const struct brio_module *module)
{
    const struct brio_fcache *fcache = (const struct brio_fcache *)module;
    void *conf = make_conf(module, NULL);
    for (int i = 0; i < LAYOUTS; i++) {
        static struct brio_layout layout;
        void *self = NULL;
        make_layout(i, &layout);
        REQUIRE(fcache->open(&layout, conf, &self) == BRIO_OK, "%s", brio_err_text());
        memset(&layout, 0xff, sizeof layout); /* it has been kept */
        tile(fcache, self, 0, 1);
        tile(fcache, self, (brio_off)1 << 40, 12345678);
        tile(fcache, self, BRIO_OFF_MAX - 1000000, 1000000);
        for (int j = 0; j < 200; j++)
            tile(fcache, self, test_below((int64_t)1 << 33), 1 + test_below(5000000));
        repeat(fcache, self);
        fcache->close(self);
    }
    free(conf);
}

static void parts_tile_the_range(void)
{
    uint64_t seed = test_seed();
    each_module(BRIO_FCACHE, here(), tile_on);
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

static void none_is_one_part(void)
{
    void *self = NULL;
    struct brio_part part;
    CHECK(brio_fcache_none.open(NULL, NULL, &self) == BRIO_OK, "%s", brio_err_text());
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
