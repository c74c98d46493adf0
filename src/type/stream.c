/* Where the processor has no such stores, plain copies. */
#include "type/stream.h"

#include <string.h>

#include "base/cache_lines.h"

enum {
    LINE = BRIO_LINE,
    DESK = 16 << 10, /* half of a first cache */
    SHORT = 4096     /* longer pieces are better not put together first */
};

#ifdef __SSE2__
#include <emmintrin.h>

/* Whole cache lines, `to` at the beginning of one. */
static void stream_lines(char *to, const char *from, size_t n)
{
    for (; n > 0; n -= LINE, to += LINE, from += LINE) {
        __m128i part[4];
        for (int i = 0; i < 4; i++)
            part[i] = _mm_loadu_si128((const __m128i *)(const void *)from + i);
        for (int i = 0; i < 4; i++)
            _mm_stream_si128((__m128i *)(void *)to + i, part[i]);
    }
}

/* What is no whole cache line of `to` goes the usual way. */
static void stream(char *to, const char *from, size_t n)
{
    size_t head = (size_t)(-(uintptr_t)to % LINE);
    if (head > n)
        head = n;
    size_t body = (n - head) / LINE * LINE, tail = n - head - body;
    memcpy(to, from, head);
    stream_lines(to + head, from + head, body);
    memcpy(to + head + body, from + head + body, tail);
}

/* Such stores are seen by others in no order, unless this is between them. */
static void settle(void)
{
    _mm_sfence();
}

#else

static void stream(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}

static void settle(void)
{
}

#endif

void brio_stream(void *to, const void *from, size_t n)
{
    stream(to, from, n);
    settle();
}

/* One side of a copy: what its cursor gave last, and how much of the first piece is done. */
struct side {
    struct brio_cursor *cursor;
    struct brio_run run;
    brio_off into;
};

static brio_off piece(struct side *side, brio_off left)
{
    if (side->run.count == 0)
        brio_cursor_next(side->cursor, left, &side->run);
    return side->run.len - side->into;
}

static char *pass(struct side *side, const void *base, brio_off n)
{
    char *at = (char *)((uintptr_t)base + (uintptr_t)(side->run.off + side->into));
    side->into += n;
    if (side->into == side->run.len) {
        side->into = 0;
        side->run.off += --side->run.count > 0 ? side->run.stride : 0;
    }
    return at;
}

static bool is_of_short_pieces(const struct brio_map *map)
{
    return map->size / brio_max(1, map->npieces) <= SHORT;
}

/* Many pieces to one place are put together in the first cache, so that the lines in which one
 * ends and the next begins leave it whole, too. */
static void gather(char *to, const struct brio_map *map, const void *from, brio_off pos,
                   brio_off bytes)
{
    _Alignas(LINE) char desk[DESK];
    size_t aside = (uintptr_t)to % LINE;
    for (brio_off n; bytes > 0; bytes -= n, pos += n, to += n, aside = 0) {
        n = brio_min(bytes, (brio_off)(DESK - aside));
        brio_pack(desk + aside, map, from, pos, n);
        stream(to, desk + aside, (size_t)n);
    }
}

void brio_stream_copy(void *to, struct brio_cursor *dst, const void *from,
                      struct brio_cursor *src, brio_off bytes)
{
    struct side put = {.cursor = dst}, get = {.cursor = src};
    if (dst->map->contiguous && is_of_short_pieces(src->map)) {
        gather((char *)((uintptr_t)to + (uintptr_t)dst->pos), src->map, from, src->pos, bytes);
        brio_cursor_init(dst, dst->map, dst->pos + bytes);
        brio_cursor_init(src, src->map, src->pos + bytes);
        bytes = 0;
    }
    for (brio_off n; bytes > 0; bytes -= n) {
        n = brio_min(piece(&put, bytes), piece(&get, bytes));
        stream(pass(&put, to, n), pass(&get, from, n), (size_t)n);
    }
    settle();
}
