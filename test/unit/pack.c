/* Copy kernels: every byte at its place, and none beside them changed. */
#include "type/pack.h"

#include "check.h"
#include "type/node.h"

enum {
    ROOM = 64 << 10
};

static unsigned char from[ROOM], to[ROOM], want[ROOM], flat[ROOM], flat_want[ROOM];

/* `count` pieces of `len` bytes. */
static struct brio_map *row(int64_t len, int64_t count, int64_t stride)
{
    struct brio_node *node;
    struct brio_map *map;
    if (brio_node_bytes(len, 0, &node) || brio_node_loop(node, count, stride, &node))
        return NULL;
    return brio_map_new(node, 0, count * stride, &map) ? NULL : map;
}

/* Kernels of every length with every mix of lengths on the two sides. */
static void kernels(void)
{
    for (int len = 1; len <= 40; len++)
        for (int other = 1; other <= 40; other++) {
            int64_t n = 3 * len * other;
            struct brio_map *a = row(len, n / len, len + 5);
            struct brio_map *b = row(other, n / other, other + other % 3);
            struct brio_cursor src, dst;
            REQUIRE(a && b, "%s", brio_err_text());
            brio_cursor_init(&src, a, 0);
            brio_cursor_init(&dst, b, 0);
            brio_copy(to, &dst, from, &src, n);
            for (int64_t i = 0; i < n; i++)
                CHECK(to[brio_map_offset(b, i)] == from[brio_map_offset(a, i)],
                      "%d to %d: byte %ld", len, other, (long)i);
            brio_cursor_init(&src, b, 0);
            brio_cursor_init(&dst, a, 0);
            brio_copy(want, &dst, to, &src, n);
            for (int64_t i = 0; i < n; i++)
                CHECK(want[brio_map_offset(a, i)] == from[brio_map_offset(a, i)],
                      "%d back to %d: byte %ld", other, len, (long)i);
            brio_pack(flat_want, a, from, 0, n);
            brio_pack(flat, b, to, 0, n);
            CHECK(memcmp(flat, flat_want, (size_t)n) == 0, "%d to %d: packed", len, other);
            brio_map_unref(a);
            brio_map_unref(b);
        }
}

/* Pieces of some cache lines, of which the next ones are fetched ahead, up to the last. */
static void long_pieces(void)
{
    for (int64_t len = 33; len <= 1100; len += 1 + len / 16)
        for (int64_t count = 1; count <= 40; count += 3) {
            int64_t stride = len + len / 3;
            struct brio_map *map = row(len, count, stride);
            REQUIRE(map, "%s", brio_err_text());
            memset(to, 0, sizeof to);
            memset(want, 0, sizeof want);
            for (int64_t i = 0; i < count; i++) {
                memcpy(flat_want + i * len, from + i * stride, (size_t)len);
                memcpy(want + i * stride, from + i * stride, (size_t)len);
            }
            brio_pack(flat, map, from, 0, len * count);
            CHECK(memcmp(flat, flat_want, (size_t)(len * count)) == 0, "%ld x %ld: packed",
                  (long)count, (long)len);
            brio_unpack(to, map, flat, 0, len * count);
            CHECK(memcmp(to, want, sizeof to) == 0, "%ld x %ld: unpacked", (long)count,
                  (long)len);
            brio_map_unref(map);
        }
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {TEST(kernels), TEST(long_pieces), {0}};
    printf("seed %llu\n", (unsigned long long)test_seed());
    for (size_t i = 0; i < ROOM; i++)
        from[i] = (unsigned char)test_random();
    return test_main(argc, argv, cases);
}
