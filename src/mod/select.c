/* The one selection loop of the library. */
#include "mod/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "mod/hint.h"

const char *brio_framework_name(enum brio_framework framework)
{
    static const char *const names[BRIO_FRAMEWORKS] = {
        [BRIO_FS] = "fs",         [BRIO_FBTL] = "fbtl",   [BRIO_CACHE] = "cache",
        [BRIO_FCACHE] = "fcache", [BRIO_FCOLL] = "fcoll", [BRIO_SHAREDFP] = "sharedfp",
    };
    return names[framework];
}

BRIO_ERR brio_ask(const struct brio_module *module, const struct brio_facts *facts,
                  const struct brio_settings *s, struct brio_chosen *out)
{
    void *conf = NULL;
    enum brio_err err = BRIO_OK;
    if (module->conf_size)
        err = brio_calloc(1, module->conf_size, &conf);
    if (!err)
        err = brio_settings_fill(s, module->hints, conf);
    if (err) {
        free(conf);
        return err;
    }
    *out = (struct brio_chosen){.module = module, .conf = conf};
    brio_answer_take(out->why);
    out->priority = module->query(facts, conf);
    brio_answer_take(out->why);
    if (!*out->why)
        snprintf(out->why, sizeof out->why, "%s", module->about);
    return BRIO_OK;
}

static bool beats(const struct brio_chosen *a, const struct brio_chosen *b)
{
    if (!b->module || a->priority != b->priority)
        return !b->module || a->priority > b->priority;
    return strcmp(a->module->name, b->module->name) < 0;
}

/* The module that the user wants, or NULL. What a file of settings says is a wish: one that
 * cannot be met is named and dropped. What the user says is an order, unless no module has that
 * name: then it is as good as any other mistake in a setting. */
struct wish {
    const char *name;
    const char *where;
    bool order;
};

/* "auto" leaves it to the library, unless a module has that name. */
static bool means_any(const char *name, const struct brio_module *const *modules, size_t n)
{
    if (strcmp(name, "auto") != 0)
        return !*name;
    while (n > 0 && strcmp(modules[n - 1]->name, name) != 0)
        n--;
    return n == 0;
}

static struct wish find_wish(enum brio_framework framework,
                             const struct brio_module *const *modules, size_t n,
                             const struct brio_settings *s)
{
    struct wish wish = {.name = NULL};
    struct brio_setting e;
    for (size_t i = 0; s && brio_settings_at(s, i, &e); i++)
        if (strcmp(e.name, brio_framework_name(framework)) == 0)
            wish = (struct wish){
                .name = e.value, .where = e.where, .order = e.source >= BRIO_FROM_ENVIRONMENT};
    if (wish.name && means_any(wish.name, modules, n))
        wish.name = NULL;
    return wish;
}

/* The best of the modules, or of those of one name; module NULL in *out if none can serve, and
 * then why the last one cannot, "" if there is none. */
static BRIO_ERR find_best(const struct brio_module *const *modules, size_t n, const char *name,
                          const struct brio_facts *facts, const struct brio_settings *s,
                          struct brio_chosen *out)
{
    struct brio_chosen best = {.module = NULL};
    for (size_t i = 0; i < n; i++) {
        struct brio_chosen one;
        if (name && strcmp(name, modules[i]->name) != 0)
            continue;
        enum brio_err err = brio_ask(modules[i], facts, s, &one);
        if (err) {
            brio_chosen_free(&best);
            return err;
        }
        brio_log(BRIO_DEBUG, "%s answers %d: %s", modules[i]->name, one.priority, one.why);
        if (one.priority >= 0 && beats(&one, &best)) {
            brio_chosen_free(&best);
            best = one;
        } else {
            if (!best.module)
                memcpy(best.why, one.why, sizeof best.why);
            brio_chosen_free(&one);
        }
    }
    *out = best;
    return BRIO_OK;
}

/* What becomes of a wish that cannot be met. */
static BRIO_ERR refuse(enum brio_framework framework, const struct wish *wish,
                       const struct brio_settings *s, const char *why)
{
    const char *name = brio_framework_name(framework);
    if (wish->order && *why)
        return brio_fail(BRIO_EUNSUPOP,
                         "%s=%s (from %s): that module cannot serve this file: %s", name,
                         wish->name, wish->where, why);
    if (brio_settings_speaks(s))
        brio_warn_once("%s (from %s): \"%s\" is not used: %s", name, wish->where, wish->name,
                       *why ? why : "there is no such module");
    return BRIO_OK;
}

BRIO_ERR brio_select(enum brio_framework framework, const struct brio_module *const *modules,
                     size_t n, const struct brio_facts *facts, const struct brio_settings *s,
                     struct brio_chosen *out)
{
    struct wish wish = find_wish(framework, modules, n, s);
    struct brio_chosen best = {.module = NULL};
    enum brio_err err;
    if (wish.name) {
        err = find_best(modules, n, wish.name, facts, s, &best);
        if (!err && !best.module)
            err = refuse(framework, &wish, s, best.why);
        if (err)
            return err;
        best.forced = best.module && wish.order;
    }
    if (!best.module) {
        err = find_best(modules, n, NULL, facts, s, &best);
        if (err)
            return err;
    }
    if (!best.module && framework == BRIO_FS && *facts->prefix)
        return brio_fail(BRIO_EUNSUPOP,
                         "no fs module serves names with %s: before them; was Brio built with "
                         "the library for that?",
                         facts->prefix);
    if (!best.module)
        return brio_fail(BRIO_EUNSUPOP, "no %s module can serve this file",
                         brio_framework_name(framework));
    *out = best;
    return BRIO_OK;
}

void brio_chosen_free(struct brio_chosen *chosen)
{
    free(chosen->conf);
    *chosen = (struct brio_chosen){.module = NULL};
}
