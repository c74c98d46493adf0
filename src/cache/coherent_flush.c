/* Writing back what is dirty, in two phases (paper 001, section 3): pages that are neighbours
 * in the file but lie in several crews go to one rank, which writes them together. Pages that
 * have all their neighbours in their crew are written there. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cache/coherent.h"
#include "comm/verdict.h"

enum {
    TOGETHER = 4 << 20 /* bytes that leave in one piece; the file is cut at multiples of it */
};

/* Dirty bytes of one page, as one rank tells another. */
struct run {
    brio_off off; /* in the file */
    int32_t rank; /* that has the page */
    uint32_t frame;
    uint32_t len;
    uint32_t spare;
};

struct runs {
    struct run *run;
    size_t n;
};

/* A group is what is written in one piece if all of it is dirty. */
static brio_off group_of(const struct brio_coherent *c, brio_off off)
{
    return off / c->page / brio_max(TOGETHER / c->page, 1);
}

static int by_place(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    return x->off < y->off ? -1 : x->off > y->off;
}

/* The dirty runs of one member's frames, with or without those that other ranks write; counts
 * them if `to` is NULL. */
static size_t list_frames(const struct brio_coherent *c, int rank, bool away, struct run *to)
{
    const struct brio_frames *frames = brio_bay_frames(c, c->member_of[rank]);
    size_t n = 0;
    for (uint32_t i = 0; i < frames->used; i++) {
        const struct brio_cached *frame = brio_cached_at(frames, i);
        if (atomic_load(&frame->used) == 0 || (frame->away && !away))
            continue;
        for (uint32_t j = 0; j < frame->dirty.n; j++, n++) {
            const struct brio_dirty_run run = frame->dirty.run[j];
            if (to)
                to[n] = (struct run){.off = frame->page * c->page + run.lo,
                                     .rank = rank,
                                     .frame = i,
                                     .len = run.hi - run.lo};
        }
    }
    return n;
}

/* ---- The first phase: who writes what --------------------------------------------------- */

/* Runs on their way between ranks: so many, from there on, by rank. */
struct tables {
    int *out, *out_at, *in, *in_at;
    MPI_Datatype type;
};

static int clerk_of(const struct brio_coherent *c, const struct run *run)
{
    return (int)(group_of(c, run->off) % c->team->nranks);
}

static int add_up(const int *n, int *at, int nranks)
{
    int sum = 0;
    for (int r = 0; r < nranks; r++) {
        at[r] = sum;
        sum += n[r];
    }
    return sum;
}

/* Collective. Every run goes to the clerk of its group; in `came` they are in the order of
 * the ranks. `mine` is put in the order of the clerks. */
static BRIO_ERR tell_clerks(const struct brio_coherent *c, struct tables *t, struct runs *mine,
                            struct runs *came)
{
    const int nranks = c->team->nranks;
    struct run *sorted;
    enum brio_err err = brio_calloc(mine->n + 1, sizeof *sorted, (void **)&sorted);
    for (size_t i = 0; i < mine->n; i++)
        t->out[clerk_of(c, &mine->run[i])]++;
    add_up(t->out, t->out_at, nranks);
    if (!err) {
        for (size_t i = 0; i < mine->n; i++)
            sorted[t->out_at[clerk_of(c, &mine->run[i])]++] = mine->run[i];
        add_up(t->out, t->out_at, nranks);
        free(mine->run);
        mine->run = sorted;
    }
    PMPI_Alltoall(t->out, 1, MPI_INT, t->in, 1, MPI_INT, c->team->comm);
    came->n = (size_t)add_up(t->in, t->in_at, nranks);
    if (!err)
        err = brio_calloc(came->n + 1, sizeof *came->run, (void **)&came->run);
    err = brio_agree(c->team, err);
    if (!err)
        PMPI_Alltoallv(mine->run, t->out, t->out_at, t->type, came->run, t->in, t->in_at,
                       t->type, c->team->comm);
    return err;
}

/* At the clerk: marks the runs of groups that lie in more than one crew, and keeps those alone
 * in `came`, in file order. */
static void judge(const struct brio_coherent *c, struct runs *came, char *away,
                  struct run *sorted)
{
    size_t kept = 0;
    for (size_t i = 0; i < came->n; i++) {
        sorted[i] = came->run[i];
        sorted[i].spare = (uint32_t)i;
    }
    qsort(sorted, came->n, sizeof *sorted, by_place);
    for (size_t i = 0, j; i < came->n; i = j) {
        bool spread = false;
        for (j = i; j < came->n && group_of(c, sorted[j].off) == group_of(c, sorted[i].off);
             j++)
            spread |= c->crew->crew_of[sorted[j].rank] != c->crew->crew_of[sorted[i].rank];
        for (size_t k = i; k < j && spread; k++) {
            away[sorted[k].spare] = 1;
            came->run[kept++] = sorted[k];
        }
    }
    came->n = kept;
}

/* Collective. The clerks' answers go back the way the runs came. */
static BRIO_ERR hear_clerks(struct brio_coherent *c, struct tables *t, const struct runs *mine,
                            struct runs *came)
{
    struct brio_frames *frames = brio_bay_frames(c, c->crew->team.rank);
    struct run *sorted = NULL;
    char *verdict = NULL, *answer = NULL;
    enum brio_err err = brio_calloc(came->n + 1, sizeof *sorted, (void **)&sorted);
    if (!err)
        err = brio_calloc(came->n + 1, 1, (void **)&verdict);
    if (!err)
        err = brio_calloc(mine->n + 1, 1, (void **)&answer);
    err = brio_agree(c->team, err);
    if (!err) {
        judge(c, came, verdict, sorted);
        PMPI_Alltoallv(verdict, t->in, t->in_at, MPI_CHAR, answer, t->out, t->out_at, MPI_CHAR,
                       c->team->comm);
        for (size_t i = 0; i < mine->n; i++)
            brio_cached_at(frames, mine->run[i].frame)->away = answer[i];
    }
    free(sorted);
    free(verdict);
    free(answer);
    return err;
}

/* Collective. Afterwards the frames that other crews' pages are the neighbours of are marked,
 * and `came` is what of them this rank is to write. */
static BRIO_ERR shuffle(struct brio_coherent *c, struct runs *came)
{
    const size_t nranks = (size_t)c->team->nranks;
    struct tables t = {NULL};
    struct runs mine = {.n = list_frames(c, c->team->rank, true, NULL)};
    enum brio_err err = brio_calloc(4 * nranks, sizeof *t.out, (void **)&t.out);
    if (!err)
        err = brio_calloc(mine.n + 1, sizeof *mine.run, (void **)&mine.run);
    struct brio_verdict v;
    brio_verdict_init(&v, err);
    v.most = mine.n > 0;
    err = brio_verdict_settle(&v, c->team);
    if (!err && v.most > 0) {
        t.out_at = t.out + nranks;
        t.in = t.out_at + nranks;
        t.in_at = t.in + nranks;
        PMPI_Type_contiguous(sizeof(struct run), MPI_BYTE, &t.type);
        PMPI_Type_commit(&t.type);
        list_frames(c, c->team->rank, true, mine.run);
        err = tell_clerks(c, &t, &mine, came);
        if (!err)
            err = hear_clerks(c, &t, &mine, came);
        PMPI_Type_free(&t.type);
        if (!err)
            err = brio_agree(c->team, BRIO_OK); /* all frames of the crew are marked */
    }
    free(t.out);
    free(mine.run);
    return err;
}

/* ---- The second phase: writing ---------------------------------------------------------- */

/* Bytes that are gathered to be written in one piece. */
struct pen {
    struct brio_coherent *c;
    struct brio_box *box;
    char *buffer;
    brio_off off;
    size_t used;
};

static BRIO_ERR write_piece(struct brio_coherent *c, brio_off off, char *bytes, size_t len)
{
    struct brio_io io = brio_io_flat(BRIO_WRITE, off, bytes, (brio_off)len, c->flat);
    struct brio_result r = brio_lane_access(&c->below, &io);
    if (!r.err && r.bytes < io.bytes)
        return brio_fail(BRIO_EIO, "a short write below the cache");
    return r.err;
}

static BRIO_ERR empty_pen(struct pen *pen)
{
    size_t used = pen->used;
    pen->used = 0;
    return used > 0 ? write_piece(pen->c, pen->off, pen->buffer, used) : BRIO_OK;
}

/* Bytes [at, at + len) of the run into the buffer. */
static BRIO_ERR fetch(struct pen *pen, const struct run *run, uint32_t at, uint32_t len)
{
    struct brio_coherent *c = pen->c;
    char *to = pen->buffer + pen->used;
    const struct brio_part part = {
        .page = run->off / c->page, .lo = (uint32_t)(run->off % c->page) + at, .len = len};
    if (c->member_of[run->rank] >= 0) {
        memcpy(to, brio_coherent_frame(c, run->rank, run->frame).bytes + part.lo, len);
        return BRIO_OK;
    }
    struct brio_grant grant = {.owner = run->rank, .frame = run->frame, .alone = true};
    enum brio_err err = brio_coherent_far(c, pen->box, BRIO_READ, &part, &grant);
    if (!err)
        memcpy(to, brio_coherent_far_bytes(pen->box), len);
    return err;
}

static BRIO_ERR gather(struct pen *pen, const struct run *run)
{
    enum brio_err err = pen->buffer ? BRIO_OK : brio_calloc(1, TOGETHER, (void **)&pen->buffer);
    if (!err && pen->used > 0 && pen->off + (brio_off)pen->used != run->off)
        err = empty_pen(pen);
    for (uint32_t at = 0, n; at < run->len && !err; at += n) {
        if (pen->used == TOGETHER)
            err = empty_pen(pen);
        if (err)
            break;
        n = run->len - at;
        n = n < pen->c->far_most ? n : pen->c->far_most;
        n = n < TOGETHER - pen->used ? n : (uint32_t)(TOGETHER - pen->used);
        if (pen->used == 0)
            pen->off = run->off + at;
        err = fetch(pen, run, at, n);
        if (!err)
            pen->used += n;
    }
    return err;
}

/* The runs are in file order. A run of this crew that has no neighbour needs no copy. What
 * fails does not keep the rest from being written. */
static BRIO_ERR write_runs(struct pen *pen, const struct run *run, size_t n)
{
    struct brio_coherent *c = pen->c;
    enum brio_err err = BRIO_OK;
    for (size_t i = 0; i < n; i++) {
        enum brio_err failed;
        bool joins = pen->used > 0 && pen->off + (brio_off)pen->used == run[i].off;
        bool goes_on = i + 1 < n && run[i].off + run[i].len == run[i + 1].off;
        if (joins || goes_on || c->member_of[run[i].rank] < 0)
            failed = gather(pen, &run[i]);
        else
            failed = write_piece(c, run[i].off,
                                 brio_coherent_frame(c, run[i].rank, run[i].frame).bytes +
                                     run[i].off % c->page,
                                 run[i].len);
        if (!err)
            err = failed;
    }
    enum brio_err last = empty_pen(pen);
    return err ? err : last;
}

/* Where the part of member `m` begins: an even share, but neighbours of a group stay
 * together. */
static size_t find_share(const struct brio_coherent *c, const struct runs *all, size_t m)
{
    const struct run *run = all->run;
    size_t i = all->n * m / (size_t)c->crew->team.nranks;
    while (i > 0 && i < all->n && run[i - 1].off + run[i - 1].len == run[i].off &&
           group_of(c, run[i - 1].off) == group_of(c, run[i].off))
        i++;
    return i;
}

/* The runs of the whole crew that are not another rank's to write, in file order. */
static BRIO_ERR list_crew(const struct brio_coherent *c, struct runs *out)
{
    size_t most = 0;
    for (int r = 0; r < c->team->nranks; r++)
        most += c->member_of[r] >= 0 ? list_frames(c, r, false, NULL) : 0;
    enum brio_err err = brio_calloc(most + 1, sizeof *out->run, (void **)&out->run);
    for (int r = 0; r < c->team->nranks && !err; r++)
        if (c->member_of[r] >= 0)
            out->n += list_frames(c, r, false, out->run + out->n);
    if (!err)
        qsort(out->run, out->n, sizeof *out->run, by_place);
    return err;
}

BRIO_ERR brio_coherent_write_back(struct brio_coherent *c)
{
    struct pen pen = {.c = c};
    struct runs came = {NULL}, ours = {NULL};
    enum brio_err err = c->courier ? shuffle(c, &came) : BRIO_OK;
    if (!err)
        err = list_crew(c, &ours);
    if (!err) {
        size_t me = (size_t)c->crew->team.rank;
        size_t from = find_share(c, &ours, me), to = find_share(c, &ours, me + 1);
        if (c->courier)
            pen.box = brio_courier_take(c->courier, BRIO_BLOCK);
        err = write_runs(&pen, came.run, came.n);
        enum brio_err failed = write_runs(&pen, ours.run + from, to - from);
        if (!err)
            err = failed;
        if (pen.box)
            brio_courier_give(c->courier, pen.box);
    }
    free(pen.buffer);
    free(came.run);
    free(ours.run);
    return err;
}
