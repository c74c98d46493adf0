/* Finds what is installed: the libraries beside this command, the launchers on PATH. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* The directory that this command is in; "." if the system does not say. */
static const char *own_dir(void)
{
    static char dir[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", dir, sizeof dir - 1);
    if (len <= 0)
        return ".";
    dir[len] = '\0';
    char *slash = strrchr(dir, '/');
    if (slash)
        *slash = '\0';
    return dir;
}

/* BRIO_LIBDIR wins; then the build tree, then an installation. */
static const char *find_file(const char *name, const char *installed)
{
    const char *own = own_dir(), *asked = getenv("BRIO_LIBDIR");
    char *places[] = {asked && *asked ? brio_copy(asked) : NULL, brio_copy(own),
                      brio_text("%s/%s", own, installed)};
    char *found = NULL;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *dir = places[i] && !found ? realpath(places[i], NULL) : NULL;
        char *file = dir ? brio_text("%s/%s", dir, name) : NULL;
        if (file && access(file, R_OK) == 0)
            found = file;
        else
            free(file);
        free(dir);
        free(places[i]);
    }
    return found;
}

const char *brio_place_library(enum brio_mpi mpi)
{
    static const char *known[3];
    if (!known[mpi]) {
        char *name = brio_text("libbrio-%s.so", brio_mpi_name(mpi));
        known[mpi] = find_file(name, BRIO_LIBDIR_FROM_BIN);
        free(name);
    }
    return known[mpi];
}

const char *brio_place_bench(enum brio_mpi mpi)
{
    static const char *known[3];
    if (!known[mpi]) {
        char *name = brio_text("brio-bench-%s", brio_mpi_name(mpi));
        known[mpi] = find_file(name, BRIO_LIBEXECDIR_FROM_BIN);
        free(name);
    }
    return known[mpi];
}

const char *brio_place_explain(enum brio_mpi mpi)
{
    char *name = brio_text("brio-explain-%s", brio_mpi_name(mpi));
    const char *found = find_file(name, BRIO_LIBEXECDIR_FROM_BIN);
    free(name);
    return found;
}

const char *brio_place_yield(void)
{
    return find_file("libbrio-yield.so", BRIO_LIBDIR_FROM_BIN);
}

const char *brio_place_delay(void)
{
    return find_file("bench/delay.so", BRIO_LIBEXECDIR_FROM_BIN);
}

const char *brio_place_space(const char *name)
{
    char *file = brio_text("tune/%s", name);
    const char *found = strchr(name, '/') ? NULL : find_file(file, BRIO_DATADIR_FROM_BIN);
    free(file);
    return found;
}

static enum brio_mpi mpi_of_launcher(const char *launcher)
{
    char said[4096];
    const char *argv[] = {launcher, "--version", NULL};
    if (!brio_output_of(argv, said, sizeof said))
        return BRIO_MPI_UNKNOWN;
    if (strstr(said, "OpenRTE") || strstr(said, "Open MPI") || strstr(said, "PRRTE"))
        return BRIO_MPI_OPENMPI;
    if (strstr(said, "HYDRA"))
        return BRIO_MPI_MPICH;
    return BRIO_MPI_UNKNOWN;
}

const char *brio_place_launcher(enum brio_mpi mpi)
{
    static const char *const names[] = {"mpirun.%s", "mpiexec.%s", "mpirun", "mpiexec"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s", names[i]);
        char *mark = strstr(name, "%s");
        if (mark)
            snprintf(mark, sizeof name - (size_t)(mark - name), "%s", brio_mpi_name(mpi));
        char *file = brio_program_find(name, NULL);
        if (file && (mark || mpi_of_launcher(file) == mpi))
            return file;
        free(file);
    }
    return NULL;
}
