/* The benchmark program: brio-bench-<mpi> WORKLOAD [--name=value...]. `brio bench` starts it
 * under a launcher, several times and with several MPI-IO libraries; it can be run by hand. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

static const struct option_entry common[] = {
    {"file", "brio-bench.dat", "the file; with --plain=files, one for each rank beside it"},
    {"reps", "5", "repetitions that count; one before them warms up, and is always verified"},
    {"only", "both", "write, read or both"},
    {"verify", "no", "verify every byte of every repetition: the file and what is read"},
    {"whole", "", "time from open to close: yes or no (the default is the workload's)"},
    {"fresh", "no", "a new file for each write; implies --whole"},
    {"sync", "no", "writes end with MPI_File_sync, within the time"},
    {"cold", "no", "before each read the file is synced and dropped from memory"},
    {"plain", "no", "plain POSIX instead of MPI-IO: shared (one file) or files (one a rank)"},
    {"turns", "", "a named pipe: before each step every rank takes a byte from it"},
    {"from", "0", "the first case"},
    {"spoil", "no", "damage a byte before verification, to see that it is noticed"},
    {"cases", "no", "print how many cases there are, and end"},
    {NULL, NULL, NULL},
};

static const struct workload *find(const char *name)
{
    for (const struct workload *const *w = workloads; *w; w++)
        if (strcmp((*w)->name, name) == 0)
            return *w;
    return NULL;
}

static void list(void)
{
    for (const struct workload *const *w = workloads; *w; w++)
        printf("  %-12s %s\n", (*w)->name, (*w)->about);
}

static int help(const struct workload *work, bool all)
{
    printf("%s: %s\n", work->name, work->about);
    options_help(work->options);
    if (all) {
        printf("of any workload:\n");
        options_help(common);
    }
    return 0;
}

/* Options that follow from others; false, after a message, if they make no sense. */
static bool complete(struct options *o, const struct workload *work)
{
    if (!option_one_of(o, "only", "both write read") ||
        !option_one_of(o, "plain", "no shared files"))
        return false;
    if (option_flag(o, "fresh") || (option_is(o, "whole", "") && work->whole))
        option_set(o, "whole", "yes");
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        printf("brio-bench-%s WORKLOAD [--name=value...] [--hint=name=value...]\n",
               BRIO_MPI_NAME);
        list();
        return argc < 2 ? 2 : 0;
    }
    const struct workload *work = find(argv[1]);
    if (!work) {
        fprintf(stderr, "brio bench: there is no workload `%s'; there are\n", argv[1]);
        for (const struct workload *const *w = workloads; *w; w++)
            fprintf(stderr, "  %s\n", (*w)->name);
        return 2;
    }
    if (argc > 2 && strcmp(argv[2], "--help") == 0)
        return help(work, true);
    if (argc > 2 && strcmp(argv[2], "--options") == 0)
        return help(work, false);
    struct options o = {.table = {common, work->options}};
    if (!options_parse(&o, argc - 2, argv + 2) || !complete(&o, work))
        return 2;
    int cases = work->cases(&o); /* ends the program if a value is wrong */
    option_number(&o, "reps");
    option_number(&o, "from");
    if (option_flag(&o, "cases")) {
        printf("%d\n", cases);
        return 0;
    }
    MPI_Init(&argc, &argv);
    int code = drive(work, &o);
    MPI_Finalize();
    return code;
}
