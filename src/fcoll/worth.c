/* What an access of its own costs a rank against a copy to and from an owner. */
#include "fcoll/worth.h"

#include "comm/bell.h"
#include "fcoll/area.h"

enum {
    LARGE_PIECE = 64 << 10,  /* copying it once more costs as much as a call */
    STAGED = 4 << 20,        /* less ends before it has got going */
    PAGE = 4096,             /* two ranks that write to one page get in each other's way */
    SPARSE = 8,              /* bytes of the file for one of data */
    WRITE_SHARE = 512 << 10, /* owners that write to one file wait for each other */
    READ_SHARE = 128 << 10,
    LARGEST_WINDOW = 1 << 30,    /* what one holds must go into one message */
    SMALLEST_WINDOW = 512 << 10, /* less costs more turns than it gains */
    WINDOWS = 4,
    MARGIN = 16 << 10,     /* as windows end at whole blocks: no last one for a few bytes */
    PACK_PIECE = 2048,     /* longer ones are faster by themselves; */
    PACK_READ = 384,       /* those that are read where ranks share cores */
    STREAM_PIECE = 512,    /* most of it is whole cache lines */
    GATHER_PIECE = 256,    /* to one place, where they all are */
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

bool brio_worth_streaming(const struct brio_io *io, bool packed)
{
    brio_off here = average(io->mem, io->mem_pos, io->bytes);
    brio_off there = packed ? io->bytes : brio_worth_piece(io);
    bool together = io->dir == BRIO_READ && here == io->bytes;
    brio_off least = together ? GATHER_PIECE : STREAM_PIECE;
    return io->bytes >= STREAM_BYTES && brio_min(here, there) >= least;
}

static brio_off known(const struct brio_coll_env *env, enum brio_dir dir)
{
    return dir == BRIO_READ ? env->k_read : env->k_write;
}

brio_off brio_worth_share(const struct brio_coll_env *env, enum brio_dir dir)
{
    brio_off k = known(env, dir);
    return k > 0 ? k : dir == BRIO_READ ? READ_SHARE : WRITE_SHARE;
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

/* Writes to one file of a page cache wait for each other. A rank that has a core for itself can
 * copy its next bytes meanwhile, and as the system then finds them in the processor's cache,
 * all wait less. */
static bool is_worth_staging(const struct brio_coll_env *env, const struct brio_io *io)
{
    return env->local && io->dir == BRIO_WRITE && io->bytes >= STAGED &&
           env->team->nranks <= brio_cores();
}

bool brio_worth_owner(const struct brio_coll_env *env, const struct brio_io *io)
{
    brio_off off;
    if (is_worth_staging(env, io))
        return true;
    if (env->local && brio_map_is_piece(io->file, io->pos, io->bytes, &off))
        return false;
    return brio_worth_piece(io) < large(env, io->dir);
}

bool brio_worth_sparse(const struct brio_coll_env *env, const struct brio_whole *all)
{
    return env->local && all->piece >= PAGE && all->volume < all->span / SPARSE;
}

/* Not on servers: a desk is small, and so would be their accesses. */
bool brio_worth_packing(const struct brio_coll_env *env, const struct brio_whole *all)
{
    bool roomy = env->team->nranks <= all->cores;
    brio_off longest = all->dir == BRIO_WRITE || roomy ? PACK_PIECE : PACK_READ;
    return env->local && all->piece < longest && all->volume <= all->span &&
           all->volume >= all->span / SPARSE;
}

/* Of an access to a page cache, one a core, unless ranks share cores. Then writes have one
 * owner: those to one file wait for each other, and while it writes, the others copy, from whom
 * a second would only take a core (64 MiB on 8 ranks: 6-14 % slower in 7 of 8 cases); but not
 * if owners have to put pieces in order, too. Reads do not wait. An access that is short ends
 * before it has got going: with more owners than cores there is one at work from the beginning,
 * also of a write, whose data then lies in buffers of many owners before they agree. */
int brio_worth_at_once(const struct brio_coll_env *env, const struct brio_whole *all,
                       brio_off buffer, bool packed)
{
    static const struct {
        int buffers; /* less than so many, each of them two windows, is short */
        int owners;  /* a core, then */
    } shortness[] = {[BRIO_READ] = {8, 4}, [BRIO_WRITE] = {2, 2}};
    if (!env->local || env->team->nranks <= all->cores)
        return all->cores;
    if (all->span / buffer < shortness[all->dir].buffers)
        return shortness[all->dir].owners * all->cores;
    return all->dir == BRIO_READ || packed ? all->cores : all->nnodes;
}

/* Servers want large accesses. A page cache does not: there both windows of an owner are one
 * collective buffer, and so more often still in the processor's cache when they are copied; and
 * there are several of them, so that one is filled while another is written. */
brio_off brio_worth_window(const struct brio_coll_env *env, brio_off buffer, brio_off span)
{
    brio_off size = env->local ? brio_min(buffer / BRIO_BUFFERS,
                                          brio_max(SMALLEST_WINDOW, span / WINDOWS + MARGIN))
                               : buffer;
    return brio_max(1, brio_min(LARGEST_WINDOW, size));
}
