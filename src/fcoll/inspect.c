/* Two letters: a pattern to each owner concerned, and back its windows. Before that, if the
 * plan maker wants it, everybody's share. */
#include "fcoll/inspect.h"

#include <stdlib.h>

#include "base/mem.h"
#include "comm/real.h"
#include "comm/verdict.h"
#include "fcoll/aggregators.h"
#include "fcoll/area.h"
#include "type/cut.h"
#include "type/merge.h"
#include "type/wire.h"

/* Beyond this, a union is not worth looking for: ranks access their bytes themselves. */
#define MAX_PIECES ((brio_off)4 << 20)

BRIO_ERR brio_inspect_open(struct brio_inspect *in, const struct brio_team *team,
                           struct brio_crew *crew)
{
    size_t n = (size_t)team->nranks;
    *in = (struct brio_inspect){.team = team, .crew = crew};
    enum brio_err err = brio_calloc(n, sizeof *in->shares, (void **)&in->shares);
    if (!err)
        err = brio_calloc(n, sizeof *in->order, (void **)&in->order);
    if (!err)
        err = brio_calloc(n, sizeof *in->box_at, (void **)&in->box_at);
    if (!err)
        err = brio_calloc((size_t)crew->ncrews, sizeof *in->boxes, (void **)&in->boxes);
    if (err)
        return err;
    bool together = crew->ncrews == 1 && team->meet;
    return brio_mail_open(&in->mail, team, together ? &crew->region : NULL,
                          brio_area_bytes(team->nranks, 0, 0));
}

void brio_inspect_close(struct brio_inspect *in)
{
    brio_plan_free(in->plan);
    brio_map_unref(in->mine);
    free(in->shares);
    free(in->order);
    free(in->box_at);
    free(in->boxes);
    brio_mail_close(&in->mail);
}

static void fail(struct brio_inspect *in, enum brio_err err)
{
    if (!in->err)
        in->err = err;
}

/* To each owner, this rank's bytes within the owner's domain. */
static BRIO_ERR write_patterns(struct brio_inspect *in)
{
    const struct brio_plan *plan = in->plan;
    for (int a = 0; a < plan->nowners; a++) {
        const struct brio_owner *owner = &plan->owners[a];
        brio_off from = brio_cut_below(plan->mine, owner->lo);
        brio_off to = brio_cut_below(plan->mine, owner->hi);
        struct brio_map *part;
        if (from == to || !owner->mine)
            continue;
        enum brio_err err = brio_map_cut(plan->mine, 0, from, to - from, &part);
        if (err)
            return err;
        int64_t *at = brio_mail_put(&in->mail, owner->rank, brio_wire_size(part));
        if (at)
            brio_wire_put(part, at);
        brio_map_unref(part);
        if (!at)
            return in->mail.err;
    }
    return BRIO_OK;
}

static BRIO_ERR make_plan(struct brio_inspect *in)
{
    const struct brio_extent *extent = &in->extent;
    void *mem;
    enum brio_err err = brio_calloc(1, sizeof *in->plan, &mem);
    if (err)
        return err;
    in->plan = mem;
    in->plan->mine = in->mine;
    in->mine = NULL;
    in->plan->own = -1;
    in->plan->window = extent->buffer;
    in->plan->nranks = extent->nranks;
    in->plan->packed = extent->packed;
    in->plan->coarse = extent->coarse;
    err = brio_calloc((size_t)extent->nranks, sizeof *in->plan->owners,
                      (void **)&in->plan->owners);
    if (err)
        return err;
    in->plan->nowners = in->domains(extent, in->plan->owners);
    for (int a = 0; a < in->plan->nowners; a++) {
        struct brio_owner *owner = &in->plan->owners[a];
        owner->mine = in->place >= owner->first && in->place <= owner->last;
        if (owner->rank == in->team->rank)
            in->plan->own = a;
    }
    return BRIO_OK;
}

static void ask(struct brio_inspect *in)
{
    if (!in->err)
        in->err = make_plan(in);
    if (!in->err)
        in->err = write_patterns(in);
    in->stage = BRIO_INSPECT_ASK;
    brio_mail_start(&in->mail, in->area);
}

static void gather(struct brio_inspect *in)
{
    struct brio_share *mine = &in->shares[in->team->rank];
    *mine = (struct brio_share){.bytes = 0};
    if (in->mine && in->mine->size > 0) {
        mine->bytes = in->mine->size;
        brio_map_bounds(in->mine, 0, mine->bytes, &mine->lo, &mine->hi);
    }
    in->stage = BRIO_INSPECT_GATHER;
    if (PMPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in->shares,
                        sizeof *mine / sizeof(int64_t), MPI_INT64_T, in->team->comm,
                        &in->gathered))
        fail(in, brio_fail(BRIO_EINTERN, "MPI_Iallgather failed"));
}

static bool gathered(struct brio_inspect *in, enum brio_wait how)
{
    if (how == BRIO_POLL && !brio_real_test(&in->gathered))
        return false;
    if (how == BRIO_BLOCK)
        brio_real_wait(&in->gathered);
    for (int i = 0; i < in->team->nranks; i++)
        in->order[i] = i;
    if (in->extent.ordered == BRIO_ORDER_DATA)
        brio_order_by_data(in->shares, in->team->nranks, in->order);
    for (int i = 0; i < in->team->nranks; i++)
        if (in->order[i] == in->team->rank)
            in->place = i;
    in->extent.shares = in->shares;
    in->extent.order = in->order;
    return true;
}

void brio_inspect_start(struct brio_inspect *in, const struct brio_extent *extent, size_t area,
                        brio_domains *domains, struct brio_map *mine, enum brio_err err)
{
    in->area = area;
    in->extent = *extent;
    in->domains = domains;
    in->err = err;
    in->place = in->team->rank;
    in->gathered = MPI_REQUEST_NULL;
    brio_plan_free(in->plan);
    in->plan = NULL;
    brio_map_unref(in->mine);
    in->mine = mine;
    brio_mail_reset(&in->mail);
    if (extent->ordered == BRIO_ORDER_NONE)
        ask(in);
    else
        gather(in);
}

/* ---- As an owner --------------------------------------------------------------------- */

static struct brio_owner *own_owner(const struct brio_inspect *in)
{
    return &in->plan->owners[in->plan->own];
}

/* Every letter as a map. */
static BRIO_ERR read_patterns(struct brio_inspect *in)
{
    struct brio_plan *plan = in->plan;
    enum brio_err err =
        brio_calloc((size_t)plan->nranks, sizeof *plan->sources, (void **)&plan->sources);
    for (int r = 0; r < plan->nranks && !err; r++) {
        size_t n, used;
        const int64_t *letter = brio_mail_read(&in->mail, r, &n);
        if (n > 0)
            err = brio_wire_get(letter, n, &used, &plan->sources[r]);
    }
    return err;
}

/* What all ranks together touch. */
static BRIO_ERR unite(struct brio_inspect *in)
{
    struct brio_plan *plan = in->plan;
    struct brio_map **some;
    size_t count = 0;
    enum brio_err err = brio_calloc((size_t)plan->nranks, sizeof *some, (void **)&some);
    if (err)
        return err;
    for (int r = 0; r < plan->nranks; r++)
        if (plan->sources[r])
            some[count++] = plan->sources[r];
    err = brio_merge(count, some, MAX_PIECES, &plan->touched);
    free(some);
    return err;
}

/* Of what goes to, or comes from, another crew for one window; or this one, if it lies packed.
 */
static brio_off largest_box(const struct brio_inspect *in)
{
    brio_off most = 0;
    bool packed = in->plan->packed;
    if (in->crew->ncrews == 1 && !packed)
        return 0;
    for (size_t k = 0; k < own_owner(in)->nwindows; k++) {
        brio_plan_boxes(in->plan, in->crew, k, in->box_at, in->boxes);
        for (int c = 0; c < in->crew->ncrews; c++)
            if (c != in->crew->mine || packed)
                most = brio_max(most, in->boxes[c].bytes);
    }
    return most;
}

/* Bytes that many ranks of a crew read lie in its box as often: so that it is no larger than a
 * window may be, windows get smaller. */
static BRIO_ERR cut_windows(struct brio_inspect *in)
{
    struct brio_plan *plan = in->plan;
    struct brio_owner *owner = own_owner(in);
    brio_off size = plan->window;
    enum brio_err err = brio_windows_make(plan->touched, size, in->extent.align, owner);
    while (!err && size > 1 && largest_box(in) > plan->window) {
        size /= 2;
        owner->nwindows = 0;
        free(owner->windows);
        owner->windows = NULL;
        err = brio_windows_make(plan->touched, size, in->extent.align, owner);
    }
    return err;
}

static BRIO_ERR make_windows(struct brio_inspect *in)
{
    struct brio_plan *plan = in->plan;
    struct brio_owner *owner = own_owner(in);
    if (owner->segment > 0)
        return brio_windows_segment(plan->sources, plan->nranks, owner);
    enum brio_err err = unite(in);
    return err ? err : cut_windows(in);
}

/* Ranks that always copy straight into this owner's windows, in the order of the file, need not
 * know what the others do. */
static bool in_place(const struct brio_inspect *in, int r)
{
    return own_owner(in)->segment == 0 && !in->plan->packed &&
           in->crew->crew_of[r] == in->crew->mine;
}

enum {
    WINDOW_WORDS = 5
};

/* How rank r takes part in window k, whose boxes are known. */
static void describe(const struct brio_inspect *in, int r, size_t k)
{
    const struct brio_window *w = &own_owner(in)->windows[k];
    const struct brio_boxes *box = &in->boxes[in->crew->crew_of[r]];
    int64_t *at = in->mail.out + in->mail.out_at[r] + WINDOW_WORDS * k;
    bool boxed = !in_place(in, r);
    at[0] = w->lo;
    at[1] = w->hi;
    at[2] = boxed ? in->box_at[r] : 0;
    at[3] = boxed ? box->bytes : 0;
    at[4] = boxed ? box->nsources : 0;
}

/* A rank that sent a pattern, or the leader of its crew. */
static bool is_concerned(const struct brio_inspect *in, int r)
{
    const struct brio_plan *plan = in->plan;
    int crew = in->crew->crew_of[r];
    bool concerned = plan->sources[r] != NULL;
    if (in->crew->leader[crew] == r && crew != in->crew->mine)
        for (int q = r; q < plan->nranks && !concerned; q++)
            concerned = in->crew->crew_of[q] == crew && plan->sources[q];
    return concerned && r != in->team->rank;
}

/* Letters as long as they must be; those who copy in place get the same one: *same. */
static BRIO_ERR begin_letters(struct brio_inspect *in, int *same)
{
    *same = -1;
    brio_mail_reset(&in->mail);
    for (int r = 0; r < in->plan->nranks; r++) {
        if (!is_concerned(in, r))
            continue;
        if (in_place(in, r) && *same >= 0)
            brio_mail_same(&in->mail, r, *same);
        else if (!brio_mail_put(&in->mail, r, WINDOW_WORDS * own_owner(in)->nwindows))
            return in->mail.err;
        else if (in_place(in, r))
            *same = r;
    }
    return BRIO_OK;
}

static BRIO_ERR write_windows(struct brio_inspect *in)
{
    struct brio_owner *owner = own_owner(in);
    int me = in->team->rank, same;
    enum brio_err err = begin_letters(in, &same);
    for (size_t k = 0; k < owner->nwindows && !err; k++) {
        struct brio_window *w = &owner->windows[k];
        brio_plan_boxes(in->plan, in->crew, k, in->box_at, in->boxes);
        w->box_at = in->box_at[me];
        w->box_bytes = in->boxes[in->crew->mine].bytes;
        w->nsources = in->boxes[in->crew->mine].nsources;
        for (int r = 0; r < in->plan->nranks; r++)
            if (in->mail.out_n[r] > 0 && (r == same || !in_place(in, r)))
                describe(in, r, k);
    }
    return err;
}

static BRIO_ERR serve(struct brio_inspect *in)
{
    enum brio_err err = read_patterns(in);
    if (!err)
        err = make_windows(in);
    if (!err)
        err = write_windows(in);
    return err;
}

/* ---- As a rank ----------------------------------------------------------------------- */

static BRIO_ERR read_windows(struct brio_inspect *in)
{
    for (int a = 0; a < in->plan->nowners; a++) {
        struct brio_owner *owner = &in->plan->owners[a];
        size_t n;
        const int64_t *at = brio_mail_read(&in->mail, owner->rank, &n);
        if (a == in->plan->own || n == 0)
            continue;
        enum brio_err err =
            brio_calloc(n / WINDOW_WORDS, sizeof *owner->windows, (void **)&owner->windows);
        if (err)
            return err;
        owner->nwindows = n / WINDOW_WORDS;
        for (size_t k = 0; k < owner->nwindows; k++, at += WINDOW_WORDS)
            owner->windows[k] = (struct brio_window){.lo = at[0],
                                                     .hi = at[1],
                                                     .box_at = at[2],
                                                     .box_bytes = at[3],
                                                     .nsources = (int)at[4]};
    }
    return BRIO_OK;
}

/* No rank may find out later that it has bytes left. */
static BRIO_ERR check(const struct brio_plan *plan)
{
    brio_off placed = brio_plan_placed(plan);
    if (placed == plan->mine->size)
        return BRIO_OK;
    return brio_fail(BRIO_EINTERN, "the plan has a place for %lld of %lld bytes",
                     (long long)placed, (long long)plan->mine->size);
}

bool brio_inspect_step(struct brio_inspect *in, enum brio_wait how, struct brio_plan **out)
{
    enum brio_err err = BRIO_OK;
    if (in->stage == BRIO_INSPECT_GATHER) {
        if (!gathered(in, how))
            return false;
        ask(in);
    }
    if (in->stage == BRIO_INSPECT_ASK) {
        if (!brio_mail_step(&in->mail, how, &err))
            return false;
        fail(in, err);
        brio_mail_reset(&in->mail);
        if (!in->err && in->plan->own >= 0)
            fail(in, serve(in));
        in->stage = BRIO_INSPECT_ANSWER;
        brio_mail_start(&in->mail, in->area);
    }
    if (in->stage == BRIO_INSPECT_ANSWER) {
        if (!brio_mail_step(&in->mail, how, &err))
            return false;
        fail(in, err);
        if (!in->err)
            fail(in, read_windows(in));
        if (!in->err)
            fail(in, check(in->plan));
        in->stage = BRIO_INSPECT_OVER;
    }
    *out = in->err ? NULL : in->plan;
    if (*out)
        in->plan = NULL;
    return true;
}
