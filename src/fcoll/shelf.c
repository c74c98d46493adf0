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

struct brio_kept *brio_shelf_find(struct brio_shelf *shelf, const struct brio_io *io)
{
    struct brio_kept key = key_of(io);
    for (int i = 0; i < BRIO_SHELF_PLANS; i++) {
        struct brio_kept *kept = &shelf->kept[i];
        if (kept->id && kept->bytes == key.bytes && kept->into == key.into &&
            kept->base == key.base && kept->pattern == key.pattern && kept->dir == key.dir)
            return kept;
    }
    return NULL;
}

brio_off brio_shelf_shift(const struct brio_io *io, const struct brio_kept *kept)
{
    return (io->pos - kept->pos) / io->file->size * io->file->extent;
}

struct brio_kept *brio_shelf_keep(struct brio_shelf *shelf, const struct brio_io *io,
                                  struct brio_plan *plan)
{
    struct brio_kept *kept = &shelf->kept[++shelf->last_id % BRIO_SHELF_PLANS];
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
