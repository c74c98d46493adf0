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
    default:
        move_turns(t, dir, n, (size_t)len);
    }
}

static void move_neighbours(const struct turns *t, enum brio_dir dir, int n, brio_off len)
{
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
    move_neighbours(&t, dir, n, run->len);
    for (int i = 0; i < n; i++) {
        pass(&s[i], t.count * run[i].len);
        run[i].off += t.count * run[i].stride;
        run[i].count -= t.count;
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
