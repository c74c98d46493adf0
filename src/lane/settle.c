/* An access is over when it has come to the servers. */
#include "lane/settle.h"

#include "lane/task.h"

static struct brio_result access_settled(void *self, const struct brio_io *io)
{
    struct brio_settle *s = self;
    struct brio_result result = brio_lane_access(&s->below, io);
    if (io->dir == BRIO_WRITE && result.bytes > 0 && !result.err)
        result.err = s->fs->sync(s->fs_self);
    return result;
}

static void submit(void *self, const struct brio_io *io, enum brio_wait how,
                   struct brio_ticket *ticket)
{
    brio_task_submit(access_settled, self, NULL, io, how, ticket);
}

static void reap(void *self, struct brio_ticket *ticket, enum brio_wait how)
{
    (void)self;
    brio_task_reap(ticket, how);
}

static BRIO_ERR flush(void *self)
{
    struct brio_settle *s = self;
    return s->below.ops->flush(s->below.self);
}

struct brio_lane brio_settle_lane(struct brio_settle *settle)
{
    static const struct brio_lane_ops ops = {.submit = submit, .reap = reap, .flush = flush};
    return (struct brio_lane){.ops = &ops, .self = settle};
}
