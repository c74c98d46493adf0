/* Writes are counted, and a sync knows how many it has served: threads may write and read at
 * the same time, and a read must not pass because another thread's sync has only begun. */
#include "lane/settle.h"

#include <stdatomic.h>

#include "lane/task.h"

void brio_settle_init(struct brio_settle *settle, const struct brio_fs *fs, void *fs_self)
{
    settle->fs = fs;
    settle->fs_self = fs_self;
    atomic_store(&settle->written, 0);
    atomic_store(&settle->synced, 0);
}

BRIO_ERR brio_settle_sync(struct brio_settle *s)
{
    int64_t written = atomic_load(&s->written), synced = atomic_load(&s->synced);
    enum brio_err err = s->fs->sync(s->fs_self);
    while (!err && synced < written &&
           !atomic_compare_exchange_weak(&s->synced, &synced, written))
        ;
    return err;
}

BRIO_ERR brio_settle_now(struct brio_settle *s)
{
    return atomic_load(&s->synced) < atomic_load(&s->written) ? brio_settle_sync(s) : BRIO_OK;
}

static struct brio_result move(struct brio_settle *s, const struct brio_lane *below,
                               const struct brio_io *io)
{
    struct brio_result result = {.err = BRIO_OK};
    if (io->dir == BRIO_READ)
        result.err = brio_settle_now(s);
    if (!result.err)
        result = brio_lane_access(below, io);
    if (io->dir == BRIO_WRITE)
        atomic_fetch_add(&s->written, 1);
    return result;
}

static struct brio_result move_own(void *self, const struct brio_io *io)
{
    struct brio_settle *s = self;
    return move(s, &s->own, io);
}

static struct brio_result move_shared(void *self, const struct brio_io *io)
{
    struct brio_settle *s = self;
    struct brio_result result = move(s, &s->shared, io);
    if (io->dir == BRIO_WRITE && !result.err)
        result.err = brio_settle_now(s);
    return result;
}

static void submit_own(void *self, const struct brio_io *io, enum brio_wait how,
                       struct brio_ticket *ticket)
{
    brio_task_submit(move_own, self, NULL, io, how, ticket);
}

static void submit_shared(void *self, const struct brio_io *io, enum brio_wait how,
                          struct brio_ticket *ticket)
{
    brio_task_submit(move_shared, self, NULL, io, how, ticket);
}

static void reap(void *self, struct brio_ticket *ticket, enum brio_wait how)
{
    (void)self;
    brio_task_reap(ticket, how);
}

static BRIO_ERR flush_own(void *self)
{
    struct brio_settle *s = self;
    return s->own.ops->flush(s->own.self);
}

static BRIO_ERR flush_shared(void *self)
{
    struct brio_settle *s = self;
    return s->shared.ops->flush(s->shared.self);
}

struct brio_lane brio_settle_own(struct brio_settle *settle)
{
    static const struct brio_lane_ops ops = {submit_own, reap, flush_own};
    return (struct brio_lane){.ops = &ops, .self = settle};
}

struct brio_lane brio_settle_shared(struct brio_settle *settle)
{
    static const struct brio_lane_ops ops = {submit_shared, reap, flush_shared};
    return (struct brio_lane){.ops = &ops, .self = settle};
}
