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
#include "base/stats.h"

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

/* What rank 0 has found out, for all. */
struct start {
    enum {
        FINE,
        NO_FILES,
        NO_NUMBERS
    } state;
    unsigned char bytes[BRIO_SIDE_TAG / 2];
};

static void prepare(const char *path, struct start *start)
{
    const ssize_t n = sizeof start->bytes;
    start->state = !may_make_files(path)                        ? NO_FILES
                   : getrandom(start->bytes, (size_t)n, 0) != n ? NO_NUMBERS
                                                                : FINE;
}

BRIO_ERR brio_side_begin(const char *path, const struct brio_team *team,
                         char tag[BRIO_SIDE_TAG + 1])
{
    struct start start = {.state = FINE};
    if (team->rank == 0)
        prepare(path, &start);
    PMPI_Bcast(&start, sizeof start, MPI_BYTE, 0, team->comm);
    if (start.state == NO_FILES)
        return brio_fail(BRIO_EUNSUPOP, "no files can be made in the directory of %s", path);
    if (start.state == NO_NUMBERS)
        return brio_fail(BRIO_EUNSUPOP, "the system has no random numbers");
    for (int i = 0; i < BRIO_SIDE_TAG / 2; i++)
        snprintf(tag + 2 * i, 3, "%02x", start.bytes[i]);
    return BRIO_OK;
}

/* ".NAME.brio-KIND", a rank if there are files of each, "-" and the tag. */
static bool is_of_kind(const char *name, const char *start, size_t n)
{
    if (strncmp(name, start, n) != 0)
        return false;
    name += n + strspn(name + n, "0123456789");
    return *name == '-' && strlen(name) == 1 + BRIO_SIDE_TAG;
}

static void walk(const char *path, const char *start, int64_t most,
                 bool (*fn)(const char *path, const char *name))
{
    enum {
        BETWEEN_LOOKS = 256 /* at the clock, which is read less often than names are */
    };
    char *dir;
    if (dir_name(path, &dir))
        return;
    DIR *d = opendir(dir);
    const int64_t began = brio_now();
    const size_t n = strlen(start);
    bool on = d;
    for (int i = 1; on; i++) {
        const struct dirent *e = readdir(d);
        char *name;
        on = e && (most == 0 || i % BETWEEN_LOOKS > 0 || brio_now() - began < most);
        if (!on || !is_of_kind(e->d_name, start, n))
            continue;
        size_t room = strlen(path) + strlen(e->d_name) + 1;
        on = !brio_calloc(1, room, (void **)&name);
        if (!on)
            break;
        snprintf(name, room, "%.*s%s", (int)dir_length(path), path, e->d_name);
        on = fn(path, name);
        free(name);
    }
    if (d)
        closedir(d);
    free(dir);
}

void brio_side_each(const char *path, const char *kind, int64_t most,
                    bool (*fn)(const char *path, const char *name))
{
    char *start;
    if (brio_side_name(path, kind, NULL, &start))
        return;
    start[strlen(start) - 1] = '\0'; /* the dash */
    walk(path, start + dir_length(path), most, fn);
    free(start);
}
