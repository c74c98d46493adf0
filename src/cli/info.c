/* brio info: asks a library for its modules and settings. Loading it loads the MPI too, but
 * does not initialise it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

const char brio_help_info[] =
    "brio info [--json] [--mpi openmpi|mpich]\n"
    "\n"
    "Lists the frameworks, their modules, and every setting with its default, its range and\n"
    "what it does. A setting is given as a hint in an MPI_Info object or as an environment\n"
    "variable: cb_buffer_size is BRIO_CB_BUFFER_SIZE there. The name of a framework is a\n"
    "setting too and forces a module: BRIO_FCOLL=individual.\n";

static int print(const char *library, bool json)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        brio_say("cannot load %s: %s", library, dlerror());
        return 1;
    }
    void *found = dlsym(handle, "brio_info_print");
    if (!found) {
        brio_say("%s is of another version: %s", library, dlerror());
        return 1;
    }
    void (*info_print)(int);
    memcpy(&info_print, &found, sizeof info_print); /* C has no cast for it */
    info_print(json);
    return fflush(stdout) == 0 ? 0 : 1;
}

int brio_cmd_info(int argc, char **argv)
{
    enum brio_mpi mpi = BRIO_MPI_UNKNOWN;
    bool json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--mpi") == 0 && i + 1 < argc &&
                   brio_mpi_named(argv[i + 1]) != BRIO_MPI_UNKNOWN) {
            mpi = brio_mpi_named(argv[++i]);
        } else {
            brio_say("info: cannot use `%s'; see `brio help info'", argv[i]);
            return BRIO_EXIT_USAGE;
        }
    }
    const char *library = NULL;
    for (enum brio_mpi m = BRIO_MPI_OPENMPI; m <= BRIO_MPI_MPICH && !library; m++)
        if (mpi == BRIO_MPI_UNKNOWN || mpi == m)
            library = brio_place_library(m);
    if (!library) {
        brio_say("no libbrio-%s.so found; set BRIO_LIBDIR to the directory it is in",
                 mpi == BRIO_MPI_UNKNOWN ? "*" : brio_mpi_name(mpi));
        return 1;
    }
    return print(library, json);
}
