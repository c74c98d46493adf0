/* Names looked up in the tables of all modules, and what is said of those found nowhere. */
#include "core/known.h"

#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "core/conf.h"
#include "core/plugin.h"
#include "core/registry.h"
#include "fcoll/config_list.h"

const struct brio_variable brio_variables[] = {
    {"config", "the site's file of settings, instead of the one in the system's directory; "
               "empty: none"},
    {"explain", "1: say for each file, and each view, what was chosen and why"},
    {"libdir", "for the brio command: where the libraries are"},
    {"module_path", "where modules of others are: directories or files, separated by colons"},
    {"nodes", "pretend that the ranks run on so many nodes (for tests)"},
    {"profile", "the file of tuned settings, instead of the user's and the system's; empty: "
                "none"},
    {"report", "where a report on each file is written when it is closed, for brio report"},
    {"run_mark", "set by brio run, which sees by it that Brio was loaded"},
    {"server", "the program of sharedfp/addproc, if it is not beside the library"},
    {"threads", "0: leave MPI's thread level as the program wants it"},
    {"verbose", "0: nothing, 1: warnings (default), 2: choices and reasons, 3: everything"},
    {NULL, NULL},
};

/* What Brio's own tests and benchmarks call theirs; a dash stands for more letters. */
static const char *const others[] = {
    "bench-",  "build", "cases",    "demand-", "demo-", "fault-", "keep",  "lib", "mpi-",
    "preload", "run",   "sanitize", "seed",    "shim",  "source", "test-", NULL};

/* Settings of other libraries, which portable programs give to all of them. */
static const char *const foreign[] = {"romio_-",  "gpfs-",  "ibm_-",     "panfs_-", "siox-",
                                      "nc_-",     "cray_-", "pnetcdf_-", "mpi_-",   "lustre_-",
                                      "direct_-", "bg_-",   "nfs_-",     "pvfs2_-", NULL};

/* What MPI_File_get_info tells, in an object that may be given to another open. */
static const char *const told[] = {"filename", "brio_-", NULL};

static bool listed(const char *const *list, const char *name)
{
    for (; *list; list++) {
        size_t len = strlen(*list);
        bool open = (*list)[len - 1] == '-';
        if (strncasecmp(*list, name, open ? len - 1 : len + 1) == 0)
            return true;
    }
    return false;
}

static const struct brio_hint *in_table(const struct brio_hint *hints, const char *name)
{
    for (; hints && hints->name; hints++)
        if (brio_hint_is(hints, name))
            return hints;
    return NULL;
}

const struct brio_hint *brio_known_hint(const char *name)
{
    const struct brio_hint *found = in_table(brio_conf_hints, name);
    for (int i = 0; i < BRIO_FRAMEWORKS && !found; i++) {
        size_t n;
        const struct brio_module *const *all = brio_registry((enum brio_framework)i, &n);
        for (size_t m = 0; m < n && !found; m++)
            found = in_table(all[m]->hints, name);
    }
    return found;
}

static bool is_framework(const char *name)
{
    for (int i = 0; i < BRIO_FRAMEWORKS; i++)
        if (strcmp(name, brio_framework_name((enum brio_framework)i)) == 0)
            return true;
    return false;
}

static bool is_variable(const char *name)
{
    for (const struct brio_variable *v = brio_variables; v->name; v++)
        if (strcmp(name, v->name) == 0)
            return true;
    return listed(others, name);
}

bool brio_known_same(const char *name)
{
    const struct brio_hint *hint = brio_known_hint(name);
    return hint ? hint->same : is_framework(name);
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* How many letters to change, add or drop; both names are cut at 39 letters. */
static size_t distance(const char *a, const char *b)
{
    enum {
        MAX = 39
    };
    size_t row[MAX + 1], na = strnlen(a, MAX), nb = strnlen(b, MAX);
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t above = row[j];
            row[j] = least(above + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1]));
            corner = above;
        }
    }
    return row[nb];
}

struct nearest {
    const char *name; /* NULL: none is near */
    size_t distance;  /* the next must be nearer */
};

static void try_name(struct nearest *best, const char *wrong, const char *name)
{
    size_t d = distance(wrong, name);
    if (d < best->distance)
        *best = (struct nearest){.name = name, .distance = d};
}

static const char *find_nearest(const char *wrong)
{
    struct nearest best = {.distance = 2 + strlen(wrong) / 6};
    for (const struct brio_hint *h = brio_conf_hints; h->name; h++)
        try_name(&best, wrong, h->name);
    for (int i = 0; i < BRIO_FRAMEWORKS; i++) {
        size_t n;
        const struct brio_module *const *all = brio_registry((enum brio_framework)i, &n);
        for (size_t m = 0; m < n; m++)
            for (const struct brio_hint *h = all[m]->hints; h && h->name; h++)
                try_name(&best, wrong, h->name);
    }
    for (const struct brio_variable *v = brio_variables; v->name; v++)
        try_name(&best, wrong, v->name);
    return best.name;
}

/* Values that can be read, but not be used. */
static void check_values(const struct brio_settings *s)
{
    const char *list = brio_settings_get(s, "cb_config_list");
    const char *buffering = brio_settings_get(s, "collective_buffering");
    const char *fcoll = brio_settings_get(s, "fcoll");
    const struct brio_hint *hint = brio_known_hint("collective_buffering");
    if (list && !brio_config_list_valid(list))
        brio_warn_once("cb_config_list: \"%s\" is not used; it takes HOST:N, ..., *:N", list);
    if (fcoll && *fcoll && strcmp(fcoll, "auto") != 0 && strcmp(fcoll, "individual") != 0 &&
        buffering && hint && brio_hint_equal(hint, buffering, "false"))
        brio_warn_once("collective_buffering=%s is not used: fcoll=%s contradicts it",
                       buffering, fcoll);
}

void brio_known_check(const struct brio_settings *s)
{
    struct brio_setting e;
    check_values(s);
    brio_plugins_complain(); /* their settings are among the unknown, then */
    for (size_t i = 0; brio_settings_at(s, i, &e); i++) {
        bool env = e.source == BRIO_FROM_ENVIRONMENT;
        if (is_framework(e.name) || brio_known_hint(e.name) ||
            (env ? is_variable(e.name) : listed(told, e.name)))
            continue;
        const char *near = find_nearest(e.name);
        if (!near && !env && listed(foreign, e.name)) {
            brio_log(BRIO_NOTE, "%s (from %s) is a setting of another library", e.name,
                     e.where);
            continue;
        }
        brio_warn_once("%s (from %s) is not a setting of Brio, and not used%s%s%s", e.name,
                       e.where, near ? "; did you mean " : "; `brio info' lists them all",
                       near ? near : "", near ? "?" : "");
    }
}
