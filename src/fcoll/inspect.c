/* Two letters: a pattern to each owner concerned, and back its windows. */
#include "fcoll/inspect.h"

#include <stdlib.h>

#include "base/mem.h"
#include "comm/verdict.h"
#include "type/cut.h"
#include "type/merge.h"
#include "type/wire.h"

/* Beyond this, a union is not worth looking for: ranks access their bytes themselves. */
#define MAX_PIECES ((brio_off)4 << 20)

BRIO_ERR brio_inspect_open(struct brio_inspect *in, const struct brio_team *team)
{
    *in = (struct brio_inspect){.team = team};
    return brio_mail_open(&in->mail, team);
}

void brio_inspect_close(struct brio_inspect *in)
{
    brio_plan_free(in->plan);
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
        if (from == to)
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

static BRIO_ERR make_plan(struct brio_inspect *in, brio_domains *domains, struct brio_map *mine)
{
    const struct brio_extent *extent = &in->extent;
    void *mem;
    enum brio_err err = brio_calloc(1, sizeof *in->plan, &mem);
    if (err) {
        brio_map_unref(mine);
        return err;
    }
    in->plan = mem;
    in->plan->mine = mine;
    in->plan->own = -1;
    in->plan->window = extent->buffer;
    err = brio_calloc((size_t)extent->nranks, sizeof *in->plan->owners,
                      (void **)&in->plan->owners);
    if (err)
        return err;
    in->plan->nowners = domains(extent, in->plan->owners);
    for (int a = 0; a < in->plan->nowners; a++)
        if (in->plan->owners[a].rank == in->team->rank)
            in->plan->own = a;
    return BRIO_OK;
}

void brio_inspect_start(struct brio_inspect *in, const struct brio_extent *extent,
                        brio_domains *domains, struct brio_map *mine, enum brio_err err,
                        enum brio_wait how)
{
    in->extent = *extent;
    in->err = err;
    brio_plan_free(in->plan);
    in->plan = NULL;
    brio_mail_reset(&in->mail);
    if (!in->err)
        in->err = make_plan(in, domains, mine);
    if (!in->err)
        in->err = write_patterns(in);
    in->stage = BRIO_INSPECT_ASK;
    brio_mail_start(&in->mail, how);
}

/* ---- As an owner --------------------------------------------------------------------- */

/* Every letter as a map; ranks that sent none have NULL. */
static BRIO_ERR read_patterns(struct brio_inspect *in, struct brio_map **maps)
{
    const struct brio_mail *mail = &in->mail;
    for (int r = 0; r < in->team->nranks; r++) {
        size_t used;
        if (mail->in_n[r] == 0)
            continue;
        enum brio_err err =
            brio_wire_get(mail->in + mail->in_at[r], (size_t)mail->in_n[r], &used, &maps[r]);
        if (err)
            return err;
    }
    return BRIO_OK;
}

/* Packs the maps that are there to the front, and unites them. */
static BRIO_ERR unite(struct brio_inspect *in, struct brio_map *const *maps, int n,
                      struct brio_map **packed)
{
    struct brio_plan *plan = in->plan;
    struct brio_owner *owner = &plan->owners[plan->own];
    size_t count = 0;
    for (int r = 0; r < n; r++)
        if (maps[r])
            packed[count++] = maps[r];
    enum brio_err err = brio_merge(count, packed, MAX_PIECES, &plan->touched);
    if (!err)
        err = brio_windows_make(plan->touched, plan->window, in->extent.align, &owner->windows,
                                &owner->nwindows);
    for (size_t k = 0; !err && k < owner->nwindows; k++)
        for (size_t i = 0; i < count; i++)
            owner->windows[k].nsources += brio_cut_below(packed[i], owner->windows[k].lo) <
                                          brio_cut_below(packed[i], owner->windows[k].hi);
    return err;
}

/* To each rank that sent a pattern, where the windows are. */
static BRIO_ERR write_windows(struct brio_inspect *in, struct brio_map *const *maps)
{
    const struct brio_owner *owner = &in->plan->owners[in->plan->own];
    brio_mail_reset(&in->mail);
    for (int r = 0; r < in->team->nranks; r++) {
        if (!maps[r] || r == in->team->rank)
            continue;
        int64_t *at = brio_mail_put(&in->mail, r, 2 * owner->nwindows);
        if (!at)
            return in->mail.err;
        for (size_t k = 0; k < owner->nwindows; k++) {
            *at++ = owner->windows[k].lo;
            *at++ = owner->windows[k].hi;
        }
    }
    return BRIO_OK;
}

static BRIO_ERR serve(struct brio_inspect *in)
{
    int n = in->team->nranks;
    struct brio_map **maps;
    enum brio_err err = brio_calloc(2 * (size_t)n, sizeof *maps, (void **)&maps);
    if (err)
        return err;
    err = read_patterns(in, maps);
    if (!err)
        err = unite(in, maps, n, maps + n);
    if (!err)
        err = write_windows(in, maps);
    for (int r = 0; r < n; r++)
        brio_map_unref(maps[r]);
    free(maps);
    return err;
}

/* ---- As a rank ----------------------------------------------------------------------- */

static BRIO_ERR read_windows(struct brio_inspect *in)
{
    const struct brio_mail *mail = &in->mail;
    for (int a = 0; a < in->plan->nowners; a++) {
        struct brio_owner *owner = &in->plan->owners[a];
        int n = mail->in_n[owner->rank] / 2;
        const int64_t *at = mail->in + mail->in_at[owner->rank];
        if (a == in->plan->own || n == 0)
            continue;
        enum brio_err err =
            brio_calloc((size_t)n, sizeof *owner->windows, (void **)&owner->windows);
        if (err)
            return err;
        owner->nwindows = (size_t)n;
        for (int k = 0; k < n; k++)
            owner->windows[k] = (struct brio_window){.lo = at[2 * k], .hi = at[2 * k + 1]};
    }
    return BRIO_OK;
}

bool brio_inspect_step(struct brio_inspect *in, enum brio_wait how, struct brio_plan **out)
{
    enum brio_err err = BRIO_OK;
    if (in->stage == BRIO_INSPECT_ASK) {
        if (!brio_mail_step(&in->mail, how, &err))
            return false;
        fail(in, err);
        brio_mail_reset(&in->mail);
        if (!in->err && in->plan->own >= 0)
            fail(in, serve(in));
        in->stage = BRIO_INSPECT_ANSWER;
        brio_mail_start(&in->mail, how);
    }
    if (in->stage == BRIO_INSPECT_ANSWER) {
        if (!brio_mail_step(&in->mail, how, &err))
            return false;
        fail(in, err);
        if (!in->err)
            fail(in, read_windows(in));
        in->reduce.n = 1;
        in->reduce.in[0] = in->err != BRIO_OK;
        in->stage = BRIO_INSPECT_AGREE;
        brio_reduce_start(&in->reduce, in->team, how);
    }
    if (!brio_reduce_done(&in->reduce, how))
        return false;
    *out = in->reduce.out[0] ? NULL : in->plan;
    if (*out)
        in->plan = NULL;
    return true;
}
