/* By `rep movsb', where the processor is good at it. */
#include "type/stream.h"

#include <string.h>

enum {
    LINE = BRIO_LINE,
    DESK = 16 << 10, /* half of a first cache */
    SHORT = 4096     /* longer pieces are better not put together first */
};

#if defined(__x86_64__)
#include <cpuid.h>

static bool is_able(void)
{
    static _Atomic int known = -1;
    if (known < 0) {
        const unsigned enhanced = 1u << 9; /* of these instructions */
        unsigned a, b = 0, c, d;
        known = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & enhanced;
    }
    return known;
}

/* Whole cache lines, `to` at the beginning of one. */
static void copy_lines(char *to, const char *from, size_t n)
{
    if (is_able())
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    else
        memcpy(to, from, n);
}

#else

static void copy_lines(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}

#endif

void brio_stream(void *to, const void *from, size_t n)
{
    size_t head = (size_t)(-(uintptr_t)to % LINE);
    if (head > n)
        head = n;
    size_t body = (n - head) / LINE * LINE, tail = n - head - body;
    memcpy(to, from, head);
    copy_lines((char *)to + head, (const char *)from + head, body);
    memcpy((char *)to + head + body, (const char *)from + head + body, tail);
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
    return !map->contiguous && map->size / brio_max(1, map->npieces) <= SHORT;
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
        brio_stream(to, desk + aside, (size_t)n);
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
        brio_stream(pass(&put, to, n), pass(&get, from, n), (size_t)n);
    }
}
