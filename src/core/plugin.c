/* Loading and judging plug-ins. One that is of no use is refused with its reason, and all goes
 * on without it. */
#include "core/plugin.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "brio/module.h"
#include "mod/hint.h"
#include "mod/settings.h"

enum {
    MANY = 32,   /* modules, of all frameworks */
    REASON = 600 /* bytes of one refusal */
};

static struct {
    pthread_mutex_t lock;
    bool loaded;
    struct {
        enum brio_framework framework;
        const struct brio_module *module;
    } found[MANY];
    size_t nfound;
    char refused[MANY][REASON];
    size_t nrefused;
    bool (*is_taken)(enum brio_framework, const char *);
} plugins = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((format(printf, 2, 3))) static void refuse(const char *path, const char *fmt, ...)
{
    if (plugins.nrefused == MANY)
        return;
    char *out = plugins.refused[plugins.nrefused++];
    int n = snprintf(out, REASON, "the module %s is not loaded: ", path);
    va_list args;
    va_start(args, fmt);
    if (n > 0 && n < REASON)
        vsnprintf(out + n, REASON - (size_t)n, fmt, args);
    va_end(args);
}

static size_t field_size(enum brio_hint_kind kind)
{
    switch (kind) {
    case BRIO_HINT_BYTES:
    case BRIO_HINT_INT:
        return sizeof(brio_off);
    case BRIO_HINT_BOOL:
        return sizeof(bool);
    case BRIO_HINT_SWITCH:
        return sizeof(enum brio_switch);
    case BRIO_HINT_CHOICE:
        return sizeof(int);
    case BRIO_HINT_TEXT:
        return BRIO_HINT_MAX;
    }
    return SIZE_MAX;
}

/* What is wrong with a table of settings, or NULL. */
static const char *judge_hints(const struct brio_module *module)
{
    for (const struct brio_hint *h = module->hints; h && h->name; h++) {
        size_t size = field_size(h->kind);
        if (strlen(h->name) > 35)
            return "a setting has a name of more than 35 letters";
        if (!h->def || !h->help || (h->kind == BRIO_HINT_CHOICE && !h->choices))
            return "a setting has no default, no help or no choices";
        if (size > module->conf_size || h->offset > module->conf_size - size)
            return "a setting lies outside of the module's struct (conf_size)";
        if (!brio_hint_readable(h, h->def))
            return "a setting has a default that cannot be read";
    }
    return NULL;
}

/* True if it can be used. */
static bool judge(const char *path, const struct brio_plugin *p)
{
    if (p->version != BRIO_MODULE_VERSION) {
        refuse(path,
               "it is made for version %d of Brio's doors, and this is version %d; change "
               "and compile it anew",
               p->version, BRIO_MODULE_VERSION);
        return false;
    }
    if (!p->doors || strcmp(p->doors, BRIO_MODULE_DOORS) != 0) {
        refuse(path,
               "it was compiled with the headers of another Brio (%s, not %s); compile it "
               "anew",
               p->doors ? p->doors : "none", BRIO_MODULE_DOORS);
        return false;
    }
    if (!p->mpi || strcmp(p->mpi, BRIO_MODULE_MPI) != 0) {
        refuse(path, "it was compiled for %s, not for %s", p->mpi ? p->mpi : "no MPI",
               BRIO_MODULE_MPI);
        return false;
    }
    const struct brio_module *m = p->module;
    if ((unsigned)p->framework >= BRIO_FRAMEWORKS || !m || !m->name || !*m->name || !m->about ||
        !m->query) {
        refuse(path, "it has no framework, name, description or query");
        return false;
    }
    const char *wrong = judge_hints(m);
    if (wrong) {
        refuse(path, "%s", wrong);
        return false;
    }
    bool taken = plugins.is_taken(p->framework, m->name);
    for (size_t i = 0; i < plugins.nfound; i++)
        taken |= plugins.found[i].framework == p->framework &&
                 strcmp(plugins.found[i].module->name, m->name) == 0;
    if (taken || plugins.nfound == MANY) {
        refuse(path, taken ? "there is a module %s/%s already" : "%s/%s is one too many",
               brio_framework_name(p->framework), m->name);
        return false;
    }
    return true;
}

static void load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        refuse(path, "%s", why ? why : "it cannot be loaded");
        return;
    }
    const struct brio_plugin *p = dlsym(handle, "brio_plugin");
    if (!p)
        refuse(path, "it has no brio_plugin in it");
    if (!p || !judge(path, p)) {
        dlclose(handle);
        return;
    }
    plugins.found[plugins.nfound].framework = p->framework;
    plugins.found[plugins.nfound++].module = p->module;
    brio_log(BRIO_NOTE, "%s/%s is loaded from %s", brio_framework_name(p->framework),
             p->module->name, path);
}

/* Of a directory, *.so but for those that are named for another MPI: name-mpich.so. */
static int is_ours(const struct dirent *entry)
{
    static const char *const mpis[] = {"openmpi", "mpich"};
    size_t len = strlen(entry->d_name);
    if (len < 4 || strcmp(entry->d_name + len - 3, ".so") != 0)
        return false;
    for (size_t i = 0; i < sizeof mpis / sizeof mpis[0]; i++) {
        size_t n = strlen(mpis[i]);
        if (len > n + 4 && entry->d_name[len - n - 4] == '-' &&
            memcmp(entry->d_name + len - n - 3, mpis[i], n) == 0)
            return strcmp(mpis[i], BRIO_MODULE_MPI) == 0;
    }
    return true;
}

static void load_place(const char *place)
{
    struct dirent **list;
    struct stat st;
    char path[PATH_MAX];
    if (stat(place, &st) != 0) {
        refuse(place, "%s", "it is named in BRIO_MODULE_PATH, but is not there");
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        /* without a slash the loader would look elsewhere */
        if (snprintf(path, sizeof path, "%s%s", strchr(place, '/') ? "" : "./", place) <
            (int)sizeof path)
            load(path);
        return;
    }
    int n = scandir(place, &list, is_ours, alphasort); /* the same order on all ranks */
    for (int i = 0; i < n; i++) {
        if (snprintf(path, sizeof path, "%s/%s", place, list[i]->d_name) < (int)sizeof path)
            load(path);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
}

/* Not for programs that run with another's rights. */
static void load_all(void)
{
    const char *path = secure_getenv("BRIO_MODULE_PATH");
    while (path && *path) {
        char place[PATH_MAX];
        size_t len = strcspn(path, ":");
        if (len > 0 && len < sizeof place) {
            memcpy(place, path, len);
            place[len] = '\0';
            load_place(place);
        }
        path += len + (path[len] == ':');
    }
}

const struct brio_module *brio_plugin_at(enum brio_framework framework, size_t i,
                                         bool (*is_taken)(enum brio_framework framework,
                                                          const char *name))
{
    const struct brio_module *module = NULL;
    pthread_mutex_lock(&plugins.lock);
    if (!plugins.loaded) {
        plugins.loaded = true;
        plugins.is_taken = is_taken;
        load_all();
    }
    for (size_t k = 0; k < plugins.nfound && !module; k++)
        if (plugins.found[k].framework == framework && i-- == 0)
            module = plugins.found[k].module;
    pthread_mutex_unlock(&plugins.lock);
    return module;
}

void brio_plugins_complain(void)
{
    pthread_mutex_lock(&plugins.lock);
    for (size_t i = 0; i < plugins.nrefused; i++)
        brio_warn_once("%s", plugins.refused[i]);
    pthread_mutex_unlock(&plugins.lock);
}
