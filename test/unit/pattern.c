/* Cutting, sending and uniting patterns, against bitmaps of the bytes they touch. */
#include "check.h"

#include "type/cut.h"
#include "type/merge.h"
#include "type/wire.h"

enum {
    REACH = 1 << 14, /* offsets stay below */
    PATTERNS = 6
};

/* A random rising pattern, built level by level: what was built so far is repeated, or set
 * beside something else. */
static struct brio_node *grow(int depth, int64_t *end)
{
    struct brio_node *node = NULL;
    if (depth == 0 || test_below(5) == 0) {
        int64_t len = 1 + test_below(9);
        CHECK(!brio_node_bytes(len, 0, &node), "%s", brio_err_text());
        *end = len;
        return node;
    }
    if (test_below(3)) {
        int64_t width, count = 1 + test_below(7);
        struct brio_node *child = grow(depth - 1, &width);
        int64_t stride = width + (test_below(3) ? test_below(12) : 0);
        CHECK(!brio_node_loop(child, count, stride, &node), "%s", brio_err_text());
        *end = (count - 1) * stride + width;
        return node;
    }
    struct brio_node *kids[8];
    int64_t off[8], at = 0;
    size_t n = 1 + (size_t)test_below(8);
    bool plain = test_below(2);
    for (size_t i = 0; i < n; i++) {
        int64_t width;
        kids[i] = grow(plain ? 0 : depth - 1, &width);
        off[i] = at + (test_below(2) ? test_below(20) : 0);
        at = off[i] + width;
    }
    CHECK(!brio_node_list(n, kids, off, &node), "%s", brio_err_text());
    *end = at;
    return node;
}

static struct brio_map *random_map(void)
{
    for (;;) {
        int64_t end;
        struct brio_map *map;
        struct brio_node *node = grow((int)test_below(4), &end);
        if (end > REACH / 8) {
            brio_node_unref(node);
            continue;
        }
        if (brio_map_new(node, 0, end + (test_below(2) ? test_below(16) : 0), &map))
            CHECK(0, "%s", brio_err_text());
        return map;
    }
}

/* The offset of every data byte, in order, through the cursor. */
static int64_t list_bytes(const struct brio_map *map, int64_t pos, int64_t n, int64_t *off)
{
    struct brio_cursor c;
    int64_t done = 0;
    brio_cursor_init(&c, map, pos);
    while (done < n) {
        struct brio_run run;
        brio_cursor_next(&c, n - done, &run);
        for (int64_t i = 0; i < run.count; i++)
            for (int64_t k = 0; k < run.len; k++)
                off[done++] = run.off + i * run.stride + k;
    }
    return done;
}

static int64_t want[REACH * 4], got[REACH * 4];

static bool same_bytes(const struct brio_map *map, const int64_t *bytes, int64_t n)
{
    if (map->size != n)
        return false;
    list_bytes(map, 0, n, got);
    return memcmp(bytes, got, (size_t)n * sizeof *got) == 0;
}

static void cuts(void)
{
    for (int i = 0; i < 100000 && !test_failed; i++) {
        struct brio_map *map = random_map(), *cut;
        int64_t base = test_below(1000), pos = test_below(3 * map->size);
        int64_t n = test_below(2 * map->size);
        list_bytes(map, pos, n, want);
        for (int64_t k = 0; k < n; k++)
            want[k] += base;
        REQUIRE(!brio_map_cut(map, base, pos, n, &cut), "%s", brio_err_text());
        CHECK(same_bytes(cut, want, n), "cut of %lld at %lld", (long long)n, (long long)pos);
        CHECK(n == 0 || cut->monotone, "a cut of a rising map rises");
        int64_t off = test_below(REACH), below = 0;
        while (below < n && want[below] < off)
            below++;
        CHECK(brio_cut_below(cut, off) == below, "%lld below %lld, not %lld",
              (long long)brio_cut_below(cut, off), (long long)off, (long long)below);
        brio_map_unref(cut);
        brio_map_unref(map);
    }
}

static void wires(void)
{
    static int64_t words[REACH * 8];
    for (int i = 0; i < 50000 && !test_failed; i++) {
        struct brio_map *map = random_map(), *back;
        size_t n = brio_wire_size(map), used = 0;
        CHECK(brio_wire_put(map, words) == words + n, "size %zu", n);
        REQUIRE(!brio_wire_get(words, n, &used, &back), "%s", brio_err_text());
        list_bytes(map, 0, 2 * map->size, want);
        list_bytes(back, 0, 2 * map->size, got);
        CHECK(used == n && map->size == back->size && map->extent == back->extent &&
                  memcmp(want, got, 2 * (size_t)map->size * sizeof *got) == 0,
              "another map came back");
        CHECK(n <= 1 || brio_wire_get(words, n - 1, &used, &back) != BRIO_OK,
              "a truncated map is taken for whole");
        brio_map_unref(back);
        brio_map_unref(map);
    }
}

/* One case: n patterns, many of them alike but for a shift, as ranks of one program are. */
static void unite(struct brio_map **maps, int n)
{
    static char touched[REACH * 4];
    struct brio_map *all;
    int64_t count = 0;
    memset(touched, 0, sizeof touched);
    for (int i = 0; i < n; i++) {
        list_bytes(maps[i], 0, maps[i]->size, got);
        for (int64_t k = 0; k < maps[i]->size; k++)
            touched[got[k]] = 1;
    }
    for (int64_t k = 0; k < (int64_t)sizeof touched; k++)
        if (touched[k])
            want[count++] = k;
    REQUIRE(!brio_merge((size_t)n, maps, 1 << 20, &all), "%s", brio_err_text());
    CHECK(same_bytes(all, want, count), "a union of %d with %lld bytes, not %lld", n,
          (long long)all->size, (long long)count);
    CHECK(all->monotone, "a union rises");
    brio_map_unref(all);
}

static void unions(void)
{
    for (int i = 0; i < 30000 && !test_failed; i++) {
        struct brio_map *maps[PATTERNS], *map = random_map();
        int n = 1 + (int)test_below(PATTERNS);
        for (int k = 0; k < n; k++) {
            int64_t pos = test_below(4) ? 0 : test_below(map->size);
            int64_t bytes = test_below(4) ? 2 * map->size : test_below(2 * map->size + 1);
            if (test_below(4) == 0) {
                brio_map_unref(map);
                map = random_map();
                pos = 0;
                bytes = map->size;
            }
            int64_t base = test_below(3) ? k * map->hi : test_below(2 * map->extent);
            REQUIRE(!brio_map_cut(map, base, pos, bytes, &maps[k]), "%s", brio_err_text());
        }
        unite(maps, n);
        for (int k = 0; k < n; k++)
            brio_map_unref(maps[k]);
        brio_map_unref(map);
    }
}

/* Block-cyclic data of n ranks with blocks of `block` bytes: a union without pieces. */
static struct brio_map *cyclic(int64_t rank, int64_t n, int64_t block, int64_t count)
{
    struct brio_node *node, *loop, *at;
    struct brio_map *map;
    if (brio_node_bytes(block, 0, &node) || brio_node_loop(node, count, n * block, &loop) ||
        brio_node_list(1, &loop, &(brio_off){rank * block}, &at) ||
        brio_map_new(at, 0, count * n * block, &map))
        CHECK(0, "%s", brio_err_text());
    return map;
}

static void cyclic_is_one_piece(void)
{
    struct brio_map *maps[16], *all;
    for (int r = 0; r < 16; r++)
        maps[r] = cyclic(r, 16, 4, 1 << 24);
    REQUIRE(!brio_merge(16, maps, 100, &all), "%s", brio_err_text());
    CHECK(all->npieces == 1 && all->size == (int64_t)16 * 4 << 24, "%lld pieces",
          (long long)all->npieces);
    brio_map_unref(all);
    REQUIRE(!brio_merge(15, maps, 100, &all), "%s", brio_err_text());
    CHECK(all->nnodes < 10 && all->size == (int64_t)15 * 4 << 24, "%zu nodes", all->nnodes);
    brio_map_unref(all);
    for (int r = 0; r < 16; r++)
        brio_map_unref(maps[r]);
}

/* Rows of a block of a three-dimensional array of n^3 items that are dealt out in blocks. */
static struct brio_map *regular(int64_t n)
{
    struct brio_node *node;
    struct brio_map *map = NULL;
    CHECK(!brio_node_bytes(4, 0, &node) && !brio_node_loop(node, n, 4 * 3, &node) &&
              !brio_node_loop(node, n, 4 * 3 * n * 2, &node) &&
              !brio_node_loop(node, n, 4 * 3 * n * n * 4, &node) &&
              !brio_map_new(node, 0, 4 * 3 * n * n * n * 4, &map),
          "%s", brio_err_text());
    return map;
}

/* Paper 002: sixteen tuples tell any part of a regular distribution, whatever its size. */
static void regular_patterns_are_short(void)
{
    for (int64_t n = 10; n <= 100000; n *= 10) {
        struct brio_map *map = regular(n), *cut;
        REQUIRE(map, "no map");
        for (int i = 0; i < 2000; i++) {
            int64_t items = map->size / 4, at = test_below(items);
            int64_t bytes = 4 * (1 + test_below(items - at));
            REQUIRE(!brio_map_cut(map, 0, 4 * at, bytes, &cut), "%s", brio_err_text());
            CHECK(cut->nnodes <= 16, "%zu tuples for %lld bytes of %lld", cut->nnodes,
                  (long long)bytes, (long long)map->size);
            brio_map_unref(cut);
        }
        brio_map_unref(map);
    }
}

static const struct test_case cases[] = {TEST(cuts),
                                         TEST(wires),
                                         TEST(unions),
                                         TEST(cyclic_is_one_piece),
                                         TEST(regular_patterns_are_short),
                                         {0}};

int main(int argc, char **argv)
{
    printf("seed %llu\n", (unsigned long long)test_seed());
    return test_main(argc, argv, cases);
}
