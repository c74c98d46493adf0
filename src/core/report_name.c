/* From BRIO_REPORT to a new file. */
#define _GNU_SOURCE
#include "core/report_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum {
    NAME = 4096,
    MOST = 100000 /* reports of one name */
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static BRIO_ERR append(char out[NAME], const char *text, size_t len)
{
    size_t n = strlen(out);
    if (n + len >= NAME)
        return brio_fail(BRIO_EARG, "the name in BRIO_REPORT is too long");
    memcpy(out + n, text, len);
    out[n + len] = '\0';
    return BRIO_OK;
}

static BRIO_ERR expand(const char *word, const char *path, char out[NAME])
{
    char host[65] = "", pid[16];
    enum brio_err err = BRIO_OK;
    if (gethostname(host, sizeof host - 1))
        strcpy(host, "host");
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    out[0] = '\0';
    for (const char *at = word; *at && !err; at++) {
        const char *text = *at != '%'     ? NULL
                           : at[1] == 'f' ? base_of(path)
                           : at[1] == 'h' ? host
                           : at[1] == 'p' ? pid
                           : at[1] == '%' ? "%"
                                          : NULL;
        if (text) {
            err = append(out, text, strlen(text));
            at++;
        } else {
            err = append(out, at, 1);
        }
    }
    return err;
}

/* The pattern within a directory that tells files, jobs and machines apart. */
static BRIO_ERR complete(const char *word, char out[NAME])
{
    struct stat st;
    size_t n = strlen(word);
    bool slash = n > 0 && word[n - 1] == '/';
    if (slash && mkdir(word, 0777) && errno != EEXIST)
        return brio_fail_errno(errno, "mkdir of %s", word);
    out[0] = '\0';
    enum brio_err err = append(out, word, n);
    if (!err && (slash || (stat(word, &st) == 0 && S_ISDIR(st.st_mode)))) {
        const char *rest = slash ? "%f.%h.%p.json" : "/%f.%h.%p.json";
        err = append(out, rest, strlen(rest));
    }
    return err;
}

/* A name with a number before its ending, if it has one. */
static BRIO_ERR numbered(const char *name, int number, char **out)
{
    const char *dot = strrchr(base_of(name), '.');
    int stem = dot ? (int)(dot - name) : (int)strlen(name);
    int got = number == 0 ? asprintf(out, "%s", name)
                          : asprintf(out, "%.*s.%d%s", stem, name, number, dot ? dot : "");
    return got < 0 ? brio_fail(BRIO_ENOMEM, "no memory for a name") : BRIO_OK;
}

BRIO_ERR brio_report_create(const char *word, const char *path, char **name, FILE **out)
{
    char pattern[NAME], first[NAME];
    enum brio_err err = complete(word, pattern);
    if (!err)
        err = expand(pattern, path, first);
    for (int i = 0; !err && i < MOST; i++) {
        char *one;
        err = numbered(first, i, &one);
        if (err)
            break;
        int fd = open(one, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 && (*out = fdopen(fd, "w"))) {
            *name = one;
            return BRIO_OK;
        }
        if (fd >= 0)
            close(fd);
        if (fd >= 0 || errno != EEXIST)
            err = brio_fail_errno(errno, "open of %s", one);
        free(one);
    }
    return err ? err : brio_fail(BRIO_EEXIST, "%s and %d more are there already", first, MOST);
}
