/* Where the files are, and what they say for one open. */
#include "core/site.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "mod/rules.h"

enum {
    PLACES = 4,
    KEPT = 8,           /* files remembered; more only if a program changes its environment */
    MAX_BYTES = 1 << 20 /* of a file */
};

struct place {
    enum brio_source source;
    char path[PATH_MAX]; /* "": none */
    bool asked;          /* the user named it: it must be there */
};

struct kept {
    char *path; /* NULL: free */
    struct brio_rules rules;
};

static struct {
    pthread_mutex_t lock;
    struct kept files[KEPT];
    size_t n;
    char program[256], script[256];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void name_place(struct place *p, const char *path)
{
    if (snprintf(p->path, sizeof p->path, "%s", path) >= (int)sizeof p->path)
        p->path[0] = '\0';
}

/* The user's configuration directory; XDG's rule. */
static void name_users(struct place *p)
{
    const char *dir = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char path[PATH_MAX] = "";
    if (dir && dir[0] == '/')
        snprintf(path, sizeof path, "%s/brio/profile", dir);
    else if (home && home[0] == '/')
        snprintf(path, sizeof path, "%s/.config/brio/profile", home);
    name_place(p, path);
}

static void find_places(struct place place[PLACES])
{
    const char *config = getenv("BRIO_CONFIG"), *profile = getenv("BRIO_PROFILE");
    const char *romio = getenv("ROMIO_HINTS");
    memset(place, 0, PLACES * sizeof *place);
    place[0].source = BRIO_FROM_SITE;
    place[0].asked = config != NULL;
    name_place(&place[0], config ? config : BRIO_SYSCONFDIR "/brio.conf");
    place[1].source = place[2].source = BRIO_FROM_PROFILE;
    if (profile) {
        place[1].asked = true;
        name_place(&place[1], profile);
    } else {
        name_place(&place[1], BRIO_SYSCONFDIR "/brio.profile");
        name_users(&place[2]);
    }
    place[3].source = BRIO_FROM_ROMIO;
    place[3].asked = true;
    name_place(&place[3], romio ? romio : "");
}

static void complain(void *path, int line, const char *why)
{
    brio_warn_once("%s:%d: %s", (const char *)path, line, why);
}

/* The whole text; *len is 0 if there is none to be had. */
static BRIO_ERR read_text(const struct place *p, char **out, size_t *len)
{
    char *text;
    size_t have = 0;
    *len = 0;
    FILE *file = fopen(p->path, "re");
    if (!file) {
        if (p->asked || errno != ENOENT)
            brio_warn_once("%s is not used: %s", p->path, strerror(errno));
        return brio_calloc(1, 1, (void **)out);
    }
    enum brio_err err = brio_calloc(MAX_BYTES + 1, 1, (void **)&text);
    if (!err) {
        have = fread(text, 1, MAX_BYTES + 1, file);
        if (ferror(file) || have > MAX_BYTES) {
            brio_warn_once("%s is not used: %s", p->path,
                           ferror(file) ? "it cannot be read" : "it is too large");
            have = 0;
        }
        *out = text;
        *len = have;
    }
    fclose(file);
    return err;
}

/* The rules of a place, which stay; called with the lock held. */
static BRIO_ERR load(const struct place *p, const struct brio_rules **out)
{
    for (size_t i = 0; i < known.n && i < KEPT; i++) {
        if (strcmp(known.files[i].path, p->path) == 0) {
            *out = &known.files[i].rules;
            return BRIO_OK;
        }
    }
    struct kept fresh = {.path = NULL};
    char *text = NULL;
    size_t len;
    enum brio_err err = read_text(p, &text, &len);
    if (!err)
        err = brio_rules_parse(text, len, complain, (void *)(uintptr_t)p->path, &fresh.rules);
    free(text);
    if (!err)
        err = brio_strdup(p->path, &fresh.path);
    if (err) {
        brio_rules_free(&fresh.rules);
        return err;
    }
    struct kept *slot = &known.files[known.n++ % KEPT];
    if (slot->path) {
        brio_rules_free(&slot->rules);
        free(slot->path);
    }
    *slot = fresh;
    *out = &slot->rules;
    return BRIO_OK;
}

static void copy_base(char out[256], const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(out, 256, "%s", slash ? slash + 1 : path);
}

/* The program's name, and that of its first argument: for a script, that is the program. */
static void learn_program(void)
{
    char words[4096] = "";
    FILE *file = fopen("/proc/self/cmdline", "re");
    if (known.program[0] || !file) {
        if (file)
            fclose(file);
        return;
    }
    size_t len = fread(words, 1, sizeof words - 2, file);
    fclose(file);
    words[len] = words[len + 1] = '\0';
    copy_base(known.program, words);
    copy_base(known.script, words + strlen(words) + 1);
}

void brio_site_program(const char *name)
{
    pthread_mutex_lock(&known.lock);
    copy_base(known.program, name);
    known.script[0] = '\0';
    pthread_mutex_unlock(&known.lock);
}

/* The absolute path, without links in its directory where that can be told. */
static void resolve(const char *path, char out[PATH_MAX])
{
    char dir[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    if (!realpath(*dir ? dir : "/", real))
        snprintf(real, sizeof real, "%s", dir);
    if (snprintf(out, PATH_MAX, "%s/%s", strcmp(real, "/") ? real : "", last) >= PATH_MAX)
        out[0] = '\0';
}

static BRIO_ERR add_rules(struct brio_settings *s, const struct place *p,
                          const struct brio_rules *rules, const struct brio_subject *subject)
{
    for (size_t i = 0; i < rules->nrules; i++) {
        const struct brio_rule *rule = &rules->rule[i];
        char where[PATH_MAX + 16];
        if (!brio_rule_fits(rules, rule, subject))
            continue;
        snprintf(where, sizeof where, "%s:%d", p->path, rule->line);
        enum brio_err err = brio_settings_set(s, &(struct brio_setting){.name = rule->name,
                                                                        .value = rule->value,
                                                                        .source = p->source,
                                                                        .where = where});
        if (err)
            return err;
    }
    return BRIO_OK;
}

BRIO_ERR brio_site_add(struct brio_settings *s, const char *path)
{
    struct place place[PLACES];
    char resolved[PATH_MAX] = "";
    const struct brio_subject subject = {
        .program = known.program, .script = known.script, .path = resolved};
    enum brio_err err = BRIO_OK;
    find_places(place);
    pthread_mutex_lock(&known.lock);
    for (int i = 0; i < PLACES && !err; i++) {
        const struct brio_rules *rules;
        if (!*place[i].path)
            continue;
        err = load(&place[i], &rules);
        if (err || rules->nrules == 0)
            continue;
        if (rules->nheads > 1 && path && !*resolved) { /* only heads need them */
            learn_program();
            resolve(path, resolved);
        }
        err = add_rules(s, &place[i], rules, &subject);
    }
    pthread_mutex_unlock(&known.lock);
    return err;
}

const char *brio_site_place(size_t i, enum brio_source *source, bool *found)
{
    static struct place place[PLACES]; /* too large for the thread's own: see base/stats.h */
    size_t at = 0;
    find_places(place);
    for (size_t k = 0; k < PLACES; k++) {
        if (!*place[k].path || at++ != i)
            continue;
        *source = place[k].source;
        *found = access(place[k].path, R_OK) == 0;
        return place[k].path;
    }
    return NULL;
}
