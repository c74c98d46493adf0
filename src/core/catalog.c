/* What there is: frameworks, modules, settings and variables, and which value each setting
 * has here and why. Printed for the `brio info` command, which loads the library for it; MPI
 * is not initialised then. */
#include <stdio.h>
#include <string.h>

#include "core/asked.h"
#include "core/conf.h"
#include "core/known.h"
#include "core/plugin.h"
#include "core/registry.h"
#include "core/site.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void brio_info_print(int json);
EXPORTED int brio_info_settings(int json, const char *path, const char *program);

static void print_text(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if ((unsigned char)*s < ' ') {
            printf("\\u%04x", (unsigned)*s);
            continue;
        }
        if (*s == '"' || *s == '\\')
            putchar('\\');
        putchar(*s);
    }
    putchar('"');
}

static void print_member(const char *name, const char *text)
{
    printf(", \"%s\": ", name);
    print_text(text);
}

/* Words separated by blanks, as a list. */
static void print_words(const char *name, const char *words)
{
    const char *comma = "";
    printf(", \"%s\": [", name);
    for (; words && *words; words += strspn(words, " "), comma = ", ") {
        size_t len = strcspn(words, " ");
        printf("%s\"%.*s\"", comma, (int)len, words);
        words += len;
    }
    printf("]");
}

static const char *kind_name(enum brio_hint_kind kind)
{
    static const char *const names[] = {
        [BRIO_HINT_BYTES] = "size",    [BRIO_HINT_INT] = "number",
        [BRIO_HINT_BOOL] = "boolean",  [BRIO_HINT_SWITCH] = "switch",
        [BRIO_HINT_CHOICE] = "choice", [BRIO_HINT_TEXT] = "text",
    };
    return names[kind];
}

static void print_hints_json(const struct brio_hint *hints)
{
    const char *comma = "";
    printf("[");
    for (const struct brio_hint *h = hints; h && h->name; h++, comma = ",") {
        printf("%s\n      {\"name\": ", comma);
        print_text(h->name);
        print_member("kind", kind_name(h->kind));
        print_member("default", h->def);
        print_words("aliases", h->aliases);
        if (h->choices)
            print_words("choices", h->choices);
        if (h->min || h->max)
            printf(", \"min\": %lld, \"max\": %lld", (long long)h->min, (long long)h->max);
        printf(", \"same\": %s", h->same ? "true" : "false");
        print_member("help", h->help);
        printf("}");
    }
    printf("]");
}

static void print_json(void)
{
    printf("{\n  \"version\": \"%s\",\n  \"mpi\": \"%s\",\n  \"file\": {\"hints\": ",
           BRIO_VERSION, BRIO_MPI_NAME);
    print_hints_json(brio_conf_hints);
    printf("},\n  \"frameworks\": {");
    for (int i = 0; i < BRIO_FRAMEWORKS; i++) {
        size_t n;
        const struct brio_module *const *all = brio_registry((enum brio_framework)i, &n);
        printf("%s\n    \"%s\": [", i ? "," : "", brio_framework_name((enum brio_framework)i));
        for (size_t m = 0; m < n; m++) {
            printf("%s\n     {\"name\": \"%s\"", m ? "," : "", all[m]->name);
            print_member("about", all[m]->about);
            printf(", \"hints\": ");
            print_hints_json(all[m]->hints);
            printf("}");
        }
        printf("]");
    }
    printf("\n  },\n  \"variables\": [");
    for (const struct brio_variable *v = brio_variables; v->name; v++) {
        printf("%s\n    {\"name\": \"%s\"", v == brio_variables ? "" : ",", v->name);
        print_member("help", v->help);
        printf("}");
    }
    printf("\n  ]\n}\n");
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

/* Modules may share a table. */
static const struct brio_module *first_with(const struct brio_module *const *all, size_t m)
{
    for (size_t i = 0; i < m; i++)
        if (all[i]->hints == all[m]->hints)
            return all[i];
    return NULL;
}

static void print_modules(const struct brio_module *const *all, size_t n)
{
    for (size_t m = 0; m < n; m++) {
        printf("  %-12s %s\n", all[m]->name, all[m]->about);
        const struct brio_module *twin = all[m]->hints ? first_with(all, m) : NULL;
        if (twin)
            printf("%15sthe settings of %s\n", "", twin->name);
        else
            print_hints(all[m]->hints, 15);
    }
}

void brio_info_print(int json)
{
    size_t any;
    brio_registry(BRIO_FS, &any);
    brio_plugins_complain();
    if (json) {
        print_json();
        return;
    }
    printf("brio %s for %s\n\n", BRIO_VERSION, BRIO_MPI_NAME);
    printf("Settings of a file (info key, or BRIO_<NAME> in the environment):\n");
    print_hints(brio_conf_hints, 2);
    for (int i = 0; i < BRIO_FRAMEWORKS; i++) {
        size_t n;
        const char *framework = brio_framework_name((enum brio_framework)i);
        const struct brio_module *const *all = brio_registry((enum brio_framework)i, &n);
        printf("\n%s  (force a module with the setting \"%s\")\n", framework, framework);
        print_modules(all, n);
    }
    printf("\nVariables of the environment that are no settings (BRIO_<NAME>):\n");
    for (const struct brio_variable *v = brio_variables; v->name; v++)
        printf("  %-24s %s\n", v->name, v->help);
}

/* ---- Values in force ----------------------------------------------------------------- */

/* How values are printed, and what has been. */
struct listing {
    const struct brio_settings *s;
    bool json;
    int n;
    const struct brio_hint *tables[64]; /* printed */
    size_t ntables;
};

static void print_value(struct listing *l, const char *name, const char *value,
                        const char *where)
{
    if (!l->json) {
        printf("  %-28s %-16s %s\n", name, *value ? value : "-", where);
    } else {
        printf("%s\n    {\"name\": \"%s\"", l->n ? "," : "", name);
        print_member("value", value);
        print_member("from", where);
        printf("}");
    }
    l->n++;
}

static void print_table(struct listing *l, const struct brio_hint *hints)
{
    for (size_t i = 0; i < l->ntables; i++)
        if (l->tables[i] == hints)
            return;
    if (!hints || l->ntables == sizeof l->tables / sizeof l->tables[0])
        return;
    l->tables[l->ntables++] = hints;
    for (const struct brio_hint *h = hints; h->name; h++) {
        struct brio_setting e;
        for (size_t i = 0; brio_settings_at(l->s, i, &e); i++)
            if (brio_hint_is(h, e.name) && !brio_hint_readable(h, e.value))
                brio_hint_complain(h, e.name, e.value, e.where);
        if (brio_settings_decisive(l->s, h, &e))
            print_value(l, h->name, e.value, e.where);
        else
            print_value(l, h->name, h->def, "default");
    }
}

static void print_forced(struct listing *l, const char *framework)
{
    struct brio_setting e, last = {.value = "", .where = "chosen for each file"};
    for (size_t i = 0; brio_settings_at(l->s, i, &e); i++)
        if (strcmp(e.name, framework) == 0 && *e.value)
            last = e;
    print_value(l, framework, last.value, last.where);
}

static void print_places(bool json)
{
    enum brio_source source;
    bool found;
    const char *path;
    if (json)
        printf("{\n  \"files\": [");
    else
        printf("Files of settings, the weakest first:\n");
    for (size_t i = 0; (path = brio_site_place(i, &source, &found)); i++) {
        const char *what = source == BRIO_FROM_SITE      ? "site"
                           : source == BRIO_FROM_PROFILE ? "profile"
                                                         : "romio";
        if (!json) {
            printf("  %-10s %s%s\n", what, path, found ? "" : "  (not there)");
            continue;
        }
        printf("%s\n    {\"kind\": \"%s\"", i ? "," : "", what);
        print_member("path", path);
        printf(", \"found\": %s}", found ? "true" : "false");
    }
    printf(json ? "\n  ],\n  \"settings\": [" : "\nSettings in force:\n");
}

/* Every setting with its value and where that comes from, as one process would find it that
 * opens `path` (NULL: no file in particular) and is called `program` (NULL: any). */
int brio_info_settings(int json, const char *path, const char *program)
{
    struct brio_settings *s;
    struct brio_asked asked;
    brio_site_program(program ? program : "");
    if (brio_settings_new(&s) != BRIO_OK)
        return 1;
    enum brio_err err = brio_asked_collect(path, &asked);
    if (!err)
        err = brio_asked_settle(&asked, MPI_INFO_NULL, s);
    struct listing l = {.s = s, .json = json};
    if (!err) {
        print_places(json);
        for (int i = 0; i < BRIO_FRAMEWORKS; i++)
            print_forced(&l, brio_framework_name((enum brio_framework)i));
        print_table(&l, brio_conf_hints);
    }
    for (int i = 0; i < BRIO_FRAMEWORKS && !err; i++) {
        size_t n;
        const struct brio_module *const *all = brio_registry((enum brio_framework)i, &n);
        for (size_t m = 0; m < n; m++)
            print_table(&l, all[m]->hints);
    }
    if (!err && json)
        printf("\n  ]\n}\n");
    brio_settings_free(s);
    return err != BRIO_OK;
}
