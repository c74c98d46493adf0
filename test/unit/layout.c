/* Layouts, exhaustively: every small one against a dealer who gives out the file byte by
 * byte, forwards and back; and layouts that make no sense. */
#include "contract/contract.h"
#include "fcache/fcache.h"

enum {
    BYTES = 240 /* of the file that are looked at */
};

/* ---- The dealer: nothing but counting -----------------------------------------------------
 */

/* Fills where[] with what an extent without bounds does to the bytes of the file. */
static void deal(const struct brio_layout *l, int extent, struct brio_part *where)
{
    const struct brio_stripes *s = &l->extents[extent];
    brio_off got[BYTES + 8] = {0}; /* bytes of each object */
    brio_off first = 0, column = 0, in_unit = 0;
    for (brio_off off = 0; off < BYTES; off++) {
        brio_off object = first + column;
        int server = s->n ? l->objects[s->at + object % s->n] : 0;
        if (!s->n)
            for (brio_off k = server = s->at; k < s->at + object; k++)
                server = server + 1 == l->nservers ? 0 : server + 1;
        if (off >= s->lo && off < s->hi)
            where[off] = (struct brio_part){.server = server,
                                            .extent = extent,
                                            .object = object,
                                            .off = off,
                                            .local_off = got[object]};
        got[object]++;
        if (++in_unit < s->unit)
            continue;
        in_unit = 0;
        if (++column < s->width)
            continue;
        column = 0;
        if (s->object && got[first + s->width - 1] == s->object)
            first += s->width;
    }
}

static void check_layout(const struct brio_layout *l)
{
    struct brio_part want[BYTES], got;
    void *self = NULL;
    for (brio_off off = 0; off < BYTES; off++)
        want[off] = (struct brio_part){.extent = -1, .off = off, .local_off = off};
    for (int e = 0; e < l->nextents; e++)
        deal(l, e, want);
    REQUIRE(!brio_fcache_stripe.open(l, NULL, &self), "%s", brio_err_text());
    for (brio_off off = 0; off < BYTES; off++) {
        brio_fcache_stripe.map(self, off, 1, &got);
        CHECK(got.server == want[off].server && got.extent == want[off].extent &&
                  got.object == want[off].object && got.local_off == want[off].local_off,
              "byte %lld: server %d extent %d object %lld at %lld, not %d %d %lld %lld",
              (long long)off, got.server, got.extent, (long long)got.object,
              (long long)got.local_off, want[off].server, want[off].extent,
              (long long)want[off].object, (long long)want[off].local_off);
        CHECK(brio_fcache_stripe.find(self, &want[off]) == off, "byte %lld found at %lld",
              (long long)off, (long long)brio_fcache_stripe.find(self, &want[off]));
        /* A part is as long as it can be, and no longer. */
        brio_fcache_stripe.map(self, off, BYTES - off, &got);
        brio_off len = 1;
        while (off + len < BYTES && want[off + len].extent == want[off].extent &&
               want[off + len].object == want[off].object)
            len++;
        bool split = l->nextents > 0 && got.extent >= 0 && l->extents[got.extent].width > 1 &&
                     got.len == l->extents[got.extent].unit - off % l->extents[got.extent].unit;
        CHECK(got.len == len || split, "%lld bytes from %lld, not %lld", (long long)got.len,
              (long long)off, (long long)len);
    }
    brio_off period = brio_fcache_stripe.period(self);
    for (brio_off off = 0; period > 0 && off + period < BYTES; off++)
        CHECK(want[off].server == want[off + period].server, "no period of %lld",
              (long long)period);
    brio_fcache_stripe.close(self);
}

/* Objects in turn, whatever their servers are called; two may have the same one. */
static void dealt_layouts(void)
{
    struct brio_layout l;
    for (int n = 1; n <= 6; n++)
        for (int unit = 1; unit <= 4; unit++)
            for (int same = 1; same <= n; same++) {
                int64_t servers[6];
                for (int k = 0; k < n; k++)
                    servers[k] = ((int64_t)1 << 40) - 7 * (k % same);
                brio_layout_dealt(&l, unit, n, servers);
                CHECK(!brio_layout_check(&l), "%s", brio_err_text());
                CHECK(l.nservers == same && l.stripe == unit && l.nobjects == n,
                      "%d objects on %d servers", n, l.nservers);
                for (int k = 0; k < n; k++)
                    CHECK(l.objects[k] == k % same, "object %d on %d", k, l.objects[k]);
                check_layout(&l);
            }
}

static void round_layouts(void)
{
    struct brio_layout l;
    for (int servers = 1; servers <= 5; servers++)
        for (int first = 0; first < servers; first++)
            for (int unit = 1; unit <= 7 && !test_failed; unit++) {
                brio_layout_round(&l, servers, first, unit);
                check_layout(&l);
            }
}

/* Every unit, width and size of objects; servers in turn, and by a table. */
static void limited_objects(void)
{
    struct brio_layout l;
    for (int unit = 1; unit <= 4; unit++)
        for (int width = 1; width <= 4; width++)
            for (int rows = 0; rows <= 4; rows++)
                for (int n = 0; n <= 6 && !test_failed; n++) {
                    brio_layout_round(&l, 3, n % 3, unit);
                    l.extents[0].width = width;
                    l.extents[0].object = unit * rows;
                    l.extents[0].n = n;
                    l.nobjects = n ? n + 2 : 0;
                    for (int i = 0; i < l.nobjects; i++)
                        l.objects[i] = (uint16_t)(i * 7 % 3);
                    check_layout(&l);
                }
}

static void draw_extent(struct brio_layout *l, struct brio_stripes *s)
{
    s->unit = 1 + test_below(9);
    s->width = 1 + (int)test_below(5);
    s->object = test_below(2) ? s->unit * (1 + test_below(5)) : 0;
    s->n = test_below(2) ? 1 + (int)test_below(6) : 0;
    s->at = s->n ? l->nobjects : (int)test_below(l->nservers);
    for (int i = 0; i < s->n; i++)
        l->objects[l->nobjects++] = (uint16_t)test_below(l->nservers);
}

static void composite_layouts(void)
{
    static struct brio_layout l;
    uint64_t seed = test_seed();
    for (int i = 0; i < 20000 && !test_failed; i++) {
        brio_off at = test_below(2) ? 0 : test_below(30);
        brio_layout_plain(&l);
        l.nservers = 1 + (int)test_below(6);
        l.nextents = (int)test_below(BRIO_LAYOUT_EXTENTS + 1);
        for (int e = 0; e < l.nextents; e++) {
            struct brio_stripes *s = &l.extents[e];
            s->lo = at;
            s->hi =
                e + 1 == l.nextents && test_below(2) ? BRIO_OFF_MAX : at + 1 + test_below(60);
            at = s->hi == BRIO_OFF_MAX ? at : s->hi + (test_below(3) ? 0 : test_below(10));
            draw_extent(&l, s);
        }
        check_layout(&l);
    }
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

/* A place that no byte has is not found; one that is found is that byte's. */
static void find_only_what_is_there(void)
{
    static struct brio_layout l;
    for (int i = 0; i < 200000 && !test_failed; i++) {
        void *self = NULL;
        brio_layout_round(&l, 1 + (int)test_below(4), 0, 1 + test_below(9));
        l.extents[0].object = l.extents[0].unit * test_below(4);
        l.extents[0].lo = test_below(50);
        l.extents[0].hi = l.extents[0].lo + 1 + test_below(100);
        int high = (int)test_below(63);
        struct brio_part part = {.extent = (int)test_below(4) - 2,
                                 .object = test_below((int64_t)1 << high) - 1,
                                 .local_off = test_below((int64_t)1 << test_below(63)) - 1};
        REQUIRE(!brio_fcache_stripe.open(&l, NULL, &self), "%s", brio_err_text());
        brio_off off = brio_fcache_stripe.find(self, &part);
        struct brio_part back = {.len = 0};
        if (off >= 0)
            brio_fcache_stripe.map(self, off, 1, &back);
        CHECK(off == -1 || (back.extent == part.extent && back.object == part.object &&
                            back.local_off == part.local_off),
              "extent %d object %lld at %lld found at %lld", part.extent,
              (long long)part.object, (long long)part.local_off, (long long)off);
        brio_fcache_stripe.close(self);
    }
}

static void refused(const struct brio_layout *l, const char *why)
{
    void *self = NULL;
    CHECK(brio_layout_check(l) != BRIO_OK, "%s was accepted", why);
    CHECK(brio_fcache_stripe.open(l, NULL, &self) != BRIO_OK, "%s was opened", why);
}

static void nonsense_is_refused(void)
{
    static struct brio_layout good, l;
    brio_layout_round(&good, 4, 0, 64);
    good.nobjects = 4;
    CHECK(!brio_layout_check(&good), "%s", brio_err_text());
    l = good, l.nservers = 0, refused(&l, "no servers");
    l = good, l.nextents = BRIO_LAYOUT_EXTENTS + 1, refused(&l, "too many extents");
    l = good, l.nextents = -1, refused(&l, "a negative number of extents");
    l = good, l.nobjects = BRIO_LAYOUT_OBJECTS + 1, refused(&l, "too many objects");
    l = good, l.objects[3] = 4, refused(&l, "a server that is not there");
    l = good, l.extents[0].unit = 0, refused(&l, "no unit");
    l = good, l.extents[0].width = 0, refused(&l, "no width");
    l = good, l.extents[0].hi = 0, refused(&l, "an empty extent");
    l = good, l.extents[0].lo = -1, refused(&l, "a negative place");
    l = good, l.extents[0].object = 65, refused(&l, "objects that are not made of units");
    l = good, l.extents[0].at = 4, refused(&l, "a first server that is not there");
    l = good, l.extents[0].n = 5, refused(&l, "more objects than are told");
    l = good, l.extents[0].unit = (brio_off)1 << 62, refused(&l, "an overflow");
    l = good, l.nextents = 2, l.extents[1] = l.extents[0], refused(&l, "an overlap");
}

static const struct test_case cases[] = {TEST(round_layouts),
                                         TEST(limited_objects),
                                         TEST(composite_layouts),
                                         TEST(nonsense_is_refused),
                                         TEST(find_only_what_is_there),
                                         TEST(dealt_layouts),
                                         {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
