/* No shared pointer at all while ranks write (paper 000): each keeps a log of its own, with the
 * time of every record, and the logs are laid into the file in the order of the times when all
 * ranks come together. For files that are only written, by programs that do not care which of
 * two records without a message between their writers comes first. The times are a hybrid
 * logical clock's: where a collective call orders two records, the file does. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "comm/verdict.h"
#include "sharedfp/sharedfp.h"
#include "sharedfp/side.h"

struct conf {
    bool relaxed;
    brio_off memory;
};

/* What a rank has beside its memory. */
enum spilled {
    NO_FILES,
    FILES,
    RECORDS /* in them */
};

struct logs {
    struct brio_team team;
    pthread_mutex_t lock; /* guards log against the other threads of this rank */
    struct brio_log log;
    struct brio_log_walk walk; /* between order and settled */
    brio_off end;              /* of what is being moved, */
    brio_off bound;            /* and of its next part; BRIO_OFF_MAX: it is the last */
    int64_t *counts;           /* rank 0: room for a number of each rank */
    int64_t spilled;           /* the most of any rank, when the order was made */
};

static const struct brio_hint hints[] = {
    {.name = "sharedfp_relaxed_ordering",
     .aliases = "OMPIO_SHAREDFP_RELAXED_ORDERING",
     .kind = BRIO_HINT_BOOL,
     .offset = offsetof(struct conf, relaxed),
     .def = "false",
     .same = true,
     .help = "write-only files: records by the shared pointer may be ordered by clocks alone"},
    {.name = "individual_memory",
     .kind = BRIO_HINT_BYTES,
     .offset = offsetof(struct conf, memory),
     .def = "16m",
     .min = 4096,
     .max = (brio_off)1 << 40,
     .help = "bytes of a rank's records kept in memory before they go to a side file"},
    {.name = NULL},
};

static int query(const struct brio_facts *facts, const void *conf)
{
    const struct conf *c = conf;
    if (strcmp(facts->store, BRIO_STORE_DESCRIPTOR) != 0)
        return brio_answer(-1, "there is no directory for files beside it");
    if (!(facts->amode & MPI_MODE_WRONLY) || facts->amode & MPI_MODE_SEQUENTIAL)
        return brio_answer(-1, "logs are for files that are only written, and not in turn");
    if (!c->relaxed)
        return brio_answer(0, "ranks write in an order of time only; not asked for");
    return brio_answer(60, "the user has relaxed the order");
}

static void free_logs(struct logs *l)
{
    if (!l)
        return;
    brio_log_walk_close(&l->walk);
    brio_log_free(&l->log);
    pthread_mutex_destroy(&l->lock);
    free(l->counts);
    free(l);
}

static BRIO_ERR name_file(const char *path, const char *tag, const char *what, int rank,
                          char **out)
{
    char kind[32];
    snprintf(kind, sizeof kind, "%s%d", what, rank);
    return brio_side_name(path, kind, tag, out);
}

static BRIO_ERR make(const struct brio_sharedfp_env *env, const struct conf *conf,
                     const char *tag, struct logs **out)
{
    const struct brio_team *team = env->team;
    struct logs *l = NULL;
    enum brio_err err = brio_calloc(1, sizeof *l, (void **)&l);
    if (err)
        return err;
    pthread_mutex_init(&l->lock, NULL);
    brio_log_init(&l->log);
    l->team = *team;
    l->log.limit = (size_t)conf->memory;
    l->log.head.nranks = (uint32_t)team->nranks;
    l->log.head.rank = (uint32_t)team->rank;
    l->log.head.start = env->start;
    err = brio_strdup(env->path, &l->log.path);
    if (!err)
        err = name_file(env->path, tag, "meta", team->rank, &l->log.meta_name);
    if (!err && team->rank == 0)
        err = brio_calloc((size_t)team->nranks, sizeof *l->counts, (void **)&l->counts);
    if (!err)
        err = name_file(env->path, tag, "data", team->rank, &l->log.data_name);
    if (err)
        free_logs(l);
    else
        *out = l;
    return err;
}

static BRIO_ERR open_logs(const struct brio_sharedfp_env *env, const void *conf, void **self)
{
    char tag[BRIO_SIDE_TAG + 1];
    struct logs *l = NULL;
    enum brio_err err = brio_side_begin(env->path, env->team, tag);
    if (err)
        return err;
    err = brio_agree(env->team, make(env, conf, tag, &l));
    if (err)
        free_logs(l);
    else
        *self = l;
    return err;
}

static BRIO_ERR refuse_add(void *self, brio_off n, brio_off *old)
{
    (void)self, (void)n, (void)old;
    return brio_fail(BRIO_EUNSUPOP, "with individual logs nobody knows where the shared "
                                    "pointer stands");
}

static BRIO_ERR refuse_set(void *self, brio_off value)
{
    brio_off old;
    return refuse_add(self, value, &old);
}

static void view(void *self, brio_off disp, const struct brio_map *map)
{
    struct logs *l = self;
    brio_map_unref(l->log.map);
    l->log.map = brio_map_ref(map);
    l->log.head.disp = disp;
    l->log.head.words = (int64_t)brio_log_words(map);
}

static BRIO_ERR append(void *self, const struct brio_map *mem, const void *buf, brio_off bytes)
{
    struct logs *l = self;
    pthread_mutex_lock(&l->lock);
    enum brio_err err = brio_log_append(&l->log, mem, buf, bytes);
    pthread_mutex_unlock(&l->lock);
    return err;
}

/* Where rank 0 lays everybody's stamps, one rank's behind the other's, and puts them in order:
 * with all ranks at it, each would get all stamps and do the same work. */
struct desk {
    struct brio_order_list *lists;
    struct brio_stamp *stamps;
    brio_off *places;
    int *count, *before; /* records of each rank, and of those before it */
};

static void free_desk(struct desk *d)
{
    free(d->lists);
    free(d->stamps);
    free(d->places);
    free(d->count);
}

/* Rank 0, when it knows how many records each rank has. */
static BRIO_ERR lay_desk(const struct logs *l, struct desk *d)
{
    const size_t nranks = (size_t)l->team.nranks;
    int64_t total = 0;
    for (size_t r = 0; r < nranks; r++)
        total += l->counts[r];
    if (total > INT32_MAX / 2)
        return brio_fail(BRIO_ENOMEM, "%lld records to be ordered", (long long)total);
    enum brio_err err = brio_calloc(nranks, sizeof *d->lists, (void **)&d->lists);
    if (!err)
        err = brio_calloc((size_t)total, sizeof *d->stamps, (void **)&d->stamps);
    if (!err)
        err = brio_calloc((size_t)total, sizeof *d->places, (void **)&d->places);
    if (!err)
        err = brio_calloc(2 * nranks, sizeof *d->count, (void **)&d->count);
    if (err)
        return err;
    d->before = d->count + nranks;
    for (size_t r = 0, from = 0; r < nranks; r++) {
        const size_t n = (size_t)l->counts[r];
        d->lists[r] = (struct brio_order_list){d->stamps + from, n, d->places + from};
        d->count[r] = (int)n;
        d->before[r] = (int)from;
        from += n;
    }
    return BRIO_OK;
}

/* Collective. Stamps go to rank 0, places come back. */
static BRIO_ERR exchange(struct logs *l, struct desk *d)
{
    const MPI_Comm comm = l->team.comm;
    const int n = (int)l->walk.n;
    enum brio_err err = BRIO_OK;
    MPI_Datatype stamp;
    PMPI_Type_contiguous(2, MPI_INT64_T, &stamp);
    PMPI_Type_commit(&stamp);
    if (PMPI_Gatherv(l->walk.stamps, n, stamp, d->stamps, d->count, d->before, stamp, 0,
                     comm) != MPI_SUCCESS)
        err = brio_fail(BRIO_EINTERN, "the times of the records could not be gathered");
    PMPI_Type_free(&stamp);
    if (!err && l->team.rank == 0)
        err = brio_order((size_t)l->team.nranks, d->lists, l->log.head.start, &l->end);
    if (PMPI_Scatterv(d->places, d->count, d->before, MPI_INT64_T, l->walk.place, n,
                      MPI_INT64_T, 0, comm) != MPI_SUCCESS &&
        !err)
        err = brio_fail(BRIO_EINTERN, "the places of the records could not be sent");
    return err;
}

/* Collective. Own places, and on rank 0 where they end. */
static BRIO_ERR place(struct logs *l)
{
    struct desk desk = {.lists = NULL};
    int64_t n = (int64_t)l->walk.n;
    enum brio_err err = BRIO_OK;
    PMPI_Gather(&n, 1, MPI_INT64_T, l->counts, 1, MPI_INT64_T, 0, l->team.comm);
    if (l->team.rank == 0)
        err = lay_desk(l, &desk);
    err = brio_agree(&l->team, err);
    if (!err)
        err = exchange(l, &desk);
    free_desk(&desk);
    return err;
}

/* Collective. Whether there is anything to order; clocks go on from the latest record, for
 * those of an epoch are behind all before it anyway. */
static BRIO_ERR compare(struct logs *l, enum brio_err mine, bool *any)
{
    struct brio_verdict v;
    brio_verdict_init(&v, mine);
    v.most = l->walk.n > 0 ? l->log.clock : 0;
    v.also = NO_FILES;
    if (l->log.meta_fd >= 0 || l->log.data_fd >= 0)
        v.also = l->log.spilled > 0 ? RECORDS : FILES;
    enum brio_err err = brio_verdict_settle(&v, &l->team);
    if (err)
        return err;
    l->log.clock = brio_max(l->log.clock, v.most);
    l->spilled = v.also;
    *any = v.most > 0;
    return BRIO_OK;
}

/* If it fails, only `brio merge' has less to go by, should the job be killed now. */
static void announce(struct logs *l)
{
    if (brio_log_announce(&l->log) != BRIO_OK)
        brio_log(BRIO_NOTE, "%s", brio_err_text());
}

/* Collective. The next part ends where the first rank cannot go on. */
static BRIO_ERR find_bound(struct logs *l, enum brio_err mine)
{
    struct brio_verdict v;
    brio_verdict_init(&v, mine);
    v.most = -(mine ? BRIO_OFF_MAX : brio_log_reach(&l->log, &l->walk));
    v.also = l->team.rank == 0 ? l->end : 0;
    enum brio_err err = brio_verdict_settle(&v, &l->team);
    l->bound = -v.most;
    if (!err)
        l->end = v.also;
    return err;
}

/* Collective, with the lock held. */
static BRIO_ERR order_locked(struct logs *l, bool *any)
{
    *any = false;
    brio_log_walk_close(&l->walk);
    enum brio_err err = compare(l, brio_log_walk(&l->log, &l->walk), any);
    if (err || !*any)
        return err;
    err = place(l);
    if (!err && l->spilled == RECORDS)
        announce(l);
    return find_bound(l, err);
}

static BRIO_ERR order(void *self, bool *any)
{
    struct logs *l = self;
    pthread_mutex_lock(&l->lock);
    enum brio_err err = order_locked(l, any);
    if (err || !*any)
        pthread_mutex_unlock(&l->lock);
    return err;
}

static BRIO_ERR next(void *self, struct brio_log_part *out, bool *more)
{
    struct logs *l = self;
    enum brio_err err = brio_log_next(&l->log, &l->walk, l->bound, out);
    *more = l->bound != BRIO_OFF_MAX;
    return *more ? find_bound(l, err) : err;
}

/* With the lock held. Rank 0's side file tells of the new epoch before any other rank's
 * records go. What is in the file must go from the logs, whatever else fails. */
static BRIO_ERR drop_all(struct logs *l)
{
    enum brio_err err = BRIO_OK;
    l->log.head.epoch++;
    l->log.head.start = l->end;
    if (l->team.rank == 0)
        err = brio_log_drop(&l->log, l->spilled != NO_FILES);
    if (l->spilled != NO_FILES)
        err = brio_follow(&l->team, err);
    enum brio_err mine = l->team.rank != 0 ? brio_log_drop(&l->log, false) : err;
    if (!mine)
        mine = brio_log_cut(&l->log);
    if (!err)
        err = mine;
    return l->spilled != NO_FILES ? brio_agree(&l->team, err) : err;
}

static BRIO_ERR settled(void *self, enum brio_err err)
{
    struct logs *l = self;
    brio_log_walk_close(&l->walk);
    if (!err)
        err = drop_all(l);
    pthread_mutex_unlock(&l->lock);
    return err;
}

static brio_off position(void *self)
{
    struct logs *l = self;
    return l->log.head.start;
}

static void move(void *self, brio_off at)
{
    struct logs *l = self;
    l->log.head.start = at;
}

/* Collective. What could not be moved to the file stays in the side files, for `brio merge'. */
static void remove_files(struct logs *l)
{
    bool left = l->log.n + l->log.spilled_n > 0;
    if (left && brio_log_spill(&l->log) == BRIO_OK)
        brio_log(BRIO_WARN, "records are left in %s: `brio merge' finishes them",
                 l->log.data_name);
    int made = l->log.meta_fd >= 0 || l->log.data_fd >= 0, any[2] = {0}, word[2] = {made, left};
    if (made && !left && l->team.rank != 0) {
        unlink(l->log.data_name);
        unlink(l->log.meta_name);
    }
    PMPI_Reduce(word, any, 2, MPI_INT, MPI_MAX, 0, l->team.comm);
    if (l->team.rank == 0 && made && !any[1]) {
        unlink(l->log.data_name);
        unlink(l->log.meta_name);
    }
}

static void close_logs(void *self, bool used)
{
    struct logs *l = self;
    if (used)
        remove_files(l);
    free_logs(l);
}

static const struct brio_sharedlog door = {
    .view = view,
    .append = append,
    .order = order,
    .next = next,
    .settled = settled,
    .position = position,
    .move = move,
};

const struct brio_sharedfp brio_sharedfp_individual = {
    .base = {.name = "individual",
             .about = "no pointer: a log of each rank, merged by time when all come together",
             .hints = hints,
             .conf_size = sizeof(struct conf),
             .query = query},
    .log = &door,
    .open = open_logs,
    .add = refuse_add,
    .set = refuse_set,
    .close = close_logs,
};
