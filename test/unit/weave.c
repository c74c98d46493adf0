/* Strands that interleave, or do not: every byte at its place, and none beside them changed, as
 * if they were moved one by one, byte by byte. */
#include "type/weave.h"

#include "check.h"
#include "type/node.h"

enum {
    ROOM = 20000,
    MOST = 11 /* strands */
};

static unsigned char file[ROOM], want_file[ROOM];
static unsigned char flat[MOST][ROOM], want_flat[MOST][ROOM];

static void fill(unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)test_random();
}

/* How the strands lie: `n` places of `len` bytes in a turn of `stride`, `rows` times so many
 * turns, a gap after each row. */
struct cloth {
    int n;
    int64_t len, stride, turns, rows, gap;
};

static struct cloth random_cloth(void)
{
    struct cloth c = {.n = 1 + (int)test_below(MOST)};
    c.len = test_below(4) ? 1 + test_below(140) : (int64_t)1 << test_below(8);
    c.stride = c.n * c.len + (test_below(3) ? 0 : test_below(30));
    c.rows = 1 + (test_below(2) ? 0 : test_below(4));
    c.turns = 1 + test_below(ROOM / (c.rows * c.stride) - 1);
    c.gap = test_below(c.stride);
    return c;
}

/* The strand at the i-th place; one in six is of another kind. */
static struct brio_map *strand_map(const struct cloth *c, int i)
{
    struct brio_node *node, *placed;
    struct brio_map *map;
    int64_t len = test_below(6) ? c->len : 1 + test_below(c->len), at = i * c->len;
    int64_t row = c->turns * c->stride + c->gap;
    if (brio_node_bytes(len, 0, &node) || brio_node_loop(node, c->turns, c->stride, &node) ||
        brio_node_loop(node, c->rows, row, &node) || brio_node_list(1, &node, &at, &placed))
        return NULL;
    return brio_map_new(placed, 0, c->rows * row, &map) ? NULL : map;
}

/* Any part of its data, as the beginning of a window cuts it. */
static struct brio_strand random_strand(const struct brio_map *map, int i)
{
    int64_t pos = test_below(3) ? test_below(map->size / 8 + 1) : 0;
    int64_t bytes = map->size - pos;
    if (test_below(2))
        bytes -= test_below(bytes / 8 + 1);
    return (struct brio_strand){map, pos, bytes, (char *)flat[i] + test_below(64)};
}

static void one_by_one(const struct brio_strand *s, int i, enum brio_dir dir)
{
    size_t at = (size_t)((unsigned char *)s->flat - flat[i]);
    for (int64_t k = 0; k < s->bytes; k++) {
        int64_t off = brio_map_offset(s->map, s->pos + k);
        if (dir == BRIO_WRITE)
            want_file[off] = flat[i][at + (size_t)k];
        else
            want_flat[i][at + (size_t)k] = file[off];
    }
}

static void weave_once(enum brio_dir dir)
{
    struct cloth c = random_cloth();
    struct brio_map *map[MOST];
    struct brio_strand strands[MOST];
    size_t used = (size_t)(c.rows * (c.turns * c.stride + c.gap)) + 200;
    size_t each = used < ROOM ? used : ROOM;
    int first = (int)test_below(c.n); /* neighbours need not begin with the first */
    fill(file, each);
    memcpy(want_file, file, each);
    for (int i = 0; i < c.n; i++) {
        map[i] = strand_map(&c, (i + first) % c.n);
        REQUIRE(map[i], "%s", brio_err_text());
        fill(flat[i], each);
        memcpy(want_flat[i], flat[i], each);
        strands[i] = random_strand(map[i], i);
    }
    for (int i = 0; i < c.n; i++)
        one_by_one(&strands[i], i, dir);
    brio_weave(file, strands, c.n, dir);
    CHECK(memcmp(file, want_file, each) == 0, "%d strands of %ld bytes by %ld", c.n,
          (long)c.len, (long)c.stride);
    for (int i = 0; i < c.n; i++) {
        CHECK(memcmp(flat[i], want_flat[i], each) == 0, "strand %d of %d, %ld bytes by %ld", i,
              c.n, (long)c.len, (long)c.stride);
        brio_map_unref(map[i]);
    }
}

static void written(void)
{
    for (int i = 0; i < 3000; i++)
        weave_once(BRIO_WRITE);
}

static void read_back(void)
{
    for (int i = 0; i < 3000; i++)
        weave_once(BRIO_READ);
}

static const struct test_case cases[] = {TEST(written), TEST(read_back), {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
