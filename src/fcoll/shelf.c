/* A handful of plans, the oldest of which makes room. */
#include "fcoll/shelf.h"

/* What an access is known by. */
static struct brio_kept key_of(const struct brio_io *io)
{
    if (io->bytes == 0)
        return (struct brio_kept){.dir = io->dir, .bytes = 0};
    return (struct brio_kept){.dir = io->dir,
                              .pattern = io->file->hash,
                              .base = io->base,
                              .into = io->pos % io->file->size,
                              .bytes = io->bytes,
                              .pos = io->pos};
}

static bool fits(const struct brio_kept *kept, const struct brio_kept *key)
{
    return kept->id && kept->bytes == key->bytes && kept->into == key->into &&
           kept->base == key->base && kept->pattern == key->pattern && kept->dir == key->dir;
}

/* One that is as good as the newest that fits, but older. */
static bool is_like(const struct brio_kept *kept, const struct brio_kept *newest)
{
    return fits(kept, newest) && kept->pos == newest->pos;
}

struct brio_kept *brio_shelf_find(struct brio_shelf *shelf, const struct brio_io *io,
                                  int64_t *oldest)
{
    struct brio_kept key = key_of(io), *newest = NULL, *end = shelf->kept + BRIO_SHELF_PLANS;
    int64_t other = 0; /* the newest before that which is not */
    for (struct brio_kept *k = shelf->kept; k < end; k++)
        if (fits(k, &key) && (!newest || k->id > newest->id))
            newest = k;
    if (!newest)
        return NULL;
    for (struct brio_kept *k = shelf->kept; k < end; k++)
        if (k->dir == key.dir && k->id < newest->id && !is_like(k, newest))
            other = brio_max(other, k->id);
    *oldest = newest->id;
    for (struct brio_kept *k = shelf->kept; k < end; k++)
        if (is_like(k, newest) && k->id > other)
            *oldest = brio_min(*oldest, k->id);
    return newest;
}

struct brio_kept *brio_shelf_get(struct brio_shelf *shelf, int64_t id)
{
    return &shelf->kept[id % BRIO_SHELF_PLANS];
}

brio_off brio_shelf_shift(const struct brio_io *io, const struct brio_kept *kept)
{
    return (io->pos - kept->pos) / io->file->size * io->file->extent;
}

struct brio_kept *brio_shelf_keep(struct brio_shelf *shelf, const struct brio_io *io,
                                  struct brio_plan *plan)
{
    struct brio_kept *kept = brio_shelf_get(shelf, ++shelf->last_id);
    brio_plan_free(kept->plan);
    *kept = key_of(io);
    kept->id = shelf->last_id;
    kept->plan = plan;
    return kept;
}

void brio_shelf_clear(struct brio_shelf *shelf)
{
    for (int i = 0; i < BRIO_SHELF_PLANS; i++)
        brio_plan_free(shelf->kept[i].plan);
}
