/* Here the rooms are joined: fs gives a store, fbtl makes a lane of it, cache wraps it. */
#include "core/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "comm/verdict.h"
#include "core/explain.h"
#include "core/ordered.h"
#include "core/registry.h"
#include "lane/dry.h"

BRIO_ERR brio_module_select(struct brio_file *f, enum brio_framework framework)
{
    size_t n;
    const struct brio_module *const *all = brio_registry(framework, &n);
    struct brio_chosen chosen;
    enum brio_err err = brio_select(framework, all, n, &f->facts, f->settings, &chosen);
    if (err)
        return err;
    brio_chosen_free(&f->chosen[framework]);
    f->chosen[framework] = chosen;
    brio_explain_choice(f, framework);
    return BRIO_OK;
}

/* Names of the chosen modules and the values of their hints that must be the same. */
BRIO_ERR brio_modules_preview(struct brio_file *f, int64_t *hash)
{
    *hash = 0;
    for (int i = 0; i < BRIO_FRAMEWORKS; i++) {
        const struct brio_module *module = f->chosen[i].module;
        void *conf = NULL;
        if (!module || !module->conf_size)
            continue;
        enum brio_err err = brio_calloc(1, module->conf_size, &conf);
        if (!err)
            err = brio_settings_fill(f->settings, module->hints, conf);
        if (!err)
            *hash = *hash * 31 + (int64_t)(brio_hints_hash_same(module->hints, conf) >> 8);
        free(conf);
        if (err)
            return err;
    }
    return BRIO_OK;
}

int64_t brio_modules_hash(const struct brio_file *f)
{
    uint64_t hash = 0;
    for (int i = 0; i < BRIO_FRAMEWORKS; i++) {
        const struct brio_chosen *c = &f->chosen[i];
        for (const char *s = c->module ? c->module->name : ""; *s; s++)
            hash = hash * 31 + (unsigned char)*s;
        hash = hash * 31 + (c->module ? brio_hints_hash_same(c->module->hints, c->conf) : 0);
    }
    return (int64_t)hash;
}

/* Whether the fs module that was chosen has to be asked if it can be used from here. */
static bool is_asked(const struct brio_file *f)
{
    return brio_file_fs(f) && brio_file_fs(f)->reach != brio_fs_reach_all;
}

/* Whether another one may take its place. */
static bool may_change(const struct brio_file *f)
{
    return is_asked(f) && !f->chosen[BRIO_FS].forced;
}

/* Most files never move their shared pointer: it may be wanting until they do, unless the
 * program asked for a module of it for this very file. The variable in the environment speaks
 * of all files, also of those that the module is not for; but if it goes with another fs
 * module, that one is to be found. */
static bool pointer_may_want(const struct brio_file *f)
{
    const char *name = brio_framework_name(BRIO_SHAREDFP);
    struct brio_setting e;
    bool may = true;
    for (size_t i = 0; f->settings && brio_settings_at(f->settings, i, &e); i++)
        if (strcmp(e.name, name) == 0)
            may = e.source <= BRIO_FROM_ENVIRONMENT && !may_change(f);
    return may;
}

/* Those who use it are told why. */
static void leave_pointer_out(struct brio_file *f)
{
    struct brio_chosen *chosen = &f->chosen[BRIO_SHAREDFP];
    brio_chosen_free(chosen);
    snprintf(chosen->why, sizeof chosen->why, "%s", brio_err_text());
}

/* Collective. One of each, the same everywhere. *free_to_change: fs is one that is asked, and
 * on some rank nobody insists on it. */
static BRIO_ERR select_all(struct brio_file *f, bool *free_to_change)
{
    struct brio_verdict v;
    enum brio_err err = BRIO_OK;
    for (int i = 0; i < BRIO_FRAMEWORKS && !err; i++) {
        if (i == BRIO_FCOLL || i == BRIO_FCACHE) /* chosen with the view, and the layout */
            continue;
        err = brio_module_select(f, (enum brio_framework)i);
        if (i == BRIO_FS && !err)
            snprintf(f->facts.store, sizeof f->facts.store, "%s", brio_file_fs(f)->store);
        if (err == BRIO_EUNSUPOP && i == BRIO_SHAREDFP && pointer_may_want(f)) {
            leave_pointer_out(f);
            brio_explain_choice(f, BRIO_SHAREDFP);
            err = BRIO_OK;
        }
    }
    brio_verdict_init(&v, err);
    v.most = may_change(f);
    brio_verdict_same(&v, "the choice of modules", brio_modules_hash(f));
    err = brio_verdict_settle(&v, &f->team);
    *free_to_change = v.most > 0;
    return err;
}

/* Collective. Some can only tell by trying whether they reach the file from every rank; and
 * what the user asks for may go with another one only. */
BRIO_ERR brio_modules_select(struct brio_file *f)
{
    bool free_to_change;
    enum brio_err err = select_all(f, &free_to_change);
    if (!err && is_asked(f))
        err = brio_agree(&f->team, brio_file_fs(f)->reach(f->path, f->chosen[BRIO_FS].conf));
    if (!err || !free_to_change)
        return err;
    brio_log(BRIO_NOTE, "without the file system's own library: %s", brio_err_text());
    brio_explain_again(f);
    if (is_asked(f))
        brio_explain_failed(f, BRIO_FS);
    f->facts.unreached = true;
    return select_all(f, &free_to_change);
}

/* What one rank can do alone. */
static BRIO_ERR open_local(struct brio_file *f, const struct brio_layout *layout)
{
    const struct brio_fbtl *fbtl = (const struct brio_fbtl *)f->chosen[BRIO_FBTL].module;
    enum brio_err err = BRIO_OK;
    if (f->dry)
        f->bottom = brio_dry_lane();
    else
        err = fbtl->open(&f->store, f->chosen[BRIO_FBTL].conf, &f->bottom);
    if (!err)
        err = brio_module_select(f, BRIO_FCACHE);
    if (err)
        return err;
    const struct brio_fcache *fcache =
        (const struct brio_fcache *)f->chosen[BRIO_FCACHE].module;
    err = fcache->open(layout, f->chosen[BRIO_FCACHE].conf, &f->fcache);
    if (!err)
        f->places = (struct brio_places){.ops = fcache, .self = f->fcache};
    return err;
}

/* The best of those sharedfp modules that have not been tried; NULL in chosen if none. */
static BRIO_ERR select_pointer(struct brio_file *f, const struct brio_module *const *tried,
                               size_t ntried)
{
    enum {
        MANY = 16
    };
    const struct brio_module *left[MANY];
    size_t n, nleft = 0;
    const struct brio_module *const *all = brio_registry(BRIO_SHAREDFP, &n);
    struct brio_chosen *chosen = &f->chosen[BRIO_SHAREDFP];
    for (size_t i = 0; i < n && nleft < MANY; i++) {
        bool known = false;
        for (size_t j = 0; j < ntried; j++)
            known |= tried[j] == all[i];
        if (!known)
            left[nleft++] = all[i];
    }
    brio_chosen_free(chosen);
    return brio_select(BRIO_SHAREDFP, left, nleft, &f->facts, f->settings, chosen);
}

/* Collective. What can only be found out by trying, such as whether MPI has windows here,
 * is the same on all ranks; the next best module takes over then. */
static BRIO_ERR open_pointer(struct brio_file *f, brio_off start)
{
    enum {
        MANY = 16
    };
    const struct brio_module *tried[MANY];
    size_t ntried = 0;
    const struct brio_sharedfp_env env = {.team = &f->team,
                                          .path = f->path,
                                          .nnodes = f->facts.nnodes,
                                          .local = f->facts.local,
                                          .start = start,
                                          .slot = f->slot};
    enum brio_err err = BRIO_OK;
    while (brio_file_sharedfp(f)) {
        const struct brio_chosen *chosen = &f->chosen[BRIO_SHAREDFP];
        err = brio_file_sharedfp(f)->open(&env, chosen->conf, &f->sharedfp);
        if (err != BRIO_EUNSUPOP || chosen->forced || ntried == MANY)
            return err;
        brio_log(BRIO_NOTE, "sharedfp/%s: %s", chosen->module->name, brio_err_text());
        brio_explain_failed(f, BRIO_SHAREDFP);
        tried[ntried++] = chosen->module;
        err = select_pointer(f, tried, ntried);
        if (err && err != BRIO_EUNSUPOP)
            return err;
    }
    return BRIO_OK;
}

void brio_modules_join(struct brio_file *f)
{
    f->lane = f->guard ? brio_guard_lane(f->guard) : f->plain;
    f->coll = f->guard ? f->lane : brio_file_cache(f)->collective(&f->plain);
    if (f->store.remote && !f->guard) {
        f->settle.own = f->lane;
        f->settle.shared = f->coll;
        f->lane = brio_settle_own(&f->settle);
        f->coll = brio_settle_shared(&f->settle);
    }
}

BRIO_ERR brio_modules_open(struct brio_file *f, const struct brio_layout *layout,
                           enum brio_err mine, brio_off start)
{
    enum brio_err err = brio_agree(&f->team, mine ? mine : open_local(f, layout));
    const struct brio_cache_env env = {.team = &f->team,
                                       .crew = &f->crew,
                                       .path = f->path,
                                       .amode = f->amode,
                                       .nservers = f->facts.nservers,
                                       .stripe = f->facts.stripe,
                                       .block_size = f->facts.block_size,
                                       .stats = f->stats};
    if (!err)
        err = brio_file_cache(f)->open(&env, &f->bottom, f->chosen[BRIO_CACHE].conf, &f->plain);
    if (err)
        return err;
    brio_settle_init(&f->settle, brio_file_fs(f), f->fs);
    brio_modules_join(f);
    return f->dry ? BRIO_OK : open_pointer(f, start);
}

static bool same_choice(const struct brio_chosen *a, const struct brio_chosen *b)
{
    return a->module == b->module &&
           (a->module->conf_size == 0 || !memcmp(a->conf, b->conf, a->module->conf_size));
}

static BRIO_ERR open_fcoll(struct brio_file *f, void **self)
{
    const struct brio_coll_env env = {.team = &f->team,
                                      .lane = &f->coll,
                                      .crew = &f->crew,
                                      .nodes = f->nodes,
                                      .block_size = f->facts.block_size,
                                      .stripe = f->facts.stripe,
                                      .places = f->places,
                                      .k_write = f->facts.k_write,
                                      .k_read = f->facts.k_read,
                                      .local = f->facts.local,
                                      .atomic = f->facts.atomic,
                                      .dry = f->dry,
                                      .stats = f->stats};
    return brio_file_fcoll(f)->open(brio_file_fcoll(f), &env, f->chosen[BRIO_FCOLL].conf, self);
}

BRIO_ERR brio_modules_view(struct brio_file *f, struct brio_former *former)
{
    void *self = f->fcoll;
    *former = (struct brio_former){.chosen = f->chosen[BRIO_FCOLL],
                                   .fcoll = f->fcoll,
                                   .atomic = f->fcoll_atomic,
                                   .stays = true};
    f->chosen[BRIO_FCOLL] = (struct brio_chosen){.module = NULL};
    enum brio_err err = brio_module_select(f, BRIO_FCOLL);
    bool stays = !err && self && f->fcoll_atomic == f->facts.atomic &&
                 same_choice(&former->chosen, &f->chosen[BRIO_FCOLL]);
    if (!err && !stays)
        err = open_fcoll(f, &self);
    if (err) {
        brio_chosen_free(&f->chosen[BRIO_FCOLL]);
        f->chosen[BRIO_FCOLL] = former->chosen;
        former->chosen = (struct brio_chosen){.module = NULL};
        return err;
    }
    former->stays = stays;
    f->fcoll = self;
    f->fcoll_atomic = f->facts.atomic;
    return BRIO_OK;
}

void brio_modules_viewed(struct brio_file *f, struct brio_former *former, bool agreed)
{
    if (!agreed && !former->stays) {
        struct brio_former failed = {.chosen = f->chosen[BRIO_FCOLL], .fcoll = f->fcoll};
        f->chosen[BRIO_FCOLL] = former->chosen;
        f->fcoll = former->fcoll;
        f->fcoll_atomic = former->atomic;
        *former = failed;
    }
    if (former->fcoll && !former->stays)
        ((const struct brio_fcoll *)former->chosen.module)->close(former->fcoll);
    brio_chosen_free(&former->chosen);
}

enum brio_err brio_modules_close(struct brio_file *f)
{
    const struct brio_fbtl *fbtl = (const struct brio_fbtl *)f->chosen[BRIO_FBTL].module;
    enum brio_err err = BRIO_OK;
    if (f->fcoll)
        brio_file_fcoll(f)->close(f->fcoll);
    brio_ordered_close(&f->ordered);
    brio_guard_close(f->guard);
    if (f->plain.ops)
        err = brio_file_cache(f)->close(&f->plain);
    if (f->places.ops)
        f->places.ops->close(f->fcache);
    if (f->bottom.ops && !f->dry)
        fbtl->close(&f->bottom);
    if (f->fs) {
        enum brio_err closed = brio_file_fs(f)->close(f->fs);
        if (!err)
            err = closed;
    }
    f->fcoll = f->fcache = f->fs = NULL;
    f->guard = NULL;
    f->places.ops = NULL;
    f->plain.ops = f->bottom.ops = f->lane.ops = f->coll.ops = NULL;
    return err;
}
