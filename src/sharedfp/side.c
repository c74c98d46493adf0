/* Names of files beside the user's. */
#include "sharedfp/side.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mem.h"
#include "comm/verdict.h"

/* How many letters of the path are its directory, with the slash. */
static size_t dir_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

BRIO_ERR brio_side_name(const char *path, const char *kind, const char *tag, char **out)
{
    size_t dir = dir_length(path);
    size_t room = strlen(path) + strlen(kind) + BRIO_SIDE_TAG + 16;
    char *name = NULL;
    enum brio_err err = brio_calloc(1, room, (void **)&name);
    if (err)
        return err;
    snprintf(name, room, "%.*s.%s.brio-%s-%s", (int)dir, path, path + dir, kind,
             tag ? tag : "");
    *out = name;
    return BRIO_OK;
}

static BRIO_ERR dir_name(const char *path, char **out)
{
    size_t dir = dir_length(path);
    enum brio_err err = brio_strdup(dir ? path : ".", out);
    if (!err && dir)
        (*out)[dir] = '\0';
    return err;
}

/* As far as can be told without making one. */
static bool may_make_files(const char *path)
{
    char *dir;
    if (dir_name(path, &dir))
        return false;
    bool allowed = faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) == 0;
    free(dir);
    return allowed;
}

static BRIO_ERR draw_tag(MPI_Comm comm, char tag[BRIO_SIDE_TAG + 1])
{
    unsigned char bytes[1 + BRIO_SIDE_TAG / 2] = {0}; /* the first: whether they are there */
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0)
        bytes[0] = getrandom(bytes + 1, sizeof bytes - 1, 0) == (ssize_t)sizeof bytes - 1;
    PMPI_Bcast(bytes, sizeof bytes, MPI_BYTE, 0, comm);
    if (!bytes[0])
        return brio_fail(BRIO_EUNSUPOP, "the system has no random numbers");
    for (int i = 0; i < BRIO_SIDE_TAG / 2; i++)
        snprintf(tag + 2 * i, 3, "%02x", bytes[1 + i]);
    return BRIO_OK;
}

BRIO_ERR brio_side_begin(const char *path, MPI_Comm comm, struct brio_team *team,
                         char tag[BRIO_SIDE_TAG + 1])
{
    enum brio_err err = BRIO_OK;
    *team = (struct brio_team){.comm = comm};
    PMPI_Comm_rank(comm, &team->rank);
    PMPI_Comm_size(comm, &team->nranks);
    if (team->rank == 0 && !may_make_files(path))
        err = brio_fail(BRIO_EUNSUPOP, "no files can be made in the directory of %s", path);
    err = brio_follow(team, err);
    return err ? err : draw_tag(comm, tag);
}

void brio_side_each(const char *path, const char *kind, void (*fn)(const char *name))
{
    char *dir, *prefix;
    size_t at = dir_length(path);
    if (dir_name(path, &dir))
        return;
    if (brio_side_name(path, kind, NULL, &prefix)) {
        free(dir);
        return;
    }
    const char *start = prefix + at;
    size_t n = strlen(start);
    DIR *d = opendir(dir);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char *name;
        if (strncmp(e->d_name, start, n) != 0 || strlen(e->d_name) != n + BRIO_SIDE_TAG)
            continue;
        if (brio_side_name(path, kind, e->d_name + n, &name))
            break;
        fn(name);
        free(name);
    }
    if (d)
        closedir(d);
    free(prefix);
    free(dir);
}
