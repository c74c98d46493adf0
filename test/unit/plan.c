/* Plans as pure functions: windows over random patterns, byte by byte; and every plan maker
 * in the registry. */
#include "contract/contract.h"

#include "fcoll/aggregators.h"
#include "fcoll/engine.h"

/* ---- Whose byte ---------------------------------------------------------------------------
 */

static bool owns(const struct brio_owner *owner, brio_off off)
{
    if (off < owner->lo || off >= owner->hi)
        return false;
    if (owner->stripe == 0)
        return true;
    struct brio_part part = {.server = (int)(off / owner->stripe % owner->of)};
    if (owner->places.ops)
        owner->places.ops->map(owner->places.self, off, 1, &part);
    return part.server % owner->of == owner->index;
}

/* Some layout, good until the next call. */
static struct brio_places draw_places(int servers, brio_off stripe)
{
    static struct brio_layout layout;
    static void *self;
    if (self)
        brio_fcache_stripe.close(self);
    self = NULL;
    brio_layout_round(&layout, servers, (int)test_below(servers), stripe);
    if (test_below(2))
        layout.extents[0].object = stripe * (1 + test_below(5));
    if (test_below(2)) {
        layout.nobjects = layout.extents[0].n = 1 + (int)test_below(20);
        layout.extents[0].at = 0;
        for (int i = 0; i < layout.nobjects; i++)
            layout.objects[i] = (uint16_t)test_below(servers);
    }
    CHECK(!brio_fcache_stripe.open(&layout, NULL, &self), "%s", brio_err_text());
    return (struct brio_places){.ops = &brio_fcache_stripe, .self = self};
}

/* ---- Windows ------------------------------------------------------------------------------
 */

static void draw_pattern(struct pattern *p)
{
    int64_t len = 1 + test_below(16);
    switch (test_below(4)) {
    case 0:
        pattern_vector(p, 1, 1 + test_below(5000), 0, test_below(3000), 0);
        break;
    case 1:
        pattern_vector(p, 1 + test_below(300), len, len + test_below(64), test_below(50), 0);
        break;
    case 2:
        pattern_blocks(p, 1 + test_below(64), 1 + test_below(100), test_below(500));
        break;
    default:
        pattern_nested(p);
    }
}

/* All of a domain, or every of-th stripe of it. */
static struct brio_owner draw_domain(const struct pattern *p)
{
    struct brio_owner owner = {.lo = p->off[0], .hi = p->off[p->size - 1] + 1};
    if (test_below(2)) {
        owner.stripe = 1 + test_below(test_below(2) ? 50 : 3000);
        owner.of = 1 + (int)test_below(4);
        owner.index = (int)test_below(owner.of);
        if (test_below(2))
            owner.places = draw_places(owner.of + (int)test_below(4), owner.stripe);
    }
    return owner;
}

/* Where a window from lo on must end if there is data that far: as large as it may be, but
 * at a multiple of align if there is one, and in its stripe. */
static brio_off latest_end(const struct brio_owner *owner, brio_off lo, brio_off size,
                           brio_off align)
{
    brio_off end = lo + size;
    for (brio_off at = end; align > 0 && at > lo; at--)
        if (at % align == 0) {
            end = at;
            break;
        }
    brio_off edge = owner->stripe > 0 ? (lo / owner->stripe + 1) * owner->stripe : end;
    if (owner->stripe > 0 && owner->places.ops) {
        struct brio_part part;
        owner->places.ops->map(owner->places.self, lo, BRIO_OFF_MAX - lo, &part);
        edge = lo + part.len;
    }
    return edge < end ? edge : end;
}

/* Walks the data bytes in order: each is nobody's of this owner, or in the current window,
 * or the first of the next one. */
static void check_windows(const struct pattern *p, const struct brio_owner *owner,
                          brio_off size, brio_off align)
{
    const struct brio_window *w = owner->windows;
    size_t k = 0;
    brio_off last = -1, limit = 0; /* of the current window */
    for (int64_t i = 0; i < p->size; i++) {
        brio_off off = p->off[i];
        if (!owns(owner, off))
            continue;
        if (k == 0 || off >= w[k - 1].hi) {
            CHECK(k == 0 || w[k - 1].hi == last + 1, "a window ends at %lld, its data at %lld",
                  (long long)w[k - 1].hi, (long long)last + 1);
            CHECK(off >= limit, "a window up to %lld could have held byte %lld",
                  (long long)limit, (long long)off);
            REQUIRE(k < owner->nwindows && w[k].lo == off, "no window begins at %lld",
                    (long long)off);
            limit = latest_end(owner, off, size, align);
            k++;
        }
        CHECK(off < limit, "byte %lld in the window from %lld", (long long)off,
              (long long)w[k - 1].lo);
        last = off;
    }
    CHECK(k == owner->nwindows, "%zu windows, not %zu", owner->nwindows, k);
    CHECK(k == 0 || w[k - 1].hi == last + 1, "the last window ends at %lld, its data at %lld",
          (long long)w[k - 1].hi, (long long)last + 1);
}

static void windows_hold_the_data(void)
{
    static struct pattern p;
    static const brio_off sizes[] = {1, 2, 7, 100, 512, 4096, 1 << 20};
    static const brio_off aligns[] = {0, 1, 3, 64, 512, 4096};
    uint64_t seed = test_seed();
    for (int i = 0; i < 20000 && !test_failed; i++) {
        draw_pattern(&p);
        brio_off size = sizes[test_below(7)], align = aligns[test_below(6)];
        struct brio_owner owner = draw_domain(&p);
        REQUIRE(!brio_windows_make(p.map, size, align, &owner), "%s", brio_err_text());
        check_windows(&p, &owner, size, align);
        free(owner.windows);
        pattern_free(&p);
    }
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

/* Sizes of a real file: pieces of 4 bytes over a terabyte take few windows, and no time. */
static void windows_of_a_large_file(void)
{
    static struct pattern p;
    struct brio_node *root = NULL;
    brio_off far = (brio_off)1 << 40;
    REQUIRE(!brio_node_loop(bytes_node(4), far / 8, 8, &root), "%s", brio_err_text());
    pattern_close(&p, root, far);
    struct brio_owner owner = {.lo = 0, .hi = far};
    REQUIRE(!brio_windows_make(p.map, (brio_off)1 << 30, 4096, &owner), "%s", brio_err_text());
    CHECK(owner.nwindows == 1024, "%zu windows", owner.nwindows);
    for (size_t k = 0; k < owner.nwindows; k++)
        CHECK(owner.windows[k].lo == (brio_off)k << 30 &&
                  owner.windows[k].hi == ((brio_off)(k + 1) << 30) - 4,
              "window %zu: %lld to %lld", k, (long long)owner.windows[k].lo,
              (long long)owner.windows[k].hi);
    free(owner.windows);
    pattern_free(&p);
}

/* ---- Shares -------------------------------------------------------------------------------
 */

static void shares_of_a_window(void)
{
    enum {
        RANKS = 5
    };
    static struct pattern p[RANKS];
    for (int i = 0; i < 3000 && !test_failed; i++) {
        struct brio_map *maps[RANKS];
        int crew_of[RANKS], want_n = 0, n = -1;
        brio_off lo = test_below(2000), want = 0;
        struct brio_window w = {.lo = lo, .hi = lo + 1 + test_below(2000)};
        for (int r = 0; r < RANKS; r++) {
            brio_off mine = 0;
            draw_pattern(&p[r]);
            maps[r] = test_below(4) ? p[r].map : NULL;
            crew_of[r] = (int)test_below(2);
            for (int64_t b = 0; maps[r] && crew_of[r] == 1 && b < p[r].size; b++)
                mine += p[r].off[b] >= w.lo && p[r].off[b] < w.hi;
            want += mine;
            want_n += mine > 0;
        }
        struct brio_owner owner = {.nwindows = 1, .windows = &w};
        struct brio_plan plan = {
            .nranks = RANKS, .sources = maps, .nowners = 1, .owners = &owner};
        struct brio_crew crew = {.ncrews = 2, .crew_of = crew_of};
        brio_off got = brio_plan_share(&plan, &crew, 1, RANKS, 0, &n);
        CHECK(got == want && n == want_n, "%lld bytes of %d ranks, not %lld of %d",
              (long long)got, n, (long long)want, want_n);
        for (int r = 0; r < RANKS; r++)
            pattern_free(&p[r]);
    }
}

/* ---- Plan makers --------------------------------------------------------------------------
 */

static struct brio_share shares[300];
static int order[300], spread[300], crew_of[300], place_of[300];

/* Where the ranks are, and perhaps what each has. */
static void draw_ranks(struct brio_extent *e)
{
    int leader[300] = {0};
    struct brio_crew crew = {.ncrews = 0, .crew_of = crew_of, .leader = leader};
    int wanted = 1 + (int)test_below(5);
    for (int r = 0; r < e->nranks; r++) {
        crew_of[r] = r < wanted ? r : (int)test_below(wanted);
        if (r < wanted)
            leader[crew.ncrews++] = r;
        brio_off lo = e->lo + test_below(e->hi - e->lo);
        shares[r] = (struct brio_share){.lo = lo, .hi = lo + 1 + test_below(e->hi - lo)};
        shares[r].bytes = test_below(4) ? 1 + test_below(shares[r].hi - lo) : 0;
        order[r] = place_of[r] = r;
    }
    if (test_below(2)) {
        CHECK(!brio_spread(&crew, e->nranks, spread), "%s", brio_err_text());
        e->spread = spread;
    }
    if (test_below(3) == 0)
        return;
    if (test_below(2))
        brio_order_by_data(shares, e->nranks, order);
    for (int i = 0; i < e->nranks; i++)
        place_of[order[i]] = i;
    e->ordered = BRIO_ORDER_DATA;
    e->shares = shares;
    e->order = order;
    e->crew_of = crew_of;
    e->ncrews = crew.ncrews;
    e->row = test_below(3) ? 0 : 1 + (int)test_below(e->nranks);
}

static struct brio_extent draw_extent(int small)
{
    static const brio_off aligns[] = {0, 1, 512, 4096, 1 << 20};
    brio_off span = small ? 1 + test_below(3000) : 1 + test_below((int64_t)1 << 36);
    struct brio_extent e = {
        .nranks = 1 + (int)test_below(small ? 9 : 300),
        .lo = test_below(3) ? test_below((int64_t)1 << (small ? 12 : 40)) : 0,
        .align = aligns[test_below(5)],
        .servers = 1,
        .buffer = (brio_off)4 << 20,
    };
    e.hi = e.lo + span;
    e.nsources = 1 + (int)test_below(e.nranks);
    e.volume = 1 + test_below(span);
    e.at_once = 1 + (int)test_below(64);
    e.k = 1 + test_below(span);
    draw_ranks(&e);
    e.owners = test_below(2) ? 1 + (int)test_below(e.nranks) : 0;
    if (test_below(3) == 0) {
        e.servers = 2 + (int)test_below(12);
        e.stripe = small ? 1 + test_below(500) : (brio_off)65536 << test_below(6);
        e.places = draw_places(e.servers, e.stripe);
    }
    return e;
}

/* What every plan has: owners that are ranks, each once, in rising order (letters are written
 * in that order), at most as many as were asked for. */
static void check_owners(const struct brio_extent *e, const struct brio_owner *owners, int n)
{
    REQUIRE(n >= 1 && n <= e->nranks, "%d owners of %d ranks", n, e->nranks);
    CHECK(e->owners == 0 || n <= e->owners, "%d owners, %d wanted", n, e->owners);
    for (int a = 0; a < n; a++) {
        const struct brio_owner *o = &owners[a];
        CHECK(o->rank >= 0 && o->rank < e->nranks, "owner %d is rank %d", a, o->rank);
        CHECK(a == 0 || o->rank > owners[a - 1].rank, "owner %d is rank %d, after %d", a,
              o->rank, owners[a - 1].rank);
        CHECK(o->lo >= e->lo && o->hi <= e->hi && o->lo < o->hi, "domain %lld to %lld",
              (long long)o->lo, (long long)o->hi);
        CHECK(o->stripe >= 0 &&
                  (!o->stripe || (o->of > 0 && o->index >= 0 && o->index < o->of)),
              "stripe %d of %d", o->index, o->of);
        CHECK(o->first >= 0 && o->first <= o->last && o->last < e->nranks,
              "from ranks %d to %d of %d", o->first, o->last, e->nranks);
        CHECK(!o->nwindows && !o->windows, "windows before they are made");
        if (o->stripe == 0 && o->lo > e->lo && e->align > 0)
            CHECK(o->lo % e->align == 0, "domain from %lld, not at a multiple of %lld",
                  (long long)o->lo, (long long)e->align);
    }
}

/* Each byte of each rank has one owner. */
static void check_byte(const struct brio_extent *e, const struct brio_owner *owners, int n,
                       brio_off off)
{
    int rank = (int)test_below(e->nranks), place = place_of[rank], found = 0;
    for (int a = 0; a < n; a++)
        found += place >= owners[a].first && place <= owners[a].last && owns(&owners[a], off);
    CHECK(found == 1, "byte %lld of rank %d has %d owners", (long long)off, rank, found);
}

static void check_maker(brio_domains *domains, int small)
{
    static struct brio_owner owners[300], again[300];
    struct brio_extent e = draw_extent(small), before = e;
    memset(owners, 0, sizeof owners);
    memset(again, 0, sizeof again);
    int n = domains(&e, owners);
    check_owners(&e, owners, n);
    if (test_failed)
        return;
    for (brio_off off = e.lo; small && off < e.hi; off++)
        check_byte(&e, owners, n, off);
    for (int i = 0; i < 20; i++)
        check_byte(&e, owners, n, e.lo + test_below(e.hi - e.lo));
    for (int a = 0; a < n; a++) { /* and at the edges */
        check_byte(&e, owners, n, owners[a].lo);
        check_byte(&e, owners, n, owners[a].hi - 1);
    }
    CHECK(memcmp(&e, &before, sizeof e) == 0, "the extent was changed");
    CHECK(domains(&e, again) == n && memcmp(owners, again, sizeof again) == 0,
          "another plan the second time");
}

/* A module is a plan maker if it is opened by the engine. */
static bool check_module(const struct brio_module *module)
{
    const struct brio_plan_maker *maker = (const struct brio_plan_maker *)module;
    if (maker->fcoll.open != brio_engine_open)
        return false;
    for (int i = 0; i < 3000 && !test_failed; i++)
        check_maker(maker->domains, i % 2);
    return true;
}

static void makers_share_out_the_file(void)
{
    uint64_t seed = test_seed();
    size_t n, makers = 0;
    const struct brio_module *const *modules = brio_registry(BRIO_FCOLL, &n);
    for (size_t i = 0; i < n; i++) {
        makers += check_module(modules[i]);
        if (test_failed) {
            fprintf(stderr, "  in %s, BRIO_SEED=%llu\n", modules[i]->name,
                    (unsigned long long)seed);
            return;
        }
    }
    CHECK(makers >= 5, "only %zu plan makers were found", makers);
}

/* With ioserver, whatever the layout, a server is one owner's. */
static void a_server_has_one_owner(void)
{
    uint64_t seed = test_seed();
    for (int i = 0; i < 3000 && !test_failed; i++) {
        static struct brio_owner owners[300];
        int owner_of[16];
        struct brio_extent e = draw_extent(1);
        if (e.servers == 1)
            continue;
        int n = brio_fcoll_ioserver.domains(&e, owners);
        memset(owner_of, -1, sizeof owner_of);
        for (brio_off off = e.lo; off < e.hi; off++) {
            struct brio_part part;
            e.places.ops->map(e.places.self, off, 1, &part);
            for (int a = 0; a < n; a++) {
                if (!owns(&owners[a], off))
                    continue;
                CHECK(owner_of[part.server] == -1 || owner_of[part.server] == a,
                      "server %d has owners %d and %d", part.server, owner_of[part.server], a);
                owner_of[part.server] = a;
            }
        }
    }
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

/* As many as the user says, never more than ranks; without a word, from the volume and not
 * from the number of ranks, unless only few have data. */
static void numbers_of_owners(void)
{
    struct brio_extent e = {
        .nranks = 16, .nsources = 16, .at_once = 8, .k = 512 << 10, .servers = 1};
    e.hi = e.volume = (brio_off)1 << 30;
    for (e.owners = 1; e.owners <= 20; e.owners++)
        CHECK(brio_aggregators(&e) == (e.owners < 16 ? e.owners : 16), "%d for %d",
              brio_aggregators(&e), e.owners);
    e.owners = 0;
    CHECK(brio_aggregators(&e) == 8, "%d owners, 8 at once", brio_aggregators(&e));
    e.nranks = e.nsources = 64;
    CHECK(brio_aggregators(&e) == 8, "%d owners for 64 ranks, 8 for 16, of the same bytes",
          brio_aggregators(&e));
    e.nsources = 4;
    CHECK(brio_aggregators(&e) == 4, "%d owners, 4 ranks have data", brio_aggregators(&e));
    e.nsources = 1;
    CHECK(brio_aggregators(&e) == 2, "%d owners, one rank has data", brio_aggregators(&e));
    e.nsources = 64;
    e.volume = 3 * e.k;
    CHECK(brio_aggregators(&e) == 3, "%d owners for three shares", brio_aggregators(&e));
    e.hi = 1000;
    CHECK(brio_aggregators(&e) == 1, "%d owners for 1000 bytes", brio_aggregators(&e));
}

/* Any so many of the first ranks are on as many nodes as they can be. */
static void owners_are_spread_over_nodes(void)
{
    int of[12] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2}, leader[3] = {0, 6, 9}, got[12];
    struct brio_crew crew = {.ncrews = 3, .crew_of = of, .leader = leader};
    REQUIRE(!brio_spread(&crew, 12, got), "%s", brio_err_text());
    for (int n = 1; n <= 12; n++) {
        int on[3] = {0}, nodes = 0;
        for (int i = 0; i < n; i++)
            nodes += on[of[got[i]]]++ == 0;
        CHECK(nodes == (n < 3 ? n : 3), "%d owners on %d nodes", n, nodes);
    }
}

/* Groups are even in bytes also where ranks are not, and end where the data does. */
static void groups_are_even_in_bytes(void)
{
    static struct brio_owner owners[8];
    struct brio_share s[8];
    int by_data[8], one_node[8] = {0};
    brio_off at = 0;
    for (int r = 7; r >= 0; r--) { /* the last rank is first in the file, and has most */
        s[r] = (struct brio_share){.bytes = r == 7 ? 7000 : 1000, .lo = at};
        s[r].hi = at += s[r].bytes;
    }
    brio_order_by_data(s, 8, by_data);
    CHECK(by_data[0] == 7 && by_data[7] == 0, "%d first, %d last", by_data[0], by_data[7]);
    struct brio_extent e = {.nranks = 8, .hi = at, .owners = 2, .servers = 1};
    e.ordered = BRIO_ORDER_DATA;
    e.shares = s;
    e.order = by_data;
    e.crew_of = one_node;
    e.ncrews = 1;
    int n = brio_groups(&e, owners);
    CHECK(n == 2, "%d groups", n);
    for (int a = 0; a < n; a++) {
        brio_off sum = 0;
        for (int i = owners[a].first; i <= owners[a].last; i++)
            sum += s[by_data[i]].bytes;
        CHECK(sum == 7000, "group %d has %lld bytes of 14000", a, (long long)sum);
    }
}

/* A Cartesian communicator's rows stay together if that costs no evenness. */
static void groups_end_with_rows(void)
{
    static struct brio_owner owners[12];
    struct brio_share s[12];
    int ranks[12], one_node[12] = {0};
    for (int r = 0; r < 12; r++) {
        ranks[r] = r;
        s[r] = (struct brio_share){.bytes = 100 + r % 3, .lo = 0, .hi = 12000};
    }
    struct brio_extent e = {.nranks = 12, .hi = 12000, .owners = 3, .servers = 1};
    e.ordered = BRIO_ORDER_RANKS;
    e.shares = s;
    e.order = ranks;
    e.crew_of = one_node;
    e.ncrews = 1;
    e.row = 4;
    int n = brio_groups(&e, owners);
    CHECK(n == 3, "%d groups", n);
    for (int a = 0; a < n; a++)
        CHECK(owners[a].first == 4 * a && owners[a].last == 4 * a + 3, "group %d: %d to %d", a,
              owners[a].first, owners[a].last);
}

static const struct test_case cases[] = {
    TEST(windows_hold_the_data),     TEST(owners_are_spread_over_nodes),
    TEST(groups_are_even_in_bytes),  TEST(groups_end_with_rows),
    TEST(windows_of_a_large_file),   TEST(shares_of_a_window),
    TEST(makers_share_out_the_file), TEST(numbers_of_owners),
    TEST(a_server_has_one_owner),    {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
