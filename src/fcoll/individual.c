/* A collective access as independent ones: each rank moves its own bytes, and all agree on
 * the verdict. Right for large contiguous pieces, and for few ranks. */
#include <stdlib.h>

#include "base/mem.h"
#include "comm/verdict.h"
#include "fcoll/engine.h"

enum phase {
    MOVING,
    AGREEING
};

struct individual {
    struct brio_coll_env env;
    enum phase phase;
    struct brio_ticket ticket;
    struct brio_verdict verdict;
};

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)facts, (void)conf;
    return brio_answer(10,
                       "no owners; the other modules, too, leave large pieces to the ranks");
}

static BRIO_ERR open_coll(const struct brio_fcoll *me, const struct brio_coll_env *env,
                          const void *conf, void **self)
{
    (void)me, (void)conf;
    struct individual *ind;
    enum brio_err err = brio_calloc(1, sizeof *ind, (void **)&ind);
    if (err)
        return err;
    ind->env = *env;
    *self = ind;
    return BRIO_OK;
}

static void agree(struct individual *ind, enum brio_err mine)
{
    ind->phase = AGREEING;
    brio_phase(ind->env.stats, BRIO_PHASE_WAIT);
    brio_verdict_init(&ind->verdict, mine);
    brio_verdict_start(&ind->verdict, ind->env.team);
}

static void start(void *self, const struct brio_io *io, enum brio_err mine, enum brio_wait how)
{
    struct individual *ind = self;
    ind->phase = MOVING;
    brio_phase(ind->env.stats, BRIO_PHASE_FILE);
    brio_ticket_init(&ind->ticket, false);
    if (mine || io->bytes == 0)
        agree(ind, mine);
    else
        ind->env.lane->ops->submit(ind->env.lane->self, io, how, &ind->ticket);
}

static void step(void *self, enum brio_wait how, bool *done, struct brio_result *out)
{
    struct individual *ind = self;
    *done = false;
    if (ind->phase == MOVING) {
        if (!ind->ticket.done)
            ind->env.lane->ops->reap(ind->env.lane->self, &ind->ticket, how);
        if (!ind->ticket.done)
            return;
        if (ind->ticket.result.err)
            brio_err_restore(ind->ticket.text);
        agree(ind, ind->ticket.result.err);
    }
    enum brio_err verdict;
    if (!brio_verdict_done(&ind->verdict, how, &verdict))
        return;
    *done = true;
    *out = (struct brio_result){.err = verdict, .bytes = ind->ticket.result.bytes};
}

static void tell_last(const void *self, struct brio_coll_last *out)
{
    (void)self;
    *out = (struct brio_coll_last){.why = "that is the way of this module"};
}

static void close_coll(void *self)
{
    free(self);
}

const struct brio_fcoll brio_fcoll_individual = {
    .base = {.name = "individual",
             .about = "each rank moves its own bytes; all agree on the verdict",
             BRIO_ENGINE_HINTS,
             .query = query},
    .open = open_coll,
    .start = start,
    .step = step,
    .last = tell_last,
    .close = close_coll,
};
