/* Names and values in the order they were set: the last one wins. */
#include "mod/settings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

extern char **environ;

struct entry {
    char *name, *value;
    const char *origin;
};

struct brio_settings {
    struct entry *entries;
    size_t n, room;
};

BRIO_ERR brio_settings_new(struct brio_settings **out)
{
    return brio_calloc(1, sizeof(struct brio_settings), (void **)out);
}

void brio_settings_free(struct brio_settings *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        free(s->entries[i].name);
        free(s->entries[i].value);
    }
    free(s->entries);
    free(s);
}

static BRIO_ERR grow(struct brio_settings *s)
{
    if (s->n < s->room)
        return BRIO_OK;
    size_t room = s->room ? 2 * s->room : 16;
    struct entry *more = realloc(s->entries, room * sizeof *more);
    if (!more)
        return brio_fail(BRIO_ENOMEM, "cannot keep %zu settings", room);
    s->entries = more;
    s->room = room;
    return BRIO_OK;
}

BRIO_ERR brio_settings_set(struct brio_settings *s, const char *name, const char *value,
                           const char *origin)
{
    struct entry e = {.origin = origin};
    enum brio_err err = grow(s);
    if (!err)
        err = brio_strdup(name, &e.name);
    if (!err)
        err = brio_strdup(value, &e.value);
    if (err) {
        free(e.name);
        return err;
    }
    /* An entry that is overruled goes, so that the order of the list is that of the names'
     * last setting, which decides between a name and its aliases. */
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(s->entries[i].name, name) == 0) {
            free(s->entries[i].name);
            free(s->entries[i].value);
            memmove(&s->entries[i], &s->entries[i + 1], (s->n - i - 1) * sizeof e);
            s->n--;
            break;
        }
    }
    s->entries[s->n++] = e;
    return BRIO_OK;
}

BRIO_ERR brio_settings_add_env(struct brio_settings *s)
{
    static const char prefix[] = "BRIO_";
    for (char **e = environ; e && *e; e++) {
        const char *eq = strchr(*e, '=');
        char name[BRIO_HINT_MAX];
        size_t skip = sizeof prefix - 1;
        if (!eq || strncmp(*e, prefix, skip) != 0)
            continue;
        size_t len = (size_t)(eq - *e) - skip;
        if (len == 0 || len >= sizeof name)
            continue;
        for (size_t i = 0; i < len; i++)
            name[i] = (char)tolower((unsigned char)(*e)[skip + i]);
        name[len] = '\0';
        enum brio_err err = brio_settings_set(s, name, eq + 1, "environment");
        if (err)
            return err;
    }
    return BRIO_OK;
}

BRIO_ERR brio_settings_add_info(struct brio_settings *s, MPI_Info info)
{
    int n = 0;
    if (info == MPI_INFO_NULL)
        return BRIO_OK;
    if (PMPI_Info_get_nkeys(info, &n) != MPI_SUCCESS)
        return brio_fail(BRIO_EARG, "not an info object");
    for (int i = 0; i < n; i++) {
        char name[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
        int found = 0;
        if (PMPI_Info_get_nthkey(info, i, name) != MPI_SUCCESS)
            return brio_fail(BRIO_EARG, "cannot read key %d of the info object", i);
        PMPI_Info_get(info, name, MPI_MAX_INFO_VAL, value, &found);
        if (!found)
            continue;
        enum brio_err err = brio_settings_set(s, name, value, "info");
        if (err)
            return err;
    }
    return BRIO_OK;
}

const char *brio_settings_get(const struct brio_settings *s, const char *name)
{
    for (size_t i = s->n; i-- > 0;)
        if (strcmp(s->entries[i].name, name) == 0)
            return s->entries[i].value;
    return NULL;
}

static bool is_spelling(const struct brio_hint *hint, const char *name)
{
    if (strcmp(hint->name, name) == 0)
        return true;
    size_t len = strlen(name);
    for (const char *at = hint->aliases; at && *at; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word == len && strncmp(at, name, len) == 0)
            return true;
        at += word;
    }
    return false;
}

BRIO_ERR brio_settings_fill(const struct brio_settings *s, const struct brio_hint *hints,
                            void *conf)
{
    for (const struct brio_hint *hint = hints; hint && hint->name; hint++) {
        if (!brio_hint_parse(hint, hint->def, conf))
            return brio_fail(BRIO_EINTERN, "bad default \"%s\" of %s", hint->def, hint->name);
        for (size_t i = 0; s && i < s->n; i++) {
            const struct entry *e = &s->entries[i];
            if (is_spelling(hint, e->name) && !brio_hint_parse(hint, e->value, conf))
                brio_hint_complain(hint, e->name, e->value, e->origin);
        }
    }
    return BRIO_OK;
}

void brio_settings_each(const struct brio_settings *s,
                        void (*fn)(void *arg, const char *name, const char *value,
                                   const char *origin),
                        void *arg)
{
    for (size_t i = 0; i < s->n; i++)
        fn(arg, s->entries[i].name, s->entries[i].value, s->entries[i].origin);
}
