/* Neighbours are strands whose pieces lie side by side, at one distance from turn to turn: the
 * elements of a vector that was dealt to ranks. They are found by their runs; what is nobody's
 * neighbour goes by itself. */
#include "type/weave.h"

#include <stdlib.h>
#include <string.h>

#include "type/pack.h"

enum {
    TOGETHER = 4, /* strands */
    WORTH_IT = 16 /* turns */
};

/* Pieces of `len` bytes of some strands, side by side at `row`, again and again. */
struct turns {
    char *row;
    brio_off stride, count;
    char *flat[TOGETHER];
};

/* All but the first argument are constants where it matters, so that a piece is a load and a
 * store. */
static inline __attribute__((always_inline)) void
move_turns(const struct turns *t, enum brio_dir dir, int n, size_t len)
{
    char *row = t->row, *flat[TOGETHER];
    memcpy(flat, t->flat, sizeof flat);
    for (brio_off i = 0; i < t->count; i++, row += t->stride)
#pragma GCC unroll 4
        for (int s = 0; s < n; s++) {
            char *there = row + (size_t)s * len;
            __builtin_memcpy(dir == BRIO_WRITE ? there : flat[s],
                             dir == BRIO_WRITE ? flat[s] : there, len);
            flat[s] += len;
        }
}

static inline __attribute__((always_inline)) void
move_pieces(const struct turns *t, enum brio_dir dir, int n, brio_off len)
{
    switch (len) {
    case 1:
        move_turns(t, dir, n, 1);
        return;
    case 2:
        move_turns(t, dir, n, 2);
        return;
    case 4:
        move_turns(t, dir, n, 4);
        return;
    case 8:
        move_turns(t, dir, n, 8);
        return;
    case 12:
        move_turns(t, dir, n, 12);
        return;
    case 16:
        move_turns(t, dir, n, 16);
        return;
    case 24:
        move_turns(t, dir, n, 24);
        return;
    case 32:
        move_turns(t, dir, n, 32);
        return;
    case 64:
        move_turns(t, dir, n, 64);
        return;
    default:
        move_turns(t, dir, n, (size_t)len);
    }
}

/* Four turns of 4-byte pieces are turned over in the processor's registers: a fifth to a third
 * faster than piece by piece. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#endif
#endif

#ifdef SHUFFLE

typedef uint32_t quad __attribute__((vector_size(16)));

static quad load(const char *at)
{
    quad q;
    memcpy(&q, at, sizeof q);
    return q;
}

static void store(char *at, quad q)
{
    memcpy(at, &q, sizeof q);
}

/* Rows become columns; either way. */
static void turn_over(quad q[4])
{
    quad ac = SHUFFLE(q[0], q[2], 0, 4, 1, 5), bd = SHUFFLE(q[1], q[3], 0, 4, 1, 5);
    quad eg = SHUFFLE(q[0], q[2], 2, 6, 3, 7), fh = SHUFFLE(q[1], q[3], 2, 6, 3, 7);
    q[0] = SHUFFLE(ac, bd, 0, 4, 1, 5);
    q[1] = SHUFFLE(ac, bd, 2, 6, 3, 7);
    q[2] = SHUFFLE(eg, fh, 0, 4, 1, 5);
    q[3] = SHUFFLE(eg, fh, 2, 6, 3, 7);
}

static inline __attribute__((always_inline)) void move_four(const struct turns *t,
                                                            enum brio_dir dir)
{
    char *row = t->row, *flat[4];
    quad q[4];
    memcpy(flat, t->flat, sizeof flat);
    for (brio_off turn = 0; turn + 4 <= t->count; turn += 4, row += 4 * t->stride) {
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            q[i] = load(dir == BRIO_WRITE ? flat[i] : row + i * t->stride);
        turn_over(q);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            store(dir == BRIO_WRITE ? row + i * t->stride : flat[i], q[i]);
            flat[i] += sizeof(quad);
        }
    }
}

/* Two strands with nothing between them. */
static void move_two(const struct turns *t, enum brio_dir dir)
{
    char *row = t->row, *one = t->flat[0], *two = t->flat[1];
    for (brio_off turn = 0; turn + 4 <= t->count; turn += 4) {
        if (dir == BRIO_WRITE) {
            quad a = load(one), b = load(two);
            store(row, SHUFFLE(a, b, 0, 4, 1, 5));
            store(row + sizeof(quad), SHUFFLE(a, b, 2, 6, 3, 7));
        } else {
            quad a = load(row), b = load(row + sizeof(quad));
            store(one, SHUFFLE(a, b, 0, 2, 4, 6));
            store(two, SHUFFLE(a, b, 1, 3, 5, 7));
        }
        row += 2 * sizeof(quad);
        one += sizeof(quad);
        two += sizeof(quad);
    }
}

/* Of turns that this serves, all but the last one to three. */
static void move_quads(struct turns *t, enum brio_dir dir, int n, brio_off len)
{
    if (len != sizeof(uint32_t) || (n == 2 && t->stride != 2 * len))
        return;
    if (n == 2)
        move_two(t, dir);
    else if (dir == BRIO_WRITE)
        move_four(t, BRIO_WRITE);
    else
        move_four(t, BRIO_READ);
    brio_off done = t->count / 4 * 4;
    t->count -= done;
    t->row += done * t->stride;
    for (int i = 0; i < n; i++)
        t->flat[i] += done * len;
}

#else

static void move_quads(struct turns *t, enum brio_dir dir, int n, brio_off len)
{
    (void)t, (void)dir, (void)n, (void)len;
}

#endif

static void move_neighbours(struct turns *t, enum brio_dir dir, int n, brio_off len)
{
    move_quads(t, dir, n, len);
    if (n == 2 && dir == BRIO_WRITE)
        move_pieces(t, BRIO_WRITE, 2, len);
    else if (n == 2)
        move_pieces(t, BRIO_READ, 2, len);
    else if (dir == BRIO_WRITE)
        move_pieces(t, BRIO_WRITE, TOGETHER, len);
    else
        move_pieces(t, BRIO_READ, TOGETHER, len);
}

static void pass(struct brio_strand *s, brio_off bytes)
{
    s->pos += bytes;
    s->flat += bytes;
    s->bytes -= bytes;
}

/* The first pieces of a run by themselves. */
static void move_alone(void *base, struct brio_strand *s, struct brio_run *run, brio_off count,
                       enum brio_dir dir)
{
    struct brio_run first = *run;
    if (count == 0)
        return;
    first.count = count;
    if (dir == BRIO_WRITE)
        brio_scatter_run(base, s->flat, &first);
    else
        brio_gather_run(s->flat, base, &first);
    pass(s, count * run->len);
    run->off += count * run->stride;
    run->count -= count;
}

/* All that is left of a strand. */
static void finish(void *base, struct brio_strand *s, enum brio_dir dir)
{
    if (dir == BRIO_WRITE)
        brio_unpack(base, s->map, s->flat, s->pos, s->bytes);
    else
        brio_pack(s->flat, s->map, base, s->pos, s->bytes);
}

/* The next run of whole pieces; false if it is too short, or there is none. */
static bool next_run(void *base, struct brio_strand *s, struct brio_cursor *c,
                     enum brio_dir dir, struct brio_run *run)
{
    if (s->bytes == 0)
        return false;
    brio_cursor_next(c, s->bytes, run);
    if (run->count == 1 && run->len < s->bytes) { /* the rest of a piece */
        move_alone(base, s, run, 1, dir);
        brio_cursor_next(c, s->bytes, run);
    }
    return run->count >= WORTH_IT && run->stride > 0;
}

/* How many of the runs, the first among them, are neighbours. `skip` is how many pieces of each
 * come before the first turn that all of these have. */
static int neighbours(const struct brio_run *run, int n, brio_off *skip)
{
    brio_off len = run->len, stride = run->stride, lo = 0, hi = 0;
    brio_off turn[TOGETHER] = {0}; /* in which it begins, counted from the first run's */
    int found = 1;
    for (; found < n; found++) {
        const struct brio_run *r = &run[found];
        brio_off aside = r->off - run->off - found * len;
        if (r->len != len || r->stride != stride || (aside != 0 && llabs(aside) != stride))
            break;
        turn[found] = aside / stride;
        if (brio_max(hi, turn[found]) - brio_min(lo, turn[found]) > 1)
            break;
        hi = brio_max(hi, turn[found]);
        lo = brio_min(lo, turn[found]);
    }
    for (int i = 0; i < found; i++)
        skip[i] = hi - turn[i];
    return found;
}

/* The turns that all runs have, and what one has before or after them. */
static void move_runs(void *base, struct brio_strand *s, struct brio_run *run,
                      const brio_off *skip, int n, enum brio_dir dir)
{
    struct turns t = {.stride = run->stride, .count = BRIO_OFF_MAX};
    for (int i = 0; i < n; i++) {
        move_alone(base, &s[i], &run[i], skip[i], dir);
        t.count = brio_min(t.count, run[i].count);
        t.flat[i] = s[i].flat;
    }
    t.row = (char *)((uintptr_t)base + (uintptr_t)run->off);
    brio_off count = t.count;
    move_neighbours(&t, dir, n, run->len);
    for (int i = 0; i < n; i++) {
        pass(&s[i], count * run[i].len);
        run[i].off += count * run[i].stride;
        run[i].count -= count;
        move_alone(base, &s[i], &run[i], run[i].count, dir);
    }
}

/* The first of n strands, with its neighbours; returns how many that were. */
static int weave(void *base, struct brio_strand *s, int n, enum brio_dir dir)
{
    struct brio_cursor cursor[TOGETHER];
    struct brio_run run[TOGETHER];
    brio_off skip[TOGETHER];
    bool begun = false;
    int have = 0;
    for (int i = 0; i < n; i++)
        brio_cursor_init(&cursor[i], s[i].map, s[i].pos);
    for (;; begun = true) {
        for (have = 0; have < n; have++)
            if (!next_run(base, &s[have], &cursor[have], dir, &run[have]))
                break;
        have = have > 1 ? neighbours(run, have, skip) & ~1 : 0; /* an even number */
        if (have < (begun ? n : 2))
            break;
        n = have;
        move_runs(base, s, run, skip, n, dir);
    }
    if (!begun)
        n = 1;
    for (int i = 0; i < n; i++)
        finish(base, &s[i], dir);
    return n;
}

void brio_weave(void *base, struct brio_strand *strands, int n, enum brio_dir dir)
{
    for (int i = 0, done; i < n; i += done) {
        done = n - i < TOGETHER ? n - i : TOGETHER;
        done = weave(base, strands + i, done, dir);
    }
}
