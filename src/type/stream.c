/* By `rep movsb', where the processor is good at it, and by stores that go to memory. */
#include "type/stream.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <emmintrin.h>

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
static void pass_lines(char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i += sizeof(__m128i))
        _mm_stream_si128((void *)(to + i), _mm_loadu_si128((const void *)(from + i)));
    _mm_sfence();
}

/* Likewise. */
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

static void pass_lines(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}

#endif

/* `lines` copies what is whole lines of them. */
static inline void copy(char *to, const char *from, size_t n,
                        void (*lines)(char *, const char *, size_t))
{
    size_t head = (size_t)(-(uintptr_t)to % BRIO_LINE);
    if (head > n)
        head = n;
    size_t body = (n - head) / BRIO_LINE * BRIO_LINE, tail = n - head - body;
    memcpy(to, from, head);
    lines(to + head, from + head, body);
    memcpy(to + head + body, from + head + body, tail);
}

void brio_stream(void *to, const void *from, size_t n)
{
    copy(to, from, n, copy_lines);
}

void brio_stream_past(void *to, const void *from, size_t n)
{
    copy(to, from, n, pass_lines);
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

static inline void copy_pieces(void *to, struct brio_cursor *dst, const void *from,
                               struct brio_cursor *src, brio_off bytes,
                               void (*one)(void *, const void *, size_t))
{
    struct side put = {.cursor = dst}, get = {.cursor = src};
    for (brio_off n; bytes > 0; bytes -= n) {
        n = brio_min(piece(&put, bytes), piece(&get, bytes));
        one(pass(&put, to, n), pass(&get, from, n), (size_t)n);
    }
}

void brio_stream_copy(void *to, struct brio_cursor *dst, const void *from,
                      struct brio_cursor *src, brio_off bytes)
{
    copy_pieces(to, dst, from, src, bytes, brio_stream);
}

void brio_stream_copy_past(void *to, struct brio_cursor *dst, const void *from,
                           struct brio_cursor *src, brio_off bytes)
{
    copy_pieces(to, dst, from, src, bytes, brio_stream_past);
}
