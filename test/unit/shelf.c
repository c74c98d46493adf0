/* Plans kept for later: ranks that each know only their own bytes agree on one that was made
 * for what all of them access, or on none; and of accesses by turns all are found in the end.
 */
#include "fcoll/shelf.h"

#include "check.h"
#include "type/node.h"

enum {
    RANKS = 5,
    MAPS = 3,
    MOST = 6 /* accesses that take turns */
};

static struct brio_map *map[MAPS];
static struct brio_shelf shelf[RANKS];
static int64_t made[RANKS][BRIO_SHELF_PLANS]; /* what each plan was made for, by place */

/* What all ranks do: of each, a pattern and bytes, which may be none. */
struct turn {
    enum brio_dir dir;
    int which[RANKS];
    int64_t bytes[RANKS];
};

static void begin(void)
{
    struct brio_node *node;
    memset(shelf, 0, sizeof shelf);
    for (int i = 0; i < MAPS && !map[i]; i++)
        REQUIRE(!brio_node_bytes(i + 1, 0, &node) && !brio_map_new(node, 0, 10, &map[i]),
                "no map");
}

static struct turn random_turn(void)
{
    struct turn t = {.dir = test_below(2) ? BRIO_READ : BRIO_WRITE};
    for (int r = 0; r < RANKS; r++) {
        t.which[r] = (int)test_below(MAPS);
        t.bytes[r] = test_below(2) ? 0 : 6 * (1 + test_below(2));
    }
    t.bytes[0] = 6 * (1 + test_below(2)); /* else there is nothing to agree on */
    return t;
}

static struct brio_io io_of(const struct turn *t, int r, int64_t tiles)
{
    const struct brio_map *m = map[t->which[r]];
    return (struct brio_io){.dir = t->dir,
                            .file = m,
                            .pos = t->bytes[r] > 0 ? tiles * m->size : 0,
                            .bytes = t->bytes[r]};
}

static int64_t key_of(const struct turn *t, int r)
{
    return t->bytes[r] == 0 ? t->dir : (t->bytes[r] * MAPS + t->which[r]) * 2 + t->dir;
}

static void keep(const struct turn *t, int64_t tiles)
{
    for (int r = 0; r < RANKS; r++) {
        struct brio_io io = io_of(t, r, tiles);
        struct brio_kept *kept = brio_shelf_keep(&shelf[r], &io, NULL);
        CHECK(kept == brio_shelf_get(&shelf[r], shelf[r].last_id), "it is not there");
        made[r][kept - shelf[r].kept] = key_of(t, r);
    }
}

/* True if a plan was found. */
static bool take(const struct turn *t, int64_t tiles)
{
    int64_t oldest = 0, newest = INT64_MAX, shift[RANKS];
    for (int r = 0; r < RANKS; r++) {
        struct brio_io io = io_of(t, r, tiles);
        int64_t since = 0;
        struct brio_kept *kept = brio_shelf_find(&shelf[r], &io, &since);
        CHECK(!kept || (since > 0 && since <= kept->id), "from %ld on", (long)since);
        oldest = brio_max(oldest, since);
        newest = brio_min(newest, kept ? kept->id : 0);
        shift[r] = kept && io.bytes > 0 ? brio_shelf_shift(&io, kept) : -1;
    }
    if (oldest == 0 || oldest > newest) {
        keep(t, tiles);
        return false;
    }
    for (int r = 0; r < RANKS; r++) {
        struct brio_io io = io_of(t, r, tiles);
        struct brio_kept *kept = brio_shelf_get(&shelf[r], newest);
        CHECK(kept->id == newest, "plan %ld is not there", (long)newest);
        CHECK(made[r][kept - shelf[r].kept] == key_of(t, r), "rank %d: a plan for another", r);
        CHECK(shift[r] < 0 || shift[r] == brio_shelf_shift(&io, kept), "rank %d: shifted", r);
    }
    return true;
}

static void any_order(void)
{
    for (int i = 0; i < 2000; i++) {
        struct turn t[MOST];
        begin();
        for (int k = 0; k < MOST; k++)
            t[k] = random_turn();
        for (int n = 0; n < 100; n++)
            take(&t[test_below(MOST)], test_below(3));
    }
}

/* The last turn in which a plan was made. */
static int go_round(const struct turn *t, int kinds)
{
    int last = 0;
    begin();
    for (int n = 0; n < 40 * kinds; n++)
        if (!take(&t[n % kinds], 0))
            last = n;
    return last;
}

/* Whatever a rank takes one for the other. */
static void two_by_turns(void)
{
    for (int i = 0; i < 5000; i++) {
        const struct turn t[] = {random_turn(), random_turn()};
        int last = go_round(t, 2);
        CHECK(last < 4 * 2, "a plan was made in turn %d", last);
    }
}

/* Some ranks never have any bytes, the others never the same. */
static void idle_ranks(void)
{
    for (int i = 0; i < 2000; i++) {
        struct turn t[MOST];
        bool idle[RANKS];
        int kinds = 1 + (int)test_below(MOST);
        for (int r = 0; r < RANKS; r++)
            idle[r] = r > 0 && test_below(2);
        for (int k = 0; k < kinds; k++) {
            t[k] = random_turn();
            for (int r = 0; r < RANKS; r++)
                t[k].bytes[r] = idle[r] ? 0 : 6 * (k + 1);
        }
        int last = go_round(t, kinds);
        CHECK(last < kinds, "a plan was made in turn %d of %d kinds", last, kinds);
    }
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        TEST(any_order), TEST(two_by_turns), TEST(idle_ranks), {0}};
    printf("seed %llu\n", (unsigned long long)test_seed());
    return test_main(argc, argv, cases);
}
