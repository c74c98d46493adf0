/* A part begins with a line of ours, then its head, and ends where the next part or head
 * begins. */
#include "cli/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

static const char ours[] = "# brio tune";

char *brio_profile_path(void)
{
    const char *set = getenv("BRIO_PROFILE"), *dir = getenv("XDG_CONFIG_HOME"),
               *home = getenv("HOME");
    if (set)
        return *set ? brio_copy(set) : NULL;
    if (dir && dir[0] == '/')
        return brio_text("%s/brio/profile", dir);
    return home && home[0] == '/' ? brio_text("%s/.config/brio/profile", home) : NULL;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

static bool begins_part(const char *line)
{
    return strncmp(line, ours, sizeof ours - 1) == 0;
}

/* The end of our part of this head that begins here; NULL if none does. */
static const char *end_of_part(const char *line, const char *head)
{
    const char *second = next_line(line);
    size_t n = strlen(head);
    if (!begins_part(line) || strncmp(second, head, n) != 0 ||
        (second[n] != '\n' && second[n] != '\0'))
        return NULL;
    for (line = next_line(second); *line && *line != '[' && *line != '#';)
        line = next_line(line);
    return line;
}

char *brio_profile_put(const char *text, const struct brio_profile_part *part)
{
    char *kept = calloc(1, strlen(text) + 1), *to = kept;
    if (!kept) {
        brio_say("out of memory");
        exit(1);
    }
    for (const char *line = text; *line;) {
        const char *end = end_of_part(line, part->head), *next = next_line(line);
        if (!end) {
            memcpy(to, line, (size_t)(next - line));
            to += next - line;
        }
        line = end ? end : next;
    }
    while (to > kept && to[-1] == '\n')
        to--;
    *to = '\0';
    char *all = brio_text("%s%s%s, %s\n%s\n%s", kept, *kept ? "\n\n" : "", ours, part->note,
                          part->head, part->settings);
    free(kept);
    return all;
}

static char *load(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *in = fopen(path, "re");
    if (!in)
        return errno == ENOENT ? brio_copy("") : NULL;
    if (getdelim(&text, &room, '\0', in) < 0) {
        free(text);
        text = ferror(in) ? NULL : brio_copy("");
    }
    fclose(in);
    return text;
}

/* The directories above the file. */
static bool make_dirs(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

static bool store(const char *path, const char *text)
{
    char *fresh = brio_text("%s.XXXXXX", path);
    int fd = mkostemp(fresh, O_CLOEXEC);
    size_t n = strlen(text);
    bool good = fd >= 0 && fchmod(fd, 0644) == 0 && write(fd, text, n) == (ssize_t)n &&
                fsync(fd) == 0 && rename(fresh, path) == 0;
    int err = errno;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && !good)
        unlink(fresh);
    free(fresh);
    errno = err;
    return good;
}

bool brio_profile_save(const char *path, const struct brio_profile_part *part)
{
    char *where = brio_copy(path);
    bool good = make_dirs(where);
    free(where);
    char *old = good ? load(path) : NULL;
    if (!old)
        return false;
    char *text = brio_profile_put(old, part);
    good = store(path, text);
    free(old);
    free(text);
    return good;
}
