/* Serves every file. A file that is only written is watched, and written behind once its own
 * small writes have turned out to be costly; a later one in the same directory, from its first
 * write on. Any other file is left alone, for keeping its data near could be noticed. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cache/behind.h"
#include "cache/watch.h"

/* Where keeping back has paid last, in this process. */
static struct {
    pthread_mutex_t lock;
    bool known;
    char dir[1024];
} learned = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool name_dir(const char *path, char dir[sizeof learned.dir])
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    int n = slash ? (int)(slash - path) + 1 : 0;
    return path && snprintf(dir, sizeof learned.dir, "%.*s", n, path) < (int)sizeof learned.dir;
}

static void learn(const char *dir)
{
    pthread_mutex_lock(&learned.lock);
    learned.known = true;
    snprintf(learned.dir, sizeof learned.dir, "%s", dir);
    pthread_mutex_unlock(&learned.lock);
}

static bool has_paid(const char *path)
{
    char dir[sizeof learned.dir];
    if (!name_dir(path, dir))
        return false;
    pthread_mutex_lock(&learned.lock);
    bool paid = learned.known && strcmp(learned.dir, dir) == 0;
    pthread_mutex_unlock(&learned.lock);
    return paid;
}

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    char why[BRIO_WHY];
    if (brio_behind_query(facts, 6) >= 0)
        return brio_answer(6, "writes behind once %d small writes took over %d us each",
                           BRIO_WATCH_WRITES, BRIO_WATCH_COSTLY / 1000);
    brio_answer_take(why);
    return brio_answer(6, "left alone: %s", why);
}

/* The file may be one that cannot be written behind: then the lane stays as it is. */
static BRIO_ERR open_auto(const struct brio_cache_env *env, const struct brio_lane *below,
                          const void *conf, struct brio_lane *out)
{
    *out = *below;
    if (!(env->amode & MPI_MODE_WRONLY))
        return BRIO_OK;
    enum brio_err err = brio_behind_open(
        env, below, conf, has_paid(env->path) ? "it paid for the last file here" : NULL, out);
    return err == BRIO_EUNSUPOP ? BRIO_OK : err;
}

static BRIO_ERR close_auto(struct brio_lane *lane)
{
    char words[8], dir[sizeof learned.dir];
    bool found;
    if (!brio_behind_is(lane))
        return BRIO_OK;
    if (brio_behind_tell(lane, words, sizeof words, &found) && found &&
        name_dir(brio_behind_path(lane), dir))
        learn(dir);
    return brio_behind_close(lane);
}

static BRIO_ERR size_auto(const struct brio_lane *lane, brio_off *size)
{
    return brio_behind_is(lane) ? brio_behind_size(lane, size) : BRIO_OK;
}

static BRIO_ERR settle(const struct brio_lane *lane, const struct brio_io *io)
{
    return brio_behind_is(lane) ? brio_behind_settle(lane, io) : BRIO_OK;
}

static struct brio_lane collective(const struct brio_lane *lane)
{
    return brio_behind_is(lane) ? brio_behind_collective(lane) : *lane;
}

static void tell(const struct brio_lane *lane, char *out, size_t size)
{
    if (brio_behind_is(lane))
        (void)brio_behind_tell(lane, out, size, NULL);
    else
        snprintf(out, size,
                 "left alone: only a file that is opened write-only can be written "
                 "behind, by ranks that share memory or may use threads");
}

const struct brio_cache brio_cache_auto = {
    .base = {.name = "auto",
             .about = "writes behind where the file's own small writes turn out to be costly",
             .hints = brio_cache_hints,
             .conf_size = sizeof(struct brio_cache_conf),
             .query = query},
    .atomic = brio_cache_plain_atomic,
    .open = open_auto,
    .close = close_auto,
    .size = size_auto,
    .resized = brio_cache_plain_resized,
    .settle = settle,
    .collective = collective,
    .tell = tell,
};
