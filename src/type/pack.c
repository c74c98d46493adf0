/* Copy kernels. The length of a piece is a constant in each hot loop, so that the compiler
 * makes it a load and a store. Addresses are computed as integers: with absolute
 * displacements the base is a null pointer. */
#include "type/pack.h"

#include <string.h>

#include "type/bundle.h"

enum {
    AHEAD = 1024 /* bytes that are fetched before they are copied */
};

static inline char *at(const void *base, brio_off off)
{
    return (char *)((uintptr_t)base + (uintptr_t)off);
}

/* `count` pieces of `len` bytes, each side with its own stride. Several at a time: a loop of a
 * few instructions takes half as long again where the linker happens to put it across two lines
 * of code. */
static inline __attribute__((always_inline)) void move_pieces(char *to, brio_off to_stride,
                                                              const char *from,
                                                              brio_off from_stride,
                                                              brio_off count, size_t len)
{
#pragma GCC unroll 4
    for (brio_off i = 0; i < count; i++) {
        __builtin_memcpy(to, from, len);
        to = at(to, to_stride);
        from = at(from, from_stride);
    }
}

/* Pieces of some lines, with gaps between them: the processor does not see the next one coming
 * (1/8 of the pieces of 256 bytes in memory that another core has just filled: 16.0 ms for 64
 * MiB, 14.5 with those fetched that come 1 KiB later). */
static void move_apart(char *to, brio_off to_stride, const char *from, brio_off from_stride,
                       brio_off count, brio_off len)
{
    const brio_off ahead = 1 + AHEAD / len;
    for (brio_off i = 0; i < count; i++) {
        for (brio_off k = 0; i + ahead < count && k < len; k += BRIO_LINE)
            __builtin_prefetch(at(from, ahead * from_stride + k));
        memcpy(to, from, (size_t)len);
        to = at(to, to_stride);
        from = at(from, from_stride);
    }
}

static void move(char *to, brio_off to_stride, const char *from, const struct brio_run *run)
{
    brio_off s = run->stride, n = run->count;
    if (n == 1) {
        memcpy(to, from, (size_t)run->len);
        return;
    }
    switch (run->len) {
    case 1:
        move_pieces(to, to_stride, from, s, n, 1);
        return;
    case 2:
        move_pieces(to, to_stride, from, s, n, 2);
        return;
    case 4:
        move_pieces(to, to_stride, from, s, n, 4);
        return;
    case 8:
        move_pieces(to, to_stride, from, s, n, 8);
        return;
    case 12:
        move_pieces(to, to_stride, from, s, n, 12);
        return;
    case 16:
        move_pieces(to, to_stride, from, s, n, 16);
        return;
    case 24:
        move_pieces(to, to_stride, from, s, n, 24);
        return;
    case 32:
        move_pieces(to, to_stride, from, s, n, 32);
        return;
    default:
        if (run->len >= BRIO_LINE && run->len <= AHEAD && s > run->len)
            move_apart(to, to_stride, from, s, n, run->len);
        else
            move_pieces(to, to_stride, from, s, n, (size_t)run->len);
    }
}

void brio_gather_run(void *contig, const void *base, const struct brio_run *run)
{
    move(contig, run->len, at(base, run->off), run);
}

void brio_scatter_run(void *base, const void *contig, const struct brio_run *run)
{
    /* Seen from the contiguous side: `run` with the strides exchanged. */
    struct brio_run flat = {.len = run->len, .stride = run->len, .count = run->count};
    move(at(base, run->off), run->stride, contig, &flat);
}

/* Data bytes [pos, pos+bytes), run by run. */
static void gather(char *to, const struct brio_map *map, const void *base, brio_off pos,
                   brio_off bytes)
{
    struct brio_cursor c;
    struct brio_run run;
    brio_cursor_init(&c, map, pos);
    for (brio_off done; bytes > 0; bytes -= done, to += done) {
        brio_cursor_next(&c, bytes, &run);
        brio_gather_run(to, base, &run);
        done = run.len * run.count;
    }
}

static void scatter(void *base, const struct brio_map *map, const char *from, brio_off pos,
                    brio_off bytes)
{
    struct brio_cursor c;
    struct brio_run run;
    brio_cursor_init(&c, map, pos);
    for (brio_off done; bytes > 0; bytes -= done, from += done) {
        brio_cursor_next(&c, bytes, &run);
        brio_scatter_run(base, from, &run);
        done = run.len * run.count;
    }
}

/* All whole turns of a bundle, some at a time so that they stay in the first cache. */
static void move_bundle(char *contig, const struct brio_bundle *b, char *base,
                        enum brio_dir dir)
{
    enum {
        CACHED = 8192
    };
    brio_off step = brio_max(CACHED / brio_max(b->stride, b->size), 4), n;
    for (brio_off turn = 0; turn < b->turns; turn += n) {
        n = brio_min(step, b->turns - turn);
        for (int i = 0; i < b->npieces; i++) {
            char *flat = contig + turn * b->size + b->start[i];
            char *there = at(base, b->at[i] + turn * b->stride);
            struct brio_run run = {.len = b->len[i], .stride = b->stride, .count = n};
            if (dir == BRIO_WRITE) {
                move(flat, b->size, there, &run);
                continue;
            }
            run.stride = b->size;
            move(there, b->stride, flat, &run);
        }
    }
}

void brio_pack(void *contig, const struct brio_map *map, const void *base, brio_off pos,
               brio_off bytes)
{
    if (bytes <= 0)
        return;
    if (map->contiguous) {
        memcpy(contig, at(base, pos), (size_t)bytes);
        return;
    }
    struct brio_bundle b;
    char *to = contig;
    while (bytes > 0 && brio_bundle_find(map, pos, bytes, &b)) {
        brio_off head = b.pos - pos, body = b.turns * b.size;
        gather(to, map, base, pos, head);
        move_bundle(to + head, &b, (char *)base, BRIO_WRITE);
        to += head + body;
        pos += head + body;
        bytes -= head + body;
    }
    gather(to, map, base, pos, bytes);
}

void brio_unpack(void *base, const struct brio_map *map, const void *contig, brio_off pos,
                 brio_off bytes)
{
    if (bytes <= 0)
        return;
    if (map->contiguous) {
        memcpy(at(base, pos), contig, (size_t)bytes);
        return;
    }
    struct brio_bundle b;
    const char *from = contig;
    /* Where pieces overlap their order counts, and a bundle does not keep it. */
    while (bytes > 0 && map->monotone && brio_bundle_find(map, pos, bytes, &b)) {
        brio_off head = b.pos - pos, body = b.turns * b.size;
        scatter(base, map, from, pos, head);
        move_bundle((char *)from + head, &b, base, BRIO_READ);
        from += head + body;
        pos += head + body;
        bytes -= head + body;
    }
    scatter(base, map, from, pos, bytes);
}

/* Puts the pieces of `src` behind the first `done` bytes of `dst`, which has room. */
static void fill(void *to, const struct brio_run *dst, brio_off done, const void *from,
                 const struct brio_run *src)
{
    brio_off k = done / dst->len, into = done - k * dst->len;
    if (into == 0 && src->len == dst->len) {
        move(at(to, dst->off + k * dst->stride), dst->stride, at(from, src->off), src);
        return;
    }
    brio_off i = 0, past = 0; /* piece of src, and bytes of it already taken */
    while (i < src->count) {
        brio_off room = dst->len - into, have = src->len - past;
        char *d = at(to, dst->off + k * dst->stride + into);
        const char *s = at(from, src->off + i * src->stride + past);
        brio_off moved;
        if (past == 0 && room >= 2 * src->len && src->count - i > 1) {
            /* Several whole pieces into one. */
            struct brio_run part = *src;
            part.count = brio_min(room / src->len, src->count - i);
            move(d, src->len, s, &part);
            moved = part.count * src->len;
        } else if (into == 0 && have >= 2 * dst->len) {
            /* One piece into several whole ones. */
            struct brio_run part = {.len = dst->len, .stride = dst->len};
            part.count = have / dst->len;
            move(d, dst->stride, s, &part);
            moved = part.count * dst->len;
        } else {
            moved = brio_min(room, have);
            memcpy(d, s, (size_t)moved);
        }
        into += moved;
        k += into / dst->len;
        into %= dst->len;
        past += moved;
        i += past / src->len;
        past %= src->len;
    }
}

/* From here on it pays to place a cursor anew after packing. */
enum {
    PACK_WORTH_IT = 4096
};

void brio_copy(void *to, struct brio_cursor *dst, const void *from, struct brio_cursor *src,
               brio_off bytes)
{
    struct brio_run put, get;
    if (bytes >= PACK_WORTH_IT && (dst->map->contiguous || src->map->contiguous)) {
        if (dst->map->contiguous)
            brio_pack(at(to, dst->pos), src->map, from, src->pos, bytes);
        else
            brio_unpack(to, dst->map, at(from, src->pos), dst->pos, bytes);
        brio_cursor_init(dst, dst->map, dst->pos + bytes);
        brio_cursor_init(src, src->map, src->pos + bytes);
        return;
    }
    for (; bytes > 0; bytes -= put.len * put.count) {
        brio_cursor_next(dst, bytes, &put);
        brio_off room = put.len * put.count;
        for (brio_off done = 0; done < room; done += get.len * get.count) {
            brio_cursor_next(src, room - done, &get);
            fill(to, &put, done, from, &get);
        }
    }
}
