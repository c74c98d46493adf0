/* What is in force for a file, as an MPI info object; and what there is at all, for the
 * `brio info` command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "comm/verdict.h"
#include "core/core.h"
#include "core/file.h"
#include "core/modules.h"
#include "core/op.h"
#include "core/registry.h"

/* Collective. Values for what is already open are taken up where they still can be: those
 * of the file at once, those of fcoll with the next view. */
BRIO_ERR brio_file_set_info(struct brio_file *f, MPI_Info info)
{
    struct brio_verdict v;
    struct brio_conf conf;
    brio_op_await_turn(f);
    enum brio_err err = brio_settings_add_info(f->settings, info);
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
    put(info, "cache_state", state);
    for (int i = 0; i < BRIO_FRAMEWORKS; i++) {
        const struct brio_chosen *c = &f->chosen[i];
        if (!c->module)
            continue;
        put(info, brio_framework_name((enum brio_framework)i), c->module->name);
        put_hints(info, c->module->hints, c->conf);
    }
    *out = info;
    return BRIO_OK;
}

static void print_text(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            putchar('\\');
        putchar(*s);
    }
    putchar('"');
}

static void print_hints_json(const struct brio_hint *hints)
{
    const char *comma = "";
    printf("[");
    for (const struct brio_hint *h = hints; h && h->name; h++, comma = ",") {
        printf("%s\n      {\"name\": ", comma);
        print_text(h->name);
        printf(", \"default\": ");
        print_text(h->def);
        printf(", \"aliases\": ");
        print_text(h->aliases ? h->aliases : "");
        if (h->choices) {
            printf(", \"choices\": ");
            print_text(h->choices);
        }
        if (h->min || h->max)
            printf(", \"min\": %lld, \"max\": %lld", (long long)h->min, (long long)h->max);
        printf(", \"same\": %s, \"help\": ", h->same ? "true" : "false");
        print_text(h->help);
        printf("}");
    }
    printf("]");
}

static void print_json(void)
{
    printf("{\n  \"version\": \"%s\",\n  \"file\": {\"hints\": ", BRIO_VERSION);
    print_hints_json(brio_conf_hints);
    printf("},\n  \"frameworks\": {");
    for (int i = 0; i < BRIO_FRAMEWORKS; i++) {
        size_t n;
        const struct brio_module *const *all = brio_registry((enum brio_framework)i, &n);
        printf("%s\n    \"%s\": [", i ? "," : "", brio_framework_name((enum brio_framework)i));
        for (size_t m = 0; m < n; m++) {
            printf("%s\n     {\"name\": \"%s\", \"about\": ", m ? "," : "", all[m]->name);
            print_text(all[m]->about);
            printf(", \"hints\": ");
            print_hints_json(all[m]->hints);
            printf("}");
        }
        printf("]");
    }
    printf("\n  }\n}\n");
}

static void print_hints(const struct brio_hint *hints, int indent)
{
    for (const struct brio_hint *h = hints; h && h->name; h++) {
        printf("%*s%-24s %s%s\n", indent, "", h->name, *h->def ? "default " : "no default",
               h->def);
        printf("%*s%s", indent + 2, "", h->help);
        if (h->choices)
            printf(" (one of: %s)", h->choices);
        if (h->min || h->max)
            printf(" (%lld to %lld)", (long long)h->min, (long long)h->max);
        if (h->same)
            printf(" [the same on all ranks]");
        if (h->aliases)
            printf("\n%*salso spelled: %s", indent + 2, "", h->aliases);
        printf("\n");
    }
}

/* Called by the brio command, which loads the library for it. */
__attribute__((visibility("default"))) void brio_info_print(int json);

void brio_info_print(int json)
{
    if (json) {
        print_json();
        return;
    }
    printf("brio %s\n\n", BRIO_VERSION);
    printf("Settings of a file (info key, or BRIO_<NAME> in the environment):\n");
    print_hints(brio_conf_hints, 2);
    for (int i = 0; i < BRIO_FRAMEWORKS; i++) {
        size_t n;
        const char *framework = brio_framework_name((enum brio_framework)i);
        const struct brio_module *const *all = brio_registry((enum brio_framework)i, &n);
        printf("\n%s  (force a module with the setting \"%s\")\n", framework, framework);
        for (size_t m = 0; m < n; m++) {
            printf("  %-12s %s\n", all[m]->name, all[m]->about);
            print_hints(all[m]->hints, 15);
        }
    }
}
