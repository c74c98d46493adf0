/* Counters of this process, from the system and from Brio. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "count.h"

enum {
    READ_CALLS,
    WRITE_CALLS,
    READ_BYTES,
    WRITE_BYTES,
    SWITCHES,
    FAULTS,
    SYSTEM_COUNTS
};

static const char *const names[SYSTEM_COUNTS] = {
    "read_calls", "write_calls", "read_bytes", "write_bytes", "switches", "page_faults",
};

/* Brio's, by the names of its report. */
static const char *const file_names[] = {
    "write.calls", "write.calls_aligned",
    "read.calls",  "read.calls_aligned",
    "messages",    "message_bytes",
    "copied",      "locks",
    "plan.hits",   "plan.misses",
    "owners",      "direct",
    "mapped",      "cpu.plan",
    "ns.plan",     "ns.exchange",
    "ns.file",     "ns.wait",
    "rank.moves",
};

enum {
    FILE_COUNTS = sizeof file_names / sizeof file_names[0]
};
_Static_assert(SYSTEM_COUNTS + FILE_COUNTS <= COUNTS_MAX, "room for all counters");

static int (*brio_counter)(MPI_File, const char *, long long *); /* NULL: another library */
static struct counts own; /* what counting itself costs */

void counts_find(void)
{
    struct counts before = {{0}};
    void *found = dlsym(RTLD_DEFAULT, "brio_counter");
    memcpy(&brio_counter, &found, sizeof brio_counter); /* C has no cast for it */
    counts_system(&before);
    counts_system(&own);
    for (int i = 0; i < COUNTS_MAX; i++)
        own.value[i] -= before.value[i];
}

/* The lines of /proc/self/io that are wanted. */
static void take_io(struct counts *c)
{
    static const char *const keys[] = {"syscr", "syscw", "rchar", "wchar"};
    char line[128];
    FILE *f = fopen("/proc/self/io", "r");
    while (f && fgets(line, sizeof line, f))
        for (int i = 0; i < 4; i++) {
            size_t len = strlen(keys[i]);
            if (strncmp(line, keys[i], len) == 0 && line[len] == ':')
                sscanf(line + len + 1, "%lld", &c->value[READ_CALLS + i]);
        }
    if (f)
        fclose(f);
}

void counts_system(struct counts *c)
{
    struct rusage use;
    take_io(c);
    if (getrusage(RUSAGE_SELF, &use) == 0) {
        c->value[SWITCHES] = use.ru_nvcsw + use.ru_nivcsw;
        c->value[FAULTS] = use.ru_minflt + use.ru_majflt;
    }
}

void counts_file(struct counts *c, MPI_File fh)
{
    for (int i = 0; i < FILE_COUNTS && brio_counter && fh != MPI_FILE_NULL; i++)
        if (brio_counter(fh, file_names[i], &c->value[SYSTEM_COUNTS + i]) != MPI_SUCCESS)
            c->value[SYSTEM_COUNTS + i] = 0;
}

void counts_subtract(struct counts *c, const struct counts *before)
{
    for (int i = 0; i < COUNTS_MAX; i++)
        c->value[i] -= before->value[i] + own.value[i];
}

void counts_share(struct counts *c)
{
    struct counts all;
    MPI_Allreduce(c->value, all.value, COUNTS_MAX, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    *c = all;
}

void counts_print(const struct counts *c)
{
    for (int i = 0; i < SYSTEM_COUNTS; i++)
        printf("%s=%lld ", names[i], c->value[i]);
    for (int i = 0; i < FILE_COUNTS; i++)
        if (c->value[SYSTEM_COUNTS + i] != 0)
            printf("%s=%lld ", file_names[i], c->value[SYSTEM_COUNTS + i]);
}
