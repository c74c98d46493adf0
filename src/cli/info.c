/* brio info: asks a library for its modules and settings. Loading it loads the MPI too, but
 * does not initialise it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

const char brio_help_info[] =
    "brio info [--json] [--mpi openmpi|mpich]\n"
    "brio info [--mpi openmpi|mpich] FILE\n"
    "brio info --settings [--file FILE] [--program NAME] [--json] [--mpi openmpi|mpich]\n"
    "\n"
    "Lists the frameworks, their modules, and every setting with its default, its range and\n"
    "what it does. A setting is given as a hint in an MPI_Info object or as an environment\n"
    "variable: cb_buffer_size is BRIO_CB_BUFFER_SIZE there. The name of a framework is a\n"
    "setting too and forces a module: BRIO_FCOLL=individual. Settings may also be written in\n"
    "the site's brio.conf and in profiles; see hints.md.\n"
    "\n"
    "With a FILE: its file system, its layout and servers, and in a few words what Brio would\n"
    "do with it; `brio explain FILE' says it all, and why. The file is opened for reading, "
    "and\n"
    "nothing is changed.\n"
    "\n"
    "  --settings      the value of every setting here and now, and where it comes from\n"
    "  --file FILE     as it would be for this file\n"
    "  --program NAME  and in this program\n"
    "  --json          for programs\n";

struct wish {
    enum brio_mpi mpi;
    bool json, settings;
    const char *file, *program;
    const char *look; /* a file that is to be looked at */
};

static void *function(void *handle, const char *library, const char *name)
{
    void *found = dlsym(handle, name);
    if (!found)
        brio_say("%s is of another version: %s", library, dlerror());
    return found;
}

static int print(const char *library, const struct wish *wish)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        brio_say("cannot load %s: %s", library, dlerror());
        return 1;
    }
    const char *name = wish->look       ? "brio_info_file"
                       : wish->settings ? "brio_info_settings"
                                        : "brio_info_print";
    void *found = function(handle, library, name);
    void (*info_print)(int);
    int (*info_settings)(int, const char *, const char *);
    int (*info_file)(const char *);
    int failed = found == NULL;
    if (found && wish->look) {
        memcpy(&info_file, &found, sizeof found);
        failed = info_file(wish->look);
    } else if (found && wish->settings) {
        memcpy(&info_settings, &found, sizeof found); /* C has no cast for it */
        failed = info_settings(wish->json, wish->file, wish->program);
    } else if (found) {
        memcpy(&info_print, &found, sizeof found);
        info_print(wish->json);
    }
    return fflush(stdout) == 0 && !failed ? 0 : 1;
}

/* The words that were used; 0 if the first one is of no use. */
static int take(struct wish *wish, int n, char **argv)
{
    const char *word = argv[0], *value = n > 1 ? argv[1] : NULL;
    if (word[0] != '-' && word[0] != '\0' && !wish->look) {
        wish->look = word;
        return 1;
    }
    if (strcmp(word, "--json") == 0)
        wish->json = true;
    else if (strcmp(word, "--settings") == 0)
        wish->settings = true;
    else if (!value)
        return 0;
    else if (strcmp(word, "--file") == 0)
        wish->file = value;
    else if (strcmp(word, "--program") == 0)
        wish->program = value;
    else if (strcmp(word, "--mpi") == 0)
        wish->mpi = brio_mpi_named(value);
    else
        return 0;
    if (strcmp(word, "--mpi") == 0 && wish->mpi == BRIO_MPI_UNKNOWN)
        return 0;
    return strcmp(word, "--json") == 0 || strcmp(word, "--settings") == 0 ? 1 : 2;
}

int brio_cmd_info(int argc, char **argv)
{
    struct wish wish = {.mpi = BRIO_MPI_UNKNOWN};
    for (int i = 1, used; i < argc; i += used) {
        used = take(&wish, argc - i, argv + i);
        if (used == 0) {
            brio_say("info: cannot use `%s'; see `brio help info'", argv[i]);
            return BRIO_EXIT_USAGE;
        }
    }
    if ((wish.file || wish.program) && !wish.settings) {
        brio_say("info: --file and --program go with --settings");
        return BRIO_EXIT_USAGE;
    }
    if (wish.look && (wish.settings || wish.json)) {
        brio_say("info: a FILE goes with neither --settings nor --json");
        return BRIO_EXIT_USAGE;
    }
    const char *library = NULL;
    for (enum brio_mpi m = BRIO_MPI_OPENMPI; m <= BRIO_MPI_MPICH && !library; m++)
        if (wish.mpi == BRIO_MPI_UNKNOWN || wish.mpi == m)
            library = brio_place_library(m);
    if (!library) {
        brio_say("no libbrio-%s.so found; set BRIO_LIBDIR to the directory it is in",
                 wish.mpi == BRIO_MPI_UNKNOWN ? "*" : brio_mpi_name(wish.mpi));
        return 1;
    }
    return print(library, &wish);
}
