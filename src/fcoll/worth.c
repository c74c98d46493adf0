/* What an access of its own costs a rank against a copy to and from an owner. */
#include "fcoll/worth.h"

#include "comm/bell.h"
#include "fcoll/area.h"

enum {
    LARGE_PIECE = 64 << 10,   /* copying it once more costs as much as a call */
    PAGE = 4096,              /* two ranks that write to one page get in each other's way */
    SPARSE = 8,               /* bytes of the file for one of data */
    SHARE = 256 << 10,        /* less is not worth a meeting; */
    SLEEPY_SHARE = 128 << 10, /* but where all sleep, there should be one who does not, */
    HERD_SHARE = 512 << 10,   /* unless all of many would be woken to write */
    LARGEST_WINDOW = 1 << 30, /* what one holds must go into one message */
    WINDOW = 512 << 10,       /* half of a core's own cache; less costs more than it gains */
    CROWD = 4,    /* owners a core, if there are more ranks: one copies while another writes */
    COARSE = 256, /* bytes of a piece */
    STREAM_PIECE = 512,    /* most of it is whole cache lines */
    STREAM_BYTES = 2 << 20 /* no core's own cache would keep them */
};

static brio_off average(const struct brio_map *map, brio_off pos, brio_off bytes)
{
    brio_off off;
    if (brio_map_is_piece(map, pos, bytes, &off))
        return bytes;
    return map->size / brio_max(1, map->npieces);
}

brio_off brio_worth_piece(const struct brio_io *io)
{
    return average(io->file, io->pos, io->bytes);
}

bool brio_worth_passing(const struct brio_io *io)
{
    return average(io->mem, io->mem_pos, io->bytes) >= STREAM_PIECE;
}

bool brio_worth_streaming(const struct brio_io *io, bool packed)
{
    brio_off here = average(io->mem, io->mem_pos, io->bytes);
    brio_off there = packed ? io->bytes : brio_worth_piece(io);
    return io->dir == BRIO_WRITE && io->bytes >= STREAM_BYTES &&
           brio_min(here, there) >= STREAM_PIECE;
}

static brio_off known(const struct brio_coll_env *env, enum brio_dir dir)
{
    return dir == BRIO_READ ? env->k_read : env->k_write;
}

bool brio_worth_sleeping(const struct brio_team *crew)
{
    return !brio_yields_serve() && crew->nranks > 2 * brio_cores();
}

/* Owners a core. */
static int crowd(const struct brio_coll_env *env)
{
    return env->local && env->crew->team.nranks > brio_cores() ? CROWD : 1;
}

int brio_worth_at_once(const struct brio_coll_env *env)
{
    return crowd(env) * brio_cores();
}

brio_off brio_worth_share(const struct brio_coll_env *env, enum brio_dir dir)
{
    brio_off k = known(env, dir);
    if (k > 0)
        return k;
    if (crowd(env) == 1 || brio_yields_serve())
        return SHARE;
    return dir == BRIO_WRITE && brio_worth_sleeping(&env->crew->team) ? HERD_SHARE
                                                                      : SLEEPY_SHARE;
}

/* On servers, an access should fill a stripe, and be large enough to be fast. */
static brio_off large(const struct brio_coll_env *env, enum brio_dir dir)
{
    brio_off k = known(env, dir);
    return env->local ? LARGE_PIECE : brio_max(LARGE_PIECE, brio_max(k, env->stripe));
}

bool brio_worth_planning(const struct brio_coll_env *env, const struct brio_io *io)
{
    return env->team->nranks > 1 && !env->atomic && io->file->monotone;
}

bool brio_worth_owner(const struct brio_coll_env *env, const struct brio_io *io)
{
    brio_off off;
    if (env->local && brio_map_is_piece(io->file, io->pos, io->bytes, &off))
        return false;
    return brio_worth_piece(io) < large(env, io->dir);
}

bool brio_worth_sparse(const struct brio_coll_env *env, const struct brio_whole *all)
{
    return env->local && all->piece >= PAGE && all->volume < all->span / SPARSE;
}

/* Not on servers: a desk is small, and so would be their accesses; nor if ranks may all read
 * the same. */
bool brio_worth_packing(const struct brio_coll_env *env, const struct brio_whole *all)
{
    return env->local && all->volume >= all->span / SPARSE &&
           (all->volume <= all->span || all->most <= all->span - all->span / SPARSE);
}

bool brio_worth_sharing(const struct brio_whole *all)
{
    return all->piece >= COARSE;
}

/* Servers want large accesses. A page cache does not: what is copied in should still be in a
 * cache of the processor when it is written. */
brio_off brio_worth_window(const struct brio_coll_env *env, brio_off buffer)
{
    brio_off size = env->local ? brio_min(buffer / BRIO_BUFFERS, WINDOW) : buffer;
    return brio_max(1, brio_min(LARGEST_WINDOW, size));
}
