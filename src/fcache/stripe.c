/* The layout of a striped file, as the file system told it when the file was opened: units
 * that go round objects, extents with stripes of their own, objects of limited size. All
 * arithmetic; the file system is not asked again. */
#include <stdlib.h>

#include "base/mem.h"
#include "fcache/fcache.h"

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (facts->nservers > 1)
        return brio_answer(50, "the file is on %d servers", facts->nservers);
    return brio_answer(5, "nothing is known of stripes of the file");
}

static BRIO_ERR open_stripe(const struct brio_layout *layout, const void *conf, void **self)
{
    (void)conf;
    void *mem;
    enum brio_err err = brio_layout_check(layout);
    if (!err)
        err = brio_calloc(1, sizeof *layout, &mem);
    if (err)
        return err;
    *(struct brio_layout *)mem = *layout;
    *self = mem;
    return BRIO_OK;
}

static int server_of(const struct brio_layout *l, const struct brio_stripes *s, brio_off object)
{
    return s->n > 0 ? l->objects[s->at + object % s->n]
                    : (int)((s->at + object % l->nservers) % l->nservers);
}

/* Between extents, or behind the last: up to the next one. */
static void map_gap(const struct brio_layout *l, int next, struct brio_part *part)
{
    part->server = 0;
    part->extent = -1;
    part->object = 0;
    part->local_off = part->off;
    if (next < l->nextents)
        part->len = brio_min(part->len, l->extents[next].lo - part->off);
}

static void map_extent(const struct brio_layout *l, const struct brio_stripes *s,
                       struct brio_part *part)
{
    brio_off unit = part->off / s->unit, into = part->off % s->unit;
    brio_off row = unit / s->width, column = unit % s->width;
    brio_off rows = s->object / s->unit; /* of an object; 0: no end */
    brio_off set = rows ? row / rows : 0;
    part->object = set * s->width + column;
    part->local_off = (row - set * rows) * s->unit + into;
    part->server = server_of(l, s, part->object);
    part->len = brio_min(part->len, s->hi - part->off);
    if (s->width > 1)
        part->len = brio_min(part->len, s->unit - into);
    else if (s->object > 0)
        part->len = brio_min(part->len, s->object - part->local_off);
}

static void map(const void *self, brio_off off, brio_off len, struct brio_part *out)
{
    const struct brio_layout *l = self;
    int i = 0;
    while (i < l->nextents && off >= l->extents[i].hi)
        i++;
    *out = (struct brio_part){.extent = i, .off = off, .len = len};
    if (i == l->nextents || off < l->extents[i].lo)
        map_gap(l, i, out);
    else
        map_extent(l, &l->extents[i], out);
}

/* The byte of the file that would be there if the extent had no bounds, or -1. */
static brio_off find_unbound(const struct brio_stripes *s, const struct brio_part *part)
{
    brio_off rows = s->object / s->unit, row = part->local_off / s->unit, off;
    brio_off set = part->object / s->width, column = part->object % s->width;
    if (rows ? row >= rows : set > 0)
        return -1;
    if (!brio_mul(set, rows, &off) || !brio_add(off, row, &off) ||
        !brio_mul(off, s->width, &off) || !brio_add(off, column, &off) ||
        !brio_mul(off, s->unit, &off) || !brio_add(off, part->local_off % s->unit, &off))
        return -1;
    return off;
}

static brio_off find(const void *self, const struct brio_part *part)
{
    const struct brio_layout *l = self;
    struct brio_part back;
    if (part->extent < -1 || part->extent >= l->nextents || part->object < 0 ||
        part->local_off < 0)
        return -1;
    brio_off off =
        part->extent < 0 ? part->local_off : find_unbound(&l->extents[part->extent], part);
    if (off < 0)
        return -1;
    map(self, off, 1, &back);
    return back.extent == part->extent && back.object == part->object ? off : -1;
}

static int servers(const void *self)
{
    return ((const struct brio_layout *)self)->nservers;
}

static brio_off period(const void *self)
{
    const struct brio_layout *l = self;
    const struct brio_stripes *s = &l->extents[0];
    brio_off bytes;
    if (l->nextents == 0)
        return 1;
    if (l->nextents > 1 || s->lo > 0 || s->hi < BRIO_OFF_MAX)
        return 0;
    if (s->object == 0)
        return s->unit * s->width;
    bool fits = brio_mul(s->object * s->width, s->n > 0 ? s->n : l->nservers, &bytes);
    return fits ? bytes : 0;
}

static void close_stripe(void *self)
{
    free(self);
}

const struct brio_fcache brio_fcache_stripe = {
    .base = {.name = "stripe",
             .about = "the stripes of the file, as its file system tells them",
             .query = query},
    .open = open_stripe,
    .map = map,
    .find = find,
    .servers = servers,
    .period = period,
    .close = close_stripe,
};
