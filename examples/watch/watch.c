/* A module from outside of Brio, complete: a stage of the lane that lets every access through
 * and says at close what passed, on each rank. Built by the CMakeLists.txt beside it; used by
 *
 *     BRIO_MODULE_PATH=/where/it/is BRIO_CACHE=watch brio run -n 4 ./a.out */
#include <brio/module.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "cache/cache.h"
#include "comm/verdict.h"

struct conf {
    brio_off small;
};

static const struct brio_hint hints[] = {
    {.name = "watch_small",
     .kind = BRIO_HINT_BYTES,
     .offset = offsetof(struct conf, small),
     .def = "4k",
     .min = 1,
     .max = (brio_off)1 << 30,
     .help = "accesses of fewer bytes are counted as small"},
    {.name = NULL},
};

/* Any thread may be in here, so the counters are atomic. */
struct watch {
    struct brio_lane below;
    struct conf conf;
    int rank;
    _Atomic brio_off accesses[2], bytes[2]; /* by enum brio_dir */
    _Atomic brio_off small;
};

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)facts, (void)conf;
    return brio_answer(0, "for those who ask for it by cache=watch");
}

static void submit(void *self, const struct brio_io *io, enum brio_wait how,
                   struct brio_ticket *ticket)
{
    struct watch *w = self;
    w->accesses[io->dir]++;
    w->bytes[io->dir] += io->bytes;
    w->small += io->bytes < w->conf.small;
    w->below.ops->submit(w->below.self, io, how, ticket);
}

static void reap(void *self, struct brio_ticket *ticket, enum brio_wait how)
{
    struct watch *w = self;
    w->below.ops->reap(w->below.self, ticket, how);
}

static BRIO_ERR flush(void *self)
{
    struct watch *w = self;
    return w->below.ops->flush(w->below.self);
}

static const struct brio_lane_ops ops = {.submit = submit, .reap = reap, .flush = flush};

/* Succeeds on all ranks or on none: the ranks agree before they go on. */
static BRIO_ERR open_watch(const struct brio_cache_env *env, const struct brio_lane *below,
                           const void *conf, struct brio_lane *out)
{
    struct watch *w = NULL;
    enum brio_err err = brio_calloc(1, sizeof *w, (void **)&w);
    err = brio_agree(env->team, err);
    if (err) {
        free(w);
        return err;
    }
    w->below = *below;
    w->conf = *(const struct conf *)conf;
    w->rank = env->team->rank;
    *out = (struct brio_lane){.ops = &ops, .self = w};
    return BRIO_OK;
}

static BRIO_ERR close_watch(struct brio_lane *lane)
{
    struct watch *w = lane->self;
    brio_log(BRIO_WARN,
             "watch: rank %d: %lld reads of %lld bytes, %lld writes of %lld bytes, "
             "%lld of them small",
             w->rank, (long long)w->accesses[BRIO_READ], (long long)w->bytes[BRIO_READ],
             (long long)w->accesses[BRIO_WRITE], (long long)w->bytes[BRIO_WRITE],
             (long long)w->small);
    free(w);
    return BRIO_OK;
}

static const struct brio_cache watch = {
    .base = {.name = "watch",
             .about = "counts what passes and says so at close (an example)",
             .hints = hints,
             .conf_size = sizeof(struct conf),
             .query = query},
    .open = open_watch,
    .close = close_watch,
    .size = brio_cache_plain_size,
    .resized = brio_cache_plain_resized,
    .settle = brio_cache_plain_settle,
    .collective = brio_cache_plain_lane,
    .tell = brio_cache_plain_tell,
};

BRIO_PLUGIN(BRIO_CACHE, watch.base);
