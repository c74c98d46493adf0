/* What is done with an open file as a whole: sizes, durability, atomicity. */
#include <stdlib.h>
#include <string.h>

#include "comm/verdict.h"
#include "core/core.h"
#include "core/file.h"
#include "core/modules.h"
#include "core/op.h"
#include "core/shared.h"
#include "core/tally.h"
#include "fs/habit.h"
#include "fs/remote.h"

/* Collective. */
static BRIO_ERR flush(struct brio_file *f)
{
    brio_op_drain(f);
    brio_op_together(f);
    enum brio_err err = brio_shared_settle(f);
    enum brio_err flushed = f->plain.ops->flush(f->plain.self);
    return err ? err : flushed;
}

/* Collective. The same, and what comes next, on whatever rank, comes behind all of it. */
static BRIO_ERR settle(struct brio_file *f)
{
    enum brio_err err = flush(f);
    enum brio_err settled = brio_settle_now(&f->settle);
    return err ? err : settled;
}

/* Collective. Agrees on the size; then rank 0 acts for all. */
static BRIO_ERR resize(struct brio_file *f, brio_off size,
                       BRIO_ERR (*act)(void *self, brio_off size))
{
    struct brio_verdict v;
    enum brio_err err = settle(f);
    if (f->amode & MPI_MODE_RDONLY)
        err = brio_fail(BRIO_ERDONLY, "change of size of a file opened read-only");
    else if (size < 0)
        err = brio_fail(BRIO_EARG, "size %lld", (long long)size);
    brio_verdict_init(&v, err);
    brio_verdict_same(&v, "the size", size);
    err = brio_verdict_settle(&v, &f->team);
    if (err)
        return err;
    if (f->team.rank == 0)
        err = act(f->fs, size);
    err = brio_follow(&f->team, err);
    if (err)
        return err;
    return brio_agree(&f->team, brio_file_cache(f)->resized(&f->plain, size));
}

BRIO_ERR brio_file_set_size(struct brio_file *f, brio_off size)
{
    return resize(f, size, brio_file_fs(f)->set_size);
}

BRIO_ERR brio_file_preallocate(struct brio_file *f, brio_off size)
{
    return resize(f, size, brio_file_fs(f)->allocate);
}

BRIO_ERR brio_file_get_size(struct brio_file *f, brio_off *out)
{
    brio_off size;
    enum brio_err err = brio_file_fs(f)->get_size(f->fs, &size);
    if (!err)
        err = brio_file_cache(f)->size(&f->plain, &size);
    if (!err)
        *out = size;
    return err;
}

/* Collective. Where all ranks share one page cache, one rank's sync serves all, once every
 * rank has handed its data to the system. */
static BRIO_ERR sync_all(struct brio_file *f)
{
    enum brio_err err = flush(f);
    if (f->amode & MPI_MODE_RDONLY && f->store.local)
        return brio_agree(&f->team, err);
    if (!f->store.local) {
        enum brio_err synced = brio_settle_sync(&f->settle);
        return brio_agree(&f->team, err ? err : synced);
    }
    err = brio_agree(&f->team, err);
    if (err)
        return err;
    if (f->team.rank == 0)
        err = brio_file_fs(f)->sync(f->fs);
    return brio_follow(&f->team, err);
}

BRIO_ERR brio_file_sync(struct brio_file *f)
{
    struct brio_tally tally;
    brio_tally_begin(f, &tally);
    enum brio_err err = sync_all(f);
    brio_tally_other(f, BRIO_N_SYNCS, &tally);
    return err;
}

/* Collective. Every rank tries whether the file system has locks at all. */
static BRIO_ERR open_guard(struct brio_file *f, struct brio_guard **out)
{
    const struct brio_fs *fs = brio_file_fs(f);
    enum brio_err err = brio_guard_open(&f->bottom, fs, f->fs, f->stats, out);
    if (err)
        return err;
    err = fs->lock(f->fs, f->store.readable ? BRIO_LOCK_SHARED : BRIO_LOCK_EXCLUSIVE, 0, 1);
    if (!err)
        err = fs->lock(f->fs, BRIO_LOCK_NONE, 0, 1);
    return err;
}

/* The same on all ranks. Other stores have locks of their servers'. */
static bool needs_trial(const struct brio_file *f)
{
    return f->facts.nnodes > 1 && !(f->amode & MPI_MODE_RDONLY) &&
           strcmp(f->facts.store, BRIO_STORE_DESCRIPTOR) == 0;
}

/* Collective. Locks that do not leave their node (a FUSE without them, a
 * mount with local locks) look like any others: so rank 0 takes one, and those elsewhere look
 * for it. Once for each mount. */
static BRIO_ERR try_locks_between_nodes(struct brio_file *f)
{
    const struct brio_fs *fs = brio_file_fs(f);
    int mine = brio_habit_known(f->store.fd, BRIO_HABIT_LOCKS), known = -1;
    enum brio_err err = BRIO_OK;
    PMPI_Allreduce(&mine, &known, 1, MPI_INT, MPI_MIN, f->team.comm);
    if (known == 1)
        return BRIO_OK;
    if (f->team.rank == 0)
        err = fs->lock(f->fs, BRIO_LOCK_EXCLUSIVE, 0, 1);
    err = brio_follow(&f->team, err);
    if (err)
        return err;
    if (f->team.rank != 0 && !brio_remote_locked(f->store.fd))
        err = brio_fail(BRIO_EUNSUPOP, "atomic mode needs locks between nodes, and a lock of "
                                       "rank 0 is not seen here: they stay on their node (see "
                                       "the options of the mount)");
    err = brio_agree(&f->team, err);
    if (!err)
        brio_habit_learn(f->store.fd, BRIO_HABIT_LOCKS, true);
    enum brio_err undone = BRIO_OK;
    if (f->team.rank == 0)
        undone = fs->lock(f->fs, BRIO_LOCK_NONE, 0, 1);
    undone = brio_follow(&f->team, undone);
    return err ? err : undone;
}

BRIO_ERR brio_file_set_atomicity(struct brio_file *f, bool atomic)
{
    struct brio_verdict v;
    struct brio_guard *guard = NULL;
    struct brio_former former = {.stays = true};
    bool before = f->facts.atomic;
    enum brio_err err = settle(f);
    bool cached = brio_file_cache(f)->atomic(&f->plain, atomic);
    if (!err && atomic && !before && !cached)
        err = open_guard(f, &guard);
    f->facts.atomic = atomic;
    if (!err) /* in atomic mode an access is one access of one rank */
        err = brio_modules_view(f, &former);
    brio_verdict_init(&v, err);
    brio_verdict_same(&v, "the atomicity", atomic);
    err = brio_verdict_settle(&v, &f->team);
    if (!err && guard && needs_trial(f))
        err = try_locks_between_nodes(f);
    brio_modules_viewed(f, &former, !err);
    if (err) {
        brio_guard_close(guard);
        brio_file_cache(f)->atomic(&f->plain, before);
        f->facts.atomic = before;
        return err;
    }
    if (guard) {
        f->guard = guard;
    } else if (!atomic) {
        brio_guard_close(f->guard);
        f->guard = NULL;
    }
    brio_modules_join(f);
    return BRIO_OK;
}

bool brio_file_atomicity(const struct brio_file *f)
{
    return f->facts.atomic;
}

BRIO_ERR brio_file_get_group(struct brio_file *f, MPI_Group *out)
{
    if (PMPI_Comm_group(f->team.comm, out) != MPI_SUCCESS)
        return brio_fail(BRIO_EINTERN, "MPI_Comm_group failed");
    return BRIO_OK;
}

int brio_file_amode(const struct brio_file *f)
{
    return f->amode;
}

const char *brio_file_path(const struct brio_file *f)
{
    return f->path;
}

MPI_Comm brio_file_comm(const struct brio_file *f)
{
    return f->team.comm;
}

void brio_file_set_tag(struct brio_file *f, void *tag)
{
    f->tag = tag;
}

void *brio_file_tag(const struct brio_file *f)
{
    return f->tag;
}
