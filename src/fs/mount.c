/* Mounts by /proc/self/mountinfo: the one with the longest name in front of the path, the last
 * one of these. */
#include "fs/mount.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool brio_fs_directory(const char *path, char out[BRIO_PATH])
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (n >= BRIO_PATH)
        return false;
    memcpy(out, path, n);
    out[n] = '\0';
    if (n == 0)
        strcpy(out, slash ? "/" : ".");
    return true;
}

/* The true name of the path, or of the directory that it would be in. */
static bool resolve(const char *path, char out[PATH_MAX])
{
    char dir[BRIO_PATH];
    return realpath(path, out) || (brio_fs_directory(path, dir) && realpath(dir, out));
}

/* Blanks and backslashes are written as \ and three octal digits. */
static void unescape(char *text)
{
    char *out = text;
    for (const char *in = text; *in; out++) {
        unsigned c;
        if (in[0] == '\\' && sscanf(in + 1, "%3o", &c) == 1) {
            *out = (char)c;
            in += 4;
        } else {
            *out = *in++;
        }
    }
    *out = '\0';
}

static bool is_under(const char *path, const char *point)
{
    size_t n = strlen(point);
    if (strncmp(path, point, n) != 0)
        return false;
    return n == 1 || path[n] == '/' || path[n] == '\0'; /* 1: the root */
}

/* "id parent dev root point options [more...] - type source options" */
static bool read_line(const char *line, struct brio_mount *out)
{
    char point[BRIO_MOUNT_POINT], type[64], source[BRIO_MOUNT_POINT];
    const char *rest = strstr(line, " - ");
    if (!rest || sscanf(line, "%*s %*s %*s %*s %1023s", point) != 1 ||
        sscanf(rest + 3, "%63s %1023s", type, source) != 2)
        return false;
    int n = snprintf(out->key, sizeof out->key, "%s %s %s", type, source, point);
    if (n < 0 || (size_t)n >= sizeof out->key)
        return false;
    unescape(point);
    strcpy(out->point, point);
    return true;
}

bool brio_mount_of(const char *path, struct brio_mount *out)
{
    char real[PATH_MAX], *line = NULL;
    size_t room = 0, best = 0;
    if (!resolve(path, real))
        return false;
    FILE *in = fopen("/proc/self/mountinfo", "re");
    if (!in)
        return false;
    while (getline(&line, &room, in) > 0) {
        struct brio_mount m;
        if (read_line(line, &m) && is_under(real, m.point) && strlen(m.point) >= best) {
            best = strlen(m.point);
            *out = m;
        }
    }
    free(line);
    fclose(in);
    return best > 0;
}
