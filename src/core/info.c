/* What is in force for a file, as an MPI info object. */
#include <stdio.h>
#include <string.h>

#include "comm/verdict.h"
#include "core/core.h"
#include "core/explain.h"
#include "core/file.h"
#include "core/modules.h"
#include "core/op.h"

/* Collective. Values for what is already open are taken up where they still can be: those
 * of the file at once, those of fcoll with the next view. */
BRIO_ERR brio_file_set_info(struct brio_file *f, MPI_Info info)
{
    struct brio_verdict v;
    struct brio_conf conf;
    brio_op_await_turn(f);
    brio_op_together(f);
    enum brio_err err =
        brio_settings_add_info(f->settings, info, "the info of MPI_File_set_info");
    if (!err)
        err = brio_settings_fill(f->settings, brio_conf_hints, &conf);
    int64_t hash = 0;
    if (!err)
        err = brio_modules_preview(f, &hash);
    brio_verdict_init(&v, err);
    brio_verdict_same(&v, "a hint that must be the same", hash);
    brio_verdict_same(&v, "a hint that must be the same",
                      err ? 0 : (int64_t)brio_hints_hash_same(brio_conf_hints, &conf));
    err = brio_verdict_settle(&v, &f->team);
    if (!err)
        f->conf = conf;
    return err;
}

static void put(MPI_Info info, const char *key, const char *value)
{
    if (*value && strlen(key) < MPI_MAX_INFO_KEY)
        PMPI_Info_set(info, key, value);
}

static void put_hints(MPI_Info info, const struct brio_hint *hints, const void *conf)
{
    for (const struct brio_hint *hint = hints; hint && hint->name; hint++) {
        char value[BRIO_HINT_MAX];
        brio_hint_show(hint, conf, value, sizeof value);
        put(info, hint->name, value);
    }
}

/* Programs pass the object on to the next open. What was chosen for this file is no order for
 * another one: only what the user ordered stands under the name of the setting. */
static void put_module(MPI_Info info, const char *framework, const struct brio_chosen *chosen)
{
    char key[32];
    snprintf(key, sizeof key, "brio_%s", framework);
    put(info, key, chosen->module->name);
    if (chosen->forced)
        put(info, framework, chosen->module->name);
}

BRIO_ERR brio_file_get_info(struct brio_file *f, MPI_Info *out)
{
    MPI_Info info;
    if (PMPI_Info_create(&info) != MPI_SUCCESS)
        return brio_fail(BRIO_EINTERN, "MPI_Info_create failed");
    put(info, "brio_version", BRIO_VERSION);
    if (strlen(f->path) < MPI_MAX_INFO_VAL)
        put(info, "filename", f->path);
    put_hints(info, brio_conf_hints, &f->conf);
    char state[MPI_MAX_INFO_VAL];
    brio_file_cache(f)->tell(&f->plain, state, sizeof state);
    put(info, "brio_cache_state", state);
    for (int i = 0; i < BRIO_FRAMEWORKS; i++) {
        const struct brio_chosen *c = &f->chosen[i];
        if (!c->module)
            continue;
        put_module(info, brio_framework_name((enum brio_framework)i), c);
        put_hints(info, c->module->hints, c->conf);
    }
    char owners[MPI_MAX_INFO_VAL < 1024 ? MPI_MAX_INFO_VAL : 1024];
    brio_explain_owners(f, owners, sizeof owners);
    put(info, "brio_aggregators", owners);
    *out = info;
    return BRIO_OK;
}
