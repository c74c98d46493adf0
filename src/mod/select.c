/* The one selection loop of the library. */
#include "mod/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

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

BRIO_ERR brio_select(enum brio_framework framework, const struct brio_module *const *modules,
                     size_t n, const struct brio_facts *facts, const struct brio_settings *s,
                     struct brio_chosen *out)
{
    const char *name = brio_framework_name(framework);
    const char *forced = s ? brio_settings_get(s, name) : NULL;
    struct brio_chosen best = {.module = NULL};
    bool known = false;
    char why[BRIO_WHY] = "";
    if (forced && (*forced == '\0' || strcmp(forced, "auto") == 0))
        forced = NULL;
    for (size_t i = 0; i < n; i++) {
        struct brio_chosen one;
        if (forced && strcmp(forced, modules[i]->name) != 0)
            continue;
        known = true;
        enum brio_err err = brio_ask(modules[i], facts, s, &one);
        if (err) {
            brio_chosen_free(&best);
            return err;
        }
        brio_log(BRIO_DEBUG, "%s/%s answers %d: %s", name, modules[i]->name, one.priority,
                 one.why);
        memcpy(why, one.why, sizeof why);
        if (one.priority >= 0 && beats(&one, &best)) {
            brio_chosen_free(&best);
            best = one;
        } else {
            brio_chosen_free(&one);
        }
    }
    if (forced && !known)
        return brio_fail(BRIO_EARG, "%s=%s: there is no such module", name, forced);
    if (!best.module && forced)
        return brio_fail(BRIO_EUNSUPOP, "%s=%s: that module cannot serve this file: %s", name,
                         forced, why);
    if (!best.module && framework == BRIO_FS && *facts->prefix)
        return brio_fail(BRIO_EUNSUPOP,
                         "no fs module serves names with %s: before them; was Brio built with "
                         "the library for that?",
                         facts->prefix);
    if (!best.module)
        return brio_fail(BRIO_EUNSUPOP, "no %s module can serve this file", name);
    best.forced = forced != NULL;
    *out = best;
    return BRIO_OK;
}

void brio_chosen_free(struct brio_chosen *chosen)
{
    free(chosen->conf);
    *chosen = (struct brio_chosen){.module = NULL};
}
