/* Locks of the file system hold off other opens, also those of other processes; the mutex
 * holds off other threads of this one, which share the descriptor and so its locks. */
#include "lane/guard.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lane/task.h"

struct brio_guard {
    struct brio_lane below;
    const struct brio_fs *fs;
    void *fs_self;
    struct brio_stats *stats;
    pthread_mutex_t turn; /* held during an access */
};

static struct brio_result access_locked(void *self, const struct brio_io *io)
{
    struct brio_guard *g = self;
    struct brio_result result = {.err = BRIO_OK};
    brio_off lo, hi;
    if (io->bytes == 0)
        return result;
    brio_map_bounds(io->file, io->pos, io->bytes, &lo, &hi);
    enum brio_lock how = io->dir == BRIO_WRITE ? BRIO_LOCK_EXCLUSIVE : BRIO_LOCK_SHARED;
    int64_t began = brio_now();
    pthread_mutex_lock(&g->turn);
    result.err = g->fs->lock(g->fs_self, how, io->base + lo, hi - lo);
    brio_count(g->stats, BRIO_N_LOCKS, 1);
    brio_count(g->stats, BRIO_N_LOCK_NS, brio_now() - began);
    if (!result.err) {
        result = brio_lane_access(&g->below, io);
        enum brio_err err = g->fs->lock(g->fs_self, BRIO_LOCK_NONE, io->base + lo, hi - lo);
        if (!result.err)
            result.err = err;
    }
    pthread_mutex_unlock(&g->turn);
    return result;
}

static void submit(void *self, const struct brio_io *io, enum brio_wait how,
                   struct brio_ticket *ticket)
{
    brio_task_submit(access_locked, self, NULL, io, how, ticket);
}

static void reap(void *self, struct brio_ticket *ticket, enum brio_wait how)
{
    (void)self;
    brio_task_reap(ticket, how);
}

static BRIO_ERR flush(void *self)
{
    struct brio_guard *g = self;
    return g->below.ops->flush(g->below.self);
}

BRIO_ERR brio_guard_open(const struct brio_lane *below, const struct brio_fs *fs, void *fs_self,
                         struct brio_stats *stats, struct brio_guard **out)
{
    struct brio_guard *g;
    enum brio_err err = brio_calloc(1, sizeof *g, (void **)&g);
    if (err)
        return err;
    g->below = *below;
    g->fs = fs;
    g->fs_self = fs_self;
    g->stats = stats;
    pthread_mutex_init(&g->turn, NULL);
    *out = g;
    return BRIO_OK;
}

void brio_guard_close(struct brio_guard *g)
{
    if (!g)
        return;
    pthread_mutex_destroy(&g->turn);
    free(g);
}

struct brio_lane brio_guard_lane(struct brio_guard *g)
{
    static const struct brio_lane_ops ops = {.submit = submit, .reap = reap, .flush = flush};
    return (struct brio_lane){.ops = &ops, .self = g};
}
