/* Names and values in the order they were set: the last one that can be read wins. */
#include "mod/settings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

extern char **environ;

struct brio_settings {
    struct brio_setting *entries; /* their texts are ours */
    size_t n, room;
    bool speaks;
};

BRIO_ERR brio_settings_new(struct brio_settings **out)
{
    enum brio_err err = brio_calloc(1, sizeof(struct brio_settings), (void **)out);
    if (!err)
        (*out)->speaks = true;
    return err;
}

static void free_entry(struct brio_setting *e)
{
    free((void *)(uintptr_t)e->name); /* one piece of memory for all three texts */
}

void brio_settings_free(struct brio_settings *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        free_entry(&s->entries[i]);
    free(s->entries);
    free(s);
}

void brio_settings_speak(struct brio_settings *s, bool speaks)
{
    s->speaks = speaks;
}

bool brio_settings_speaks(const struct brio_settings *s)
{
    return s->speaks;
}

static BRIO_ERR grow(struct brio_settings *s)
{
    if (s->n < s->room)
        return BRIO_OK;
    size_t room = s->room ? 2 * s->room : 16;
    struct brio_setting *more = realloc(s->entries, room * sizeof *more);
    if (!more)
        return brio_fail(BRIO_ENOMEM, "cannot keep %zu settings", room);
    s->entries = more;
    s->room = room;
    return BRIO_OK;
}

static BRIO_ERR copy_entry(const struct brio_setting *from, struct brio_setting *out)
{
    size_t name = strlen(from->name) + 1, value = strlen(from->value) + 1;
    size_t where = strlen(from->where) + 1;
    char *text;
    enum brio_err err = brio_calloc(name + value + where, 1, (void **)&text);
    if (err)
        return err;
    memcpy(text, from->name, name);
    memcpy(text + name, from->value, value);
    memcpy(text + name + value, from->where, where);
    *out = (struct brio_setting){.name = text,
                                 .value = text + name,
                                 .source = from->source,
                                 .where = text + name + value};
    return BRIO_OK;
}

BRIO_ERR brio_settings_set(struct brio_settings *s, const struct brio_setting *setting)
{
    struct brio_setting e;
    enum brio_err err = grow(s);
    if (!err)
        err = copy_entry(setting, &e);
    if (err)
        return err;
    /* The order of the list is that of the last setting, which decides between a name and its
     * aliases. */
    for (size_t i = 0; i < s->n; i++) {
        if (s->entries[i].source == e.source && strcmp(s->entries[i].name, e.name) == 0) {
            free_entry(&s->entries[i]);
            memmove(&s->entries[i], &s->entries[i + 1], (s->n - i - 1) * sizeof e);
            s->n--;
            break;
        }
    }
    s->entries[s->n++] = e;
    return BRIO_OK;
}

BRIO_ERR brio_settings_add_env(struct brio_settings *s, bool (*wanted)(const char *name))
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
        if (!wanted(name))
            continue;
        enum brio_err err =
            brio_settings_set(s, &(struct brio_setting){.name = name,
                                                        .value = eq + 1,
                                                        .source = BRIO_FROM_ENVIRONMENT,
                                                        .where = "environment"});
        if (err)
            return err;
    }
    return BRIO_OK;
}

BRIO_ERR brio_settings_add_info(struct brio_settings *s, MPI_Info info, const char *where)
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
        enum brio_err err = brio_settings_set(
            s, &(struct brio_setting){
                   .name = name, .value = value, .source = BRIO_FROM_INFO, .where = where});
        if (err)
            return err;
    }
    return BRIO_OK;
}

/* Three texts with their zeros, and a byte for the source. */
BRIO_ERR brio_settings_pack(const struct brio_settings *s, char **out, size_t *len)
{
    size_t total = 0;
    char *at;
    for (size_t i = 0; i < s->n; i++)
        total += strlen(s->entries[i].name) + strlen(s->entries[i].value) +
                 strlen(s->entries[i].where) + 4;
    enum brio_err err = brio_calloc(total, 1, (void **)&at);
    if (err)
        return err;
    *out = at;
    *len = total;
    for (size_t i = 0; i < s->n; i++) {
        at = stpcpy(at, s->entries[i].name) + 1;
        at = stpcpy(at, s->entries[i].value) + 1;
        at = stpcpy(at, s->entries[i].where) + 1;
        *at++ = (char)s->entries[i].source;
    }
    return BRIO_OK;
}

BRIO_ERR brio_settings_unpack(struct brio_settings *s, const char *bytes, size_t len)
{
    for (const char *end = bytes + len; bytes < end;) {
        struct brio_setting e = {.name = bytes};
        e.value = e.name + strlen(e.name) + 1;
        e.where = e.value + strlen(e.value) + 1;
        bytes = e.where + strlen(e.where) + 1;
        e.source = (enum brio_source) * bytes++;
        enum brio_err err = brio_settings_set(s, &e);
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

/* Two values of one hint from the same place, where neither can be meant to overrule. */
static bool contradict(const struct brio_hint *hint, const struct brio_setting *a,
                       const struct brio_setting *b)
{
    return a->source == b->source &&
           (a->source != BRIO_FROM_INFO || strcmp(a->where, b->where) == 0) &&
           !brio_hint_equal(hint, a->value, b->value);
}

BRIO_ERR brio_settings_fill(const struct brio_settings *s, const struct brio_hint *hints,
                            void *conf)
{
    for (const struct brio_hint *hint = hints; hint && hint->name; hint++) {
        const struct brio_setting *before = NULL;
        if (!brio_hint_parse(hint, hint->def, conf))
            return brio_fail(BRIO_EINTERN, "bad default \"%s\" of %s", hint->def, hint->name);
        for (size_t i = 0; s && i < s->n; i++) {
            const struct brio_setting *e = &s->entries[i];
            if (!brio_hint_is(hint, e->name))
                continue;
            if (!brio_hint_parse(hint, e->value, conf)) {
                if (s->speaks)
                    brio_hint_complain(hint, e->name, e->value, e->where);
                continue;
            }
            if (s->speaks && before && contradict(hint, before, e))
                brio_hint_contradiction(before->name, before->value, e->name, e->where);
            before = e;
        }
    }
    return BRIO_OK;
}

bool brio_settings_at(const struct brio_settings *s, size_t i, struct brio_setting *out)
{
    if (i >= s->n)
        return false;
    *out = s->entries[i];
    return true;
}

bool brio_settings_decisive(const struct brio_settings *s, const struct brio_hint *hint,
                            struct brio_setting *out)
{
    for (size_t i = s->n; i-- > 0;) {
        if (brio_hint_is(hint, s->entries[i].name) &&
            brio_hint_readable(hint, s->entries[i].value)) {
            *out = s->entries[i];
            return true;
        }
    }
    return false;
}
