/* Lines "k_write k_read when [ring=COLD/WARM] type source point", one for each mount. */
#include "fs/calibration.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char site_file[] = BRIO_SYSCONFDIR "/brio.calibration";

bool brio_calibration_file(bool site, char *out, size_t size)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n;
    if (site)
        n = snprintf(out, size, "%s", site_file);
    else if (state && *state == '/')
        n = snprintf(out, size, "%s/brio/calibration", state);
    else if (home && *home == '/')
        n = snprintf(out, size, "%s/.local/state/brio/calibration", home);
    else
        return false;
    return n > 0 && (size_t)n < size;
}

/* A line's numbers, and where its mount is named; false if it is none of ours. */
static bool read_line(char *line, struct brio_calibration *out, char **key)
{
    long long k_write, k_read, when;
    int at = 0, more = 0, cold = 0, warm = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%lld %lld %lld %n", &k_write, &k_read, &when, &at) != 3 || at == 0 ||
        k_write < 0 || k_read < 0)
        return false;
    if (sscanf(line + at, "ring=%d/%d %n", &cold, &warm, &more) != 2 || more == 0)
        cold = warm = more = 0;
    *out = (struct brio_calibration){k_write, k_read, when, cold, warm};
    *key = line + at + more;
    return true;
}

static void write_line(FILE *out, const struct brio_calibration *c, const char *key)
{
    fprintf(out, "%lld %lld %lld ", (long long)c->k_write, (long long)c->k_read, c->when);
    if (c->ring_cold > 0)
        fprintf(out, "ring=%d/%d ", c->ring_cold, c->ring_warm);
    fprintf(out, "%s\n", key);
}

bool brio_calibration_read(const char *file, const struct brio_mount *mount,
                           struct brio_calibration *out)
{
    FILE *in = fopen(file, "re");
    char *line = NULL, *key;
    size_t room = 0;
    bool found = false;
    struct brio_calibration c;
    while (in && !found && getline(&line, &room, in) > 0) {
        if (read_line(line, &c, &key) && strcmp(key, mount->key) == 0) {
            *out = c;
            found = true;
        }
    }
    free(line);
    if (in)
        fclose(in);
    return found;
}

/* ---- Writing ---------------------------------------------------------------------------- */

/* Every directory on the way. */
static void make_way(const char *file)
{
    char dir[4096];
    snprintf(dir, sizeof dir, "%s", file);
    for (char *slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(dir, 0755); /* the open tells if it is not there */
        *slash = '/';
    }
}

static void copy_others(const char *file, const struct brio_mount *mount, FILE *out)
{
    FILE *in = fopen(file, "re");
    char *line = NULL, *key;
    size_t room = 0;
    struct brio_calibration c;
    while (in && getline(&line, &room, in) > 0)
        if (read_line(line, &c, &key) && strcmp(key, mount->key) != 0)
            write_line(out, &c, key);
    free(line);
    if (in)
        fclose(in);
}

BRIO_ERR brio_calibration_write(const char *file, const struct brio_mount *mount,
                                const struct brio_calibration *c)
{
    char next[4096];
    make_way(file);
    snprintf(next, sizeof next, "%s.%d", file, (int)getpid());
    FILE *out = fopen(next, "we");
    if (!out)
        return brio_fail_errno(errno, "open of %s", next);
    copy_others(file, mount, out);
    write_line(out, c, mount->key);
    bool bad = fflush(out) || fsync(fileno(out));
    if (fclose(out) || bad || rename(next, file)) {
        enum brio_err err = brio_fail_errno(errno, "write of %s", file);
        unlink(next);
        return err;
    }
    return BRIO_OK;
}

/* ---- At the open of a file --------------------------------------------------------------- */

static bool read_any(const struct brio_mount *mount, struct brio_calibration *out)
{
    for (int site = 0; site < 2; site++) {
        char file[4096];
        if (brio_calibration_file(site, file, sizeof file) &&
            brio_calibration_read(file, mount, out))
            return true;
    }
    return false;
}

static bool has_any(void)
{
    for (int site = 0; site < 2; site++) {
        char file[4096];
        if (brio_calibration_file(site, file, sizeof file) && access(file, R_OK) == 0)
            return true;
    }
    return false;
}

void brio_calibration_lookup(const char *path, struct brio_facts *facts)
{
    enum {
        KEPT = 16
    };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        char key[BRIO_MOUNT_KEY];
        struct brio_calibration c;
    } kept[KEPT];
    static int nkept = -1; /* not asked yet */
    struct brio_mount mount;
    struct brio_calibration c = {.k_write = 0};
    pthread_mutex_lock(&lock);
    if (nkept < 0)
        nkept = has_any() ? 0 : KEPT + 1;
    if (nkept <= KEPT && brio_mount_of(path, &mount)) {
        int i = 0;
        while (i < nkept && strcmp(kept[i].key, mount.key) != 0)
            i++;
        if (i < nkept) {
            c = kept[i].c;
        } else {
            (void)read_any(&mount, &c);
            if (nkept < KEPT) {
                strcpy(kept[nkept].key, mount.key);
                kept[nkept++].c = c;
            }
        }
    }
    pthread_mutex_unlock(&lock);
    facts->k_write = c.k_write;
    facts->k_read = c.k_read;
    facts->ring_cold = c.ring_cold;
    facts->ring_warm = c.ring_warm;
}
