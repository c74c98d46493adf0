/* The brio command: finds the subcommand, and helps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *about;
    const char *help;
};

static const struct command commands[] = {
    {"run", brio_cmd_run, "run an MPI program with its file I/O through Brio", brio_help_run},
    {"info", brio_cmd_info, "list modules and settings", brio_help_info},
    {"explain", brio_cmd_explain, "say what would be done with a file, and why",
     brio_help_explain},
    {"merge", brio_cmd_merge, "finish the side files of a job that was killed",
     brio_help_merge},
    {"bench", brio_cmd_bench, "measure the papers' workloads, against other MPI-IO libraries",
     brio_help_bench},
    {"reproduce", brio_cmd_reproduce, "rerun the papers' experiments, and make a report",
     brio_help_reproduce},
    {"tune", brio_cmd_tune, "find the best settings for a program", brio_help_tune},
    {"report", brio_cmd_report, "say what a program did with its files, and what is better",
     brio_help_report},
    {"calibrate", brio_cmd_calibrate, "measure which accesses a file system needs to be fast",
     brio_help_calibrate},
};

enum {
    NCOMMANDS = sizeof commands / sizeof commands[0]
};

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < NCOMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* How many letters to change, add or drop; b is cut at 31 letters. */
static size_t distance(const char *a, const char *b)
{
    size_t row[32], na = strlen(a), nb = strlen(b);
    if (nb > 31)
        nb = 31;
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

static int unknown(const char *name)
{
    const struct command *nearest = NULL;
    size_t best = 3;
    for (size_t i = 0; i < NCOMMANDS; i++) {
        size_t d = distance(name, commands[i].name);
        if (d < best) {
            best = d;
            nearest = &commands[i];
        }
    }
    char *file = brio_program_find(name, NULL);
    if (nearest)
        brio_say("there is no command `%s'; did you mean `brio %s'?", name, nearest->name);
    else if (file || name[0] == '-')
        brio_say("there is no command `%s'; to run a program: brio run %s ...", name, name);
    else
        brio_say("there is no command `%s'; see `brio help'", name);
    free(file);
    return BRIO_EXIT_USAGE;
}

static void usage(FILE *out)
{
    fputs("brio: MPI-IO for any MPI program, on Open MPI and MPICH\n\n", out);
    for (size_t i = 0; i < NCOMMANDS; i++)
        fprintf(out, "  brio %-13s %s\n", commands[i].name, commands[i].about);
    fputs("  brio help COMMAND  say more about one\n"
          "  brio --version     print the version\n",
          out);
}

static int help(int argc, char **argv)
{
    if (argc < 2) {
        usage(stdout);
        return 0;
    }
    const struct command *command = find(argv[1]);
    if (!command)
        return unknown(argv[1]);
    fputs(command->help, stdout);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return BRIO_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        puts("brio " BRIO_VERSION);
        return 0;
    }
    const struct command *command = find(name);
    if (!command)
        return unknown(name);
    if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
        fputs(command->help, stdout);
        return 0;
    }
    return command->run(argc - 1, argv + 1);
}
