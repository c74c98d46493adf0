/* Copies past the caches: every byte at its place, and none beside them changed. Between any
 * two patterns: in map.c. */
#include "type/stream.h"

#include "check.h"
#include "type/node.h"

enum {
    ROOM = 50000,
    DATA = 40000, /* more than is put together at once */
    FIRST = 100
};

static unsigned char from[6 * ROOM], to[ROOM], want[ROOM];

static void fill(unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)test_random();
}

/* Wherever in a cache line it begins and ends. */
static void lines(void)
{
    fill(from, 512);
    for (int into = 0; into < 64; into++)
        for (int len = 0; len < 300; len++) {
            size_t room = (size_t)len + 128;
            const unsigned char *get = from + (into * 7 + len) % 64;
            for (int past = 0; past < 2; past++) {
                fill(to, room);
                memcpy(want, to, room);
                memcpy(want + into, get, (size_t)len);
                (past ? brio_stream_past : brio_stream)(to + into, get, (size_t)len);
                CHECK(memcmp(to, want, room) == 0, "%d bytes at %d", len, into);
            }
        }
}

/* Pieces of `len` bytes with a few between them. */
static struct brio_map *pieces(int64_t len)
{
    struct brio_node *node;
    struct brio_map *map;
    int64_t count = DATA / len + 2, stride = len + 1 + test_below(4);
    if (brio_node_bytes(len, 0, &node) || brio_node_loop(node, count, stride, &node))
        return NULL;
    return brio_map_new(node, 0, count * stride, &map) ? NULL : map;
}

/* Pieces to one place, wherever it begins, in two steps so that the cursors stop somewhere. */
static void to_one_place(void)
{
    struct brio_map *all;
    REQUIRE(!brio_map_bytes(1, &all), "%s", brio_err_text());
    fill(from, sizeof from);
    for (int i = 0; i < 2000; i++) {
        int64_t len = 1 + test_below(i % 2 ? 9000 : 600), pos = test_below(500);
        int64_t n = DATA - test_below(1000) * test_below(40), first = test_below(n + 1);
        unsigned char *place = to + test_below(64);
        struct brio_map *map = pieces(len);
        struct brio_cursor src, dst;
        REQUIRE(map, "%s", brio_err_text());
        brio_cursor_init(&src, map, pos);
        brio_cursor_init(&dst, all, FIRST);
        fill(to, ROOM);
        memcpy(want, to, ROOM);
        for (int64_t k = 0; k < n; k++)
            want[place - to + FIRST + k] = from[brio_map_offset(map, pos + k)];
        brio_copier *copy = test_below(2) ? brio_stream_copy : brio_stream_copy_past;
        copy(place, &dst, from, &src, first);
        copy(place, &dst, from, &src, n - first);
        CHECK(memcmp(to, want, ROOM) == 0, "%ld bytes in pieces of %ld", (long)n, (long)len);
        CHECK(src.pos == pos + n && dst.pos == FIRST + n, "cursors stopped elsewhere");
        brio_map_unref(map);
    }
    brio_map_unref(all);
}

static const struct test_case cases[] = {TEST(lines), TEST(to_one_place), {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
