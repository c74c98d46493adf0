/* The lane that ends nowhere. */
#include "lane/dry.h"

static void submit(void *self, const struct brio_io *io, enum brio_wait how,
                   struct brio_ticket *ticket)
{
    (void)self, (void)how;
    brio_ticket_finish(ticket, (struct brio_result){.err = BRIO_OK, .bytes = io->bytes});
}

static void reap(void *self, struct brio_ticket *ticket, enum brio_wait how)
{
    (void)self, (void)ticket, (void)how;
}

static BRIO_ERR flush(void *self)
{
    (void)self;
    return BRIO_OK;
}

struct brio_lane brio_dry_lane(void)
{
    static const struct brio_lane_ops ops = {.submit = submit, .reap = reap, .flush = flush};
    return (struct brio_lane){.ops = &ops, .self = NULL};
}
