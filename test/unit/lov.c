/* Lustre's layouts: those that its tools make, written down here byte by byte; shortened,
 * changed at random, and the wish at creation. No Lustre is needed, and none is shown to work
 * by this. */
#include "contract/contract.h"
#include "fcache/fcache.h"
#include "fs/lov.h"

struct blob {
    unsigned char at[8192];
    size_t n;
    int big; /* the most significant byte first */
};

static void put(struct blob *b, uint64_t n, int bytes)
{
    for (int i = 0; i < bytes; i++)
        b->at[b->n++] = (unsigned char)(n >> 8 * (b->big ? bytes - 1 - i : i));
}

/* Changes a number that is there already. */
static void set(struct blob *b, size_t off, uint64_t n, int bytes)
{
    size_t end = b->n;
    b->n = off;
    put(b, n, bytes);
    b->n = end;
}

struct plain {
    int version;
    uint32_t pattern, stripe;
    int count;    /* as told */
    int nobjects; /* that follow */
    uint32_t servers[16];
};

static void put_plain(struct blob *b, const struct plain *p)
{
    put(b, p->version == 3 ? 0x0BD30BD0 : 0x0BD10BD0, 4);
    put(b, p->pattern, 4);
    put(b, 0x1234, 8); /* object id */
    put(b, 0x5678, 8);
    put(b, p->stripe, 4);
    put(b, (uint64_t)p->count, 2);
    put(b, 7, 2); /* generation */
    for (int i = 0; p->version == 3 && i < 16; i++)
        put(b, (uint64_t) "flash\0\0\0\0\0\0\0\0\0\0"[i], 1);
    for (int i = 0; i < p->nobjects; i++) {
        put(b, 0x99, 8);
        put(b, 0x11, 8);
        put(b, 3, 4);
        put(b, p->servers[i], 4);
    }
}

struct entry {
    uint32_t id, flags;
    uint64_t lo, hi;
    struct plain plain;
};

static void put_composite(struct blob *b, const struct entry *entries, int n)
{
    put(b, 0x0BD60BD0, 4);
    put(b, 0, 4);
    put(b, 5, 4);
    put(b, 0, 2);
    put(b, (uint64_t)n, 2);
    put(b, 0, 8);
    put(b, 0, 8);
    for (int i = 0; i < n; i++) {
        put(b, entries[i].id, 4);
        put(b, entries[i].flags, 4);
        put(b, entries[i].lo, 8);
        put(b, entries[i].hi, 8);
        put(b, 0, 8); /* where, and how much */
        put(b, 0, 8);
        put(b, 0, 8);
    }
    for (int i = 0; i < n; i++) {
        size_t from = b->n;
        put_plain(b, &entries[i].plain);
        set(b, 32 + (size_t)i * 48 + 24, from, 4);
        set(b, 32 + (size_t)i * 48 + 28, b->n - from, 4);
    }
    set(b, 4, b->n, 4);
}

static const struct plain four = {.version = 1,
                                  .pattern = 1,
                                  .stripe = 1 << 20,
                                  .count = 4,
                                  .nobjects = 4,
                                  .servers = {17, 3, 250, 9}};

/* ---- Layouts as they are --------------------------------------------------------------------
 */

static void versions_1_and_3(void)
{
    for (int i = 0; i < 4; i++) {
        static struct brio_layout l;
        struct blob b = {.big = i / 2};
        struct plain p = four;
        p.version = i % 2 ? 3 : 1;
        put_plain(&b, &p);
        REQUIRE(!brio_lov_decode(b.at, b.n, &l), "%s", brio_err_text());
        CHECK(l.nservers == 4 && l.stripe == 1 << 20 && l.nextents == 1, "%d servers of %lld",
              l.nservers, (long long)l.stripe);
        CHECK(l.extents[0].lo == 0 && l.extents[0].hi == BRIO_OFF_MAX &&
                  l.extents[0].width == 4 && l.extents[0].object == 0,
              "width %d", l.extents[0].width);
        for (int k = 0; k < 4; k++)
            CHECK(l.objects[k] == k, "object %d is on %d", k, l.objects[k]);
    }
}

/* Two stripes on one server are one server. */
static void overstriping(void)
{
    static struct brio_layout l;
    struct blob b = {.n = 0};
    struct plain p = four;
    p.pattern = 0x201;
    p.servers[2] = 17;
    put_plain(&b, &p);
    REQUIRE(!brio_lov_decode(b.at, b.n, &l), "%s", brio_err_text());
    CHECK(l.nservers == 3 && l.extents[0].width == 4 && l.objects[2] == 0, "%d servers",
          l.nservers);
}

static void one_stripe_is_plain(void)
{
    static struct brio_layout l;
    struct blob b = {.n = 0};
    struct plain p = four;
    p.count = p.nobjects = 1;
    put_plain(&b, &p);
    REQUIRE(!brio_lov_decode(b.at, b.n, &l), "%s", brio_err_text());
    CHECK(l.nservers == 1 && l.nextents == 0 && l.stripe == 0, "%d servers", l.nservers);
}

/* The first megabyte on the metadata server, then one stripe, then four, and the rest on
 * eight that have not been chosen yet. */
static const struct entry progressive[] = {
    {0x10001, 0x10, 0, 1 << 20, {1, 0x100, 1 << 20, 0, 0, {0}}},
    {0x10002, 0x10, 1 << 20, 64 << 20, {1, 1, 1 << 20, 1, 1, {5}}},
    {0x10003, 0x10, 64 << 20, 1 << 30, {3, 1, 1 << 20, 4, 4, {5, 6, 7, 8}}},
    {0x10004, 0, 1 << 30, UINT64_MAX, {1, 1, 4 << 20, 8, 0, {0}}},
};

static int server_at(const struct brio_layout *l, brio_off off)
{
    struct brio_part part = {.server = -1};
    void *self = NULL;
    if (brio_fcache_stripe.open(l, NULL, &self))
        return -1;
    brio_fcache_stripe.map(self, off, 1, &part);
    brio_fcache_stripe.close(self);
    return part.server;
}

static void composite(void)
{
    static struct brio_layout l;
    struct blob b = {.n = 0};
    put_composite(&b, progressive, 4);
    REQUIRE(!brio_lov_decode(b.at, b.n, &l), "%s", brio_err_text());
    CHECK(l.nextents == 4 && l.nservers == 8 && l.stripe == 4 << 20,
          "%d extents on %d servers, %lld", l.nextents, l.nservers, (long long)l.stripe);
    CHECK(server_at(&l, 1000) == 0, "server %d", server_at(&l, 1000));
    CHECK(server_at(&l, 33 << 20) == 1, "server %d", server_at(&l, 33 << 20));
    for (int k = 0; k < 8; k++)
        CHECK(server_at(&l, (64 + k) << 20) == 1 + k % 4, "megabyte %d is on %d", 64 + k,
              server_at(&l, (64 + k) << 20));
    CHECK(l.extents[3].hi == BRIO_OFF_MAX && l.extents[3].width == 8 &&
              l.extents[3].unit == 4 << 20,
          "the last extent is %d wide", l.extents[3].width);
}

/* Two copies of the file, of which the first is out of date. */
static void mirrors(void)
{
    static struct brio_layout l;
    static const struct entry entries[] = {
        {0x10001, 0x11, 0, UINT64_MAX, {1, 1, 1 << 16, 2, 2, {1, 2}}},
        {0x20001, 0x10, 0, 1 << 20, {1, 1, 1 << 17, 3, 3, {4, 5, 6}}},
        {0x20002, 0x10, 1 << 20, UINT64_MAX, {1, 1, 1 << 18, 2, 2, {4, 5}}},
    };
    struct blob b = {.n = 0};
    put_composite(&b, entries, 3);
    REQUIRE(!brio_lov_decode(b.at, b.n, &l), "%s", brio_err_text());
    CHECK(l.nextents == 2 && l.extents[0].unit == 1 << 17 && l.nservers == 3,
          "%d extents, units of %lld", l.nextents, (long long)l.extents[0].unit);
}

/* More components than a layout of Brio's holds: the last one goes on. */
static void many_components(void)
{
    static struct brio_layout l;
    static struct entry entries[BRIO_LAYOUT_EXTENTS + 3];
    int n = BRIO_LAYOUT_EXTENTS + 3;
    struct blob b = {.n = 0};
    for (int i = 0; i < n; i++)
        entries[i] = (struct entry){(uint32_t)(0x10001 + i),
                                    0x10,
                                    (uint64_t)i << 20,
                                    i == n - 1 ? UINT64_MAX : (uint64_t)(i + 1) << 20,
                                    {1, 1, 1 << 16, 2, 2, {1, 2}}};
    put_composite(&b, entries, n);
    REQUIRE(!brio_lov_decode(b.at, b.n, &l), "%s", brio_err_text());
    CHECK(l.nextents == BRIO_LAYOUT_EXTENTS &&
              l.extents[BRIO_LAYOUT_EXTENTS - 1].hi == BRIO_OFF_MAX,
          "%d extents", l.nextents);
}

static void widest(void)
{
    static struct brio_layout l;
    static unsigned char value[48 + 24 * 3000];
    struct blob b = {.n = 0};
    struct plain p = four;
    p.nobjects = 0;
    p.count = 3000;
    put_plain(&b, &p);
    memcpy(value, b.at, b.n);
    for (unsigned k = 0; k < 3000; k++)
        memcpy(value + 32 + 24 * k + 20, &k, 4);
    REQUIRE(!brio_lov_decode(value, 32 + 24 * 3000, &l), "%s", brio_err_text());
    CHECK(l.nobjects == BRIO_LAYOUT_OBJECTS && l.extents[0].width == 3000, "%d objects",
          l.nobjects);
}

/* ---- Layouts that are none
 * ------------------------------------------------------------------- */

/* Behind the value is memory that a sanitizer guards. */
static enum brio_err decode_copy(const struct blob *b, size_t n, struct brio_layout *l)
{
    unsigned char *copy = malloc(n ? n : 1);
    memcpy(copy, b->at, n);
    enum brio_err err = brio_lov_decode(copy, n, l);
    free(copy);
    return err;
}

static void shortened(void)
{
    static struct brio_layout l;
    struct blob a = {.n = 0}, c = {.n = 0};
    put_plain(&a, &four);
    put_composite(&c, progressive, 4);
    for (size_t n = 0; n < a.n; n++) /* the head alone says what is to come */
        CHECK(decode_copy(&a, n, &l) == (n >= 32 && n < 32 + 24 ? BRIO_OK : BRIO_EUNSUPOP),
              "%zu bytes", n);
    for (size_t n = 0; n < c.n; n++)
        CHECK(decode_copy(&c, n, &l) == BRIO_EUNSUPOP, "%zu bytes", n);
}

static void unknown_forms(void)
{
    static struct brio_layout l;
    struct blob b = {.n = 0};
    put_plain(&b, &four);
    set(&b, 0, 0x0BD70BD0, 4); /* a foreign layout */
    CHECK(decode_copy(&b, b.n, &l) == BRIO_EUNSUPOP, "a foreign layout was taken");
    set(&b, 0, 0x0BD10BD0, 4);
    set(&b, 24, 0, 4);
    CHECK(decode_copy(&b, b.n, &l) == BRIO_EUNSUPOP, "stripes of no bytes were taken");
}

/* Whatever the bytes are, what comes out is a layout or an error. */
static void garbage(void)
{
    static struct brio_layout l;
    uint64_t seed = test_seed();
    long good = 0;
    for (int i = 0; i < 200000 && !test_failed; i++) {
        struct blob b = {.big = (int)test_below(2)};
        if (test_below(2))
            put_plain(&b, &four);
        else
            put_composite(&b, progressive, 4);
        for (int64_t k = test_below(8); k >= 0; k--)
            b.at[test_below((int64_t)b.n)] = (unsigned char)test_random();
        enum brio_err err = decode_copy(&b, (size_t)test_below((int64_t)b.n + 1), &l);
        CHECK(err == BRIO_OK || err == BRIO_EUNSUPOP || err == BRIO_EINTERN, "error %d", err);
        CHECK(err || !brio_layout_check(&l), "%s", brio_err_text());
        good += !err;
    }
    CHECK(good > 1000, "only %ld were layouts", good);
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

/* ---- The wish
 * -------------------------------------------------------------------------------- */

static void wishes(void)
{
    static const unsigned char want[BRIO_LOV_WISH] = {
        0xd0, 0x0b, 0xd1, 0x0b, 1, 0, 0, 0, 0, 0,    0,    0, 0, 0, 0,    0,
        0,    0,    0,    0,    0, 0, 0, 0, 0, 0x10, 0x20, 0, 5, 0, 0xff, 0xff};
    unsigned char got[BRIO_LOV_WISH];
    brio_lov_encode(5, 0x201000, got);
    CHECK(memcmp(got, want, sizeof want) == 0, "other bytes");
    brio_lov_encode(0, 0, got);
    CHECK(got[24] + got[25] + got[26] + got[27] + got[28] + got[29] == 0, "no default");
    brio_lov_encode(70000, 0, got);
    CHECK(got[28] + got[29] == 0, "a count that does not fit");
}

static const struct test_case cases[] = {
    TEST(versions_1_and_3), TEST(overstriping), TEST(one_stripe_is_plain),
    TEST(composite),        TEST(mirrors),      TEST(many_components),
    TEST(widest),           TEST(shortened),    TEST(unknown_forms),
    TEST(garbage),          TEST(wishes),       {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
