/* Where results were measured: the machine, its system, the MPIs that did the I/O. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/results.h"

/* The value of a line like "model name : ..." in a file of /proc; "" if there is none. */
static void proc_value(const char *path, const char *key, char *out, size_t size)
{
    char line[512];
    FILE *f = fopen(path, "r");
    out[0] = '\0';
    while (f && !*out && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) != 0 || !colon)
            continue;
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
    }
    if (f)
        fclose(f);
}

static void add_mpi(char *list, size_t size, const char *name)
{
    size_t len = strlen(list);
    if (*name && !strstr(list, name))
        snprintf(list + len, size - len, "%s%s", len ? ", " : "", name);
}

/* Every library that some contender ran on. */
static void gather(const struct brio_outcome *o, struct brio_environment *e)
{
    for (size_t i = 0; i < o->n; i++) {
        const struct brio_json *run = brio_json_get(o->line[i], "run");
        const struct brio_json *cases = brio_json_get(run, "cases");
        const struct brio_json *who = brio_json_get(brio_json_at(cases, 0), "contenders");
        for (size_t k = 0; k < who->n; k++)
            add_mpi(e->mpis, sizeof e->mpis,
                    brio_json_text(brio_json_get(brio_json_at(who, k), "mpi")));
        const char *when = brio_json_text(brio_json_get(o->line[i], "when"));
        if (strcmp(when, e->date) > 0) /* the last of all */
            snprintf(e->date, sizeof e->date, "%s", when);
        snprintf(e->files, sizeof e->files, "%.60s in %.400s",
                 brio_json_text(brio_json_get(run, "filesystem")),
                 brio_json_text(brio_json_get(run, "directory")));
    }
}

void brio_environment_of(const struct brio_outcome *o, size_t n, struct brio_environment *out)
{
    struct utsname u;
    char model[128], memory[64];
    memset(out, 0, sizeof *out);
    proc_value("/proc/cpuinfo", "model name", model, sizeof model);
    proc_value("/proc/meminfo", "MemTotal", memory, sizeof memory);
    snprintf(out->machine, sizeof out->machine, "%ld cores (%s), %.0f GB of memory",
             sysconf(_SC_NPROCESSORS_ONLN), model, strtod(memory, NULL) / 1e6);
    if (uname(&u) == 0)
        snprintf(out->system, sizeof out->system, "%.60s %.100s %.60s", u.sysname, u.release,
                 u.machine);
    for (size_t i = 0; i < n; i++)
        gather(&o[i], out);
}
