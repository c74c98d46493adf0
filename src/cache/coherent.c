/* The caching of paper 001, section 3: pages of the file in the memory of the ranks, each at
 * most once, under locks that are kept at the page's home (page mod P). Ranks that share
 * memory use each other's pages and directories where they are; other crews are asked by
 * letter. Reads see what any rank wrote before; a flush writes everything and forgets it. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cache/coherent.h"
#include "comm/verdict.h"
#include "lane/task.h"

enum {
    WISH = 64 << 10,      /* bytes of a page, if the file is not striped */
    LOCKS = 1 << 16,      /* pages that a home can have locked, beyond those cached */
    BOXES = 16,           /* accesses of one rank that ask other crews at one time */
    PAGE_MOST = 64 << 20, /* places in a page are 32 bits wide */
    MIN_RUNS = 24,        /* dirty runs of a page, at least; */
    RUN_BYTES = 256       /* and one for so many of its bytes */
};

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (!facts->attach && facts->nranks > 1 && !facts->thread_multiple)
        return brio_answer(-1,
                           "the ranks do not all share memory, and the MPI grants no threads");
    return brio_answer(4, "pages can be cached by all ranks together, if asked for");
}

/* ---- Opening and closing ---------------------------------------------------------------- */

static size_t align(size_t n)
{
    return (n + 4095) / 4096 * 4096;
}

static uint32_t count_pages(const struct brio_coherent *c)
{
    brio_off n = (brio_off)c->nframes * c->team->nranks + LOCKS;
    return (uint32_t)brio_min(n, 1 << 24);
}

static uint32_t count_waiters(const struct brio_coherent *c)
{
    return (uint32_t)c->team->nranks * 16 + 64;
}

/* Dirty runs of a page: small records of ranks in turn fill it with gaps at first. */
static uint32_t count_runs(const struct brio_coherent *c)
{
    return (uint32_t)brio_max(c->page / RUN_BYTES, MIN_RUNS);
}

/* What one rank can do alone. */
static BRIO_ERR make(const struct brio_cache_env *env, const struct brio_cache_conf *conf,
                     struct brio_coherent *c)
{
    brio_off block = brio_max(env->block_size, 512);
    c->page = conf->page ? conf->page : env->stripe;
    if (!c->page)
        c->page = brio_max(WISH / block * block, block);
    c->page = brio_min(c->page, PAGE_MOST);
    c->bound = conf->size;
    c->far_most = (uint32_t)conf->send;
    c->nframes = (uint32_t)brio_min(brio_max(conf->size / c->page, 1), 1 << 24);
    c->at_directory = align(sizeof(struct brio_bay));
    c->at_frames =
        c->at_directory + align(brio_directory_room(count_pages(c), count_waiters(c)));
    c->at_bytes = c->at_frames + align(brio_frames_room(c->nframes, count_runs(c)));
    c->pitch = c->at_bytes + align(c->nframes * (size_t)c->page);
    enum brio_err err = brio_map_bytes(1, &c->flat);
    if (!err)
        err = brio_calloc((size_t)env->team->nranks, sizeof(int), (void **)&c->member_of);
    for (int r = 0, n = 0; r < env->team->nranks && !err; r++)
        c->member_of[r] = env->crew->crew_of[r] == env->crew->mine ? n++ : -1;
    return err;
}

/* This rank's part of the shared memory. */
static void furnish(struct brio_coherent *c)
{
    int member = c->crew->team.rank;
    struct brio_bay *bay = brio_bay_at(c, member);
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP); /* held for a look only */
    pthread_mutex_init(&bay->lock, &attr);
    pthread_mutexattr_destroy(&attr);
    atomic_store(&bay->clock, 0);
    atomic_store(&bay->size, 0);
    brio_directory_init(brio_bay_directory(c, member), count_pages(c), count_waiters(c));
    brio_frames_init(brio_bay_frames(c, member), c->nframes, count_runs(c));
}

/* Collective. */
static BRIO_ERR share(struct brio_coherent *c)
{
    const struct brio_crew *crew = c->crew;
    enum brio_err err;
    brio_region_init(&c->region, &crew->team, crew->slot, &crew->page);
    c->region.second_hand = true;
    brio_region_need(&c->region, (size_t)crew->team.nranks * c->pitch);
    while (!brio_region_step(&c->region, BRIO_BLOCK, &err))
        ;
    if (!err)
        furnish(c);
    err = brio_agree(c->team, err);
    if (err || crew->ncrews == 1)
        return err;
    const struct brio_courier_env env = {.team = c->team,
                                         .crew = crew,
                                         .room = brio_coherent_far_room(c),
                                         .nboxes = BOXES,
                                         .handle = brio_coherent_handle,
                                         .tick = brio_coherent_tick,
                                         .self = c};
    err = brio_courier_open(&env, &c->courier);
    return brio_agree(c->team, err); /* c->courier is set before the first letter comes */
}

static void free_coherent(struct brio_coherent *c)
{
    if (c->courier)
        brio_courier_close(c->courier);
    if (c->region.mem) {
        /* The memory may be another file's soon. */
        c->region.second_hand = brio_agree(&c->crew->team, BRIO_OK) == BRIO_OK;
        brio_region_close(&c->region);
    }
    brio_map_unref(c->flat);
    free(c->member_of);
    pthread_mutex_destroy(&c->frames_lock);
    pthread_mutex_destroy(&c->wait_lock);
    free(c);
}

static const struct brio_lane_ops ops;

static BRIO_ERR open_coherent(const struct brio_cache_env *env, const struct brio_lane *below,
                              const void *conf, struct brio_lane *out)
{
    struct brio_coherent *c = NULL;
    enum brio_err err = brio_agree(env->team, brio_calloc(1, sizeof *c, (void **)&c));
    if (err) {
        free(c);
        return err;
    }
    c->below = *below;
    c->team = env->team;
    c->crew = env->crew;
    c->stats = env->stats;
    c->region.fd = -1;
    pthread_mutex_init(&c->frames_lock, NULL);
    pthread_mutex_init(&c->wait_lock, NULL);
    err = brio_agree(c->team, make(env, conf, c));
    if (!err)
        err = share(c);
    if (err) {
        free_coherent(c);
        return err;
    }
    *out = (struct brio_lane){.ops = &ops, .self = c};
    return BRIO_OK;
}

static BRIO_ERR close_coherent(struct brio_lane *lane)
{
    free_coherent(lane->self);
    return BRIO_OK;
}

/* ---- The lane --------------------------------------------------------------------------- */

static void submit(void *self, const struct brio_io *io, enum brio_wait how,
                   struct brio_ticket *ticket)
{
    struct brio_coherent *c = self;
    brio_task_submit(brio_coherent_access, self, c->stats, io, how, ticket);
}

static void reap(void *self, struct brio_ticket *ticket, enum brio_wait how)
{
    (void)self;
    brio_task_reap(ticket, how);
}

/* All ranks have arrived: nobody accesses the file until all leave. What could not be written
 * stays where it is, and then nothing is forgotten. */
static BRIO_ERR flush(void *self)
{
    struct brio_coherent *c = self;
    int member = c->crew->team.rank;
    if (c->courier)
        brio_courier_drain(c->courier);
    enum brio_err err = brio_agree(c->team, BRIO_OK);
    if (!err)
        err = brio_coherent_write_back(c);
    if (!err)
        err = c->below.ops->flush(c->below.self);
    err = brio_agree(c->team, err);
    if (err)
        return err;
    brio_frames_clear(brio_bay_frames(c, member));
    brio_directory_clear(brio_bay_directory(c, member));
    if (member == 0)
        atomic_store(&brio_bay_at(c, 0)->size, 0);
    return brio_agree(c->team, BRIO_OK);
}

static const struct brio_lane_ops ops = {.submit = submit, .reap = reap, .flush = flush};

/* ---- The rest of the door --------------------------------------------------------------- */

static BRIO_ERR get_size(const struct brio_lane *lane, brio_off *size)
{
    struct brio_coherent *c = lane->self;
    struct brio_box *box = c->courier ? brio_courier_take(c->courier, BRIO_BLOCK) : NULL;
    brio_off known;
    enum brio_err err = brio_coherent_size(c, box, &known);
    if (box)
        brio_courier_give(c->courier, box);
    if (!err)
        *size = brio_max(*size, known);
    return err;
}

static bool set_atomic(const struct brio_lane *lane, bool on)
{
    struct brio_coherent *c = lane->self;
    c->atomic = on;
    return true;
}

static void tell(const struct brio_lane *lane, char *out, size_t size)
{
    const struct brio_coherent *c = lane->self;
    uint64_t asked = atomic_load(&c->asked), found = atomic_load(&c->found);
    int n =
        snprintf(out, size, "pages of %lld bytes are cached, up to %lld bytes by each rank%s",
                 (long long)c->page, (long long)c->nframes * c->page,
                 c->courier ? "; other nodes are asked by messages" : "");
    if (asked > 0 && n > 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n,
                 "; rank %d found %.1f %% of %llu pieces in the cache", c->team->rank,
                 100 * (double)found / (double)asked, (unsigned long long)asked);
}

const struct brio_cache brio_cache_coherent = {
    .base = {.name = "coherent",
             .about = "pages in the memory of all ranks, read and written by any of them",
             .hints = brio_cache_hints,
             .conf_size = sizeof(struct brio_cache_conf),
             .query = query},
    .atomic = set_atomic,
    .open = open_coherent,
    .close = close_coherent,
    .size = get_size,
    .resized = brio_cache_plain_resized,
    .settle = brio_cache_plain_settle,
    .collective = brio_cache_plain_lane,
    .tell = tell,
};
