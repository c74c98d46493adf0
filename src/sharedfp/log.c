/* One rank's log, in memory and spilled. */
#include "sharedfp/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "sharedfp/bounded.h"
#include "type/pack.h"

enum {
    MOST_ENTRIES = 16384,  /* in memory; then they are spilled, too */
    PART_BYTES = 16 << 20, /* moved to the user's file at a time, */
    PART_PIECES = 1 << 16, /* in at most so many pieces */
    LONG_PIECE = 1 << 20,
    PART_ENOUGH = 4 << 20, /* room to read parts into: less costs too many accesses */
    LOCK_SECONDS = 2       /* for the answer to a lock */
};

void brio_log_init(struct brio_log *log)
{
    *log = (struct brio_log){.meta_fd = -1, .data_fd = -1};
}

void brio_log_free(struct brio_log *log)
{
    if (log->meta_fd >= 0)
        close(log->meta_fd);
    if (log->data_fd >= 0)
        close(log->data_fd);
    brio_map_unref(log->map);
    free(log->path);
    free(log->meta_name);
    free(log->data_name);
    free(log->entries);
    brio_room_free(&log->room);
    brio_log_init(log);
}

/* A hybrid logical clock: never back, and later than whatever was seen from other ranks. */
static int64_t tick(struct brio_log *log)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    log->clock = now > log->clock ? now : log->clock + 1;
    return log->clock;
}

/* A shared lock for as long as the rank lives tells `brio merge' to keep away; where there are
 * no locks, or no answer, the user must know. */
static BRIO_ERR make_file(const char *name, int *out)
{
    const int how = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
    int fd = open(name, how | O_CREAT | O_EXCL, 0600);
    if (fd >= 0 && brio_lock_within(LOCK_SECONDS, fd, F_RDLCK, 0, 1) == ETIMEDOUT)
        fd = open(name, how); /* the first is lost */
    if (fd < 0)
        return brio_fail_errno(errno, "open of %s", name);
    *out = fd;
    return BRIO_OK;
}

static BRIO_ERR put_head(struct brio_log *log)
{
    struct stat st;
    log->head.size = stat(log->path, &st) == 0 ? (int64_t)st.st_size : 0;
    return brio_log_put_head(log->meta_fd, log->head, log->map);
}

static BRIO_ERR need_files(struct brio_log *log)
{
    if (log->meta_fd >= 0)
        return BRIO_OK;
    enum brio_err err = BRIO_OK;
    if (log->data_fd < 0)
        err = make_file(log->data_name, &log->data_fd);
    if (!err)
        err = make_file(log->meta_name, &log->meta_fd);
    if (!err)
        err = put_head(log);
    return err;
}

/* Both are there, and speak of the view and the pointer as they are now. */
static BRIO_ERR need_head(struct brio_log *log)
{
    enum brio_err err = need_files(log);
    if (!err && log->spilled_n == 0)
        err = put_head(log);
    return err;
}

/* Behind those that are spilled. */
static BRIO_ERR put_entries(const struct brio_log *log, struct brio_log_entry *entries,
                            size_t n)
{
    brio_off at = brio_log_head_size(&log->head) + (brio_off)(log->spilled_n * sizeof *entries);
    return brio_log_put_entries(log->meta_fd, at, entries, n);
}

BRIO_ERR brio_log_spill(struct brio_log *log)
{
    enum brio_err err = need_head(log);
    if (!err)
        err = brio_log_write(log->data_fd, log->room.mem, log->used, log->spilled);
    /* The data first: an entry never speaks of what is not there. */
    if (!err)
        err = put_entries(log, log->entries, log->n);
    if (err)
        return err;
    log->spilled += (brio_off)log->used;
    log->spilled_n += log->n;
    log->used = log->n = 0;
    return BRIO_OK;
}

BRIO_ERR brio_log_announce(struct brio_log *log)
{
    struct brio_log_entry *entries = NULL;
    enum brio_err err = brio_calloc(log->n + 1, sizeof *entries, (void **)&entries);
    if (!err)
        err = need_head(log);
    for (size_t i = 0; i < log->n && !err; i++) {
        entries[i] = log->entries[i];
        if (entries[i].at >= log->spilled)
            entries[i].at = BRIO_LOG_NOWHERE;
    }
    if (!err) {
        entries[log->n] = (struct brio_log_entry){.id = log->next_id,
                                                  .time = tick(log),
                                                  .at = BRIO_LOG_NOWHERE,
                                                  .epoch = log->head.epoch};
        err = put_entries(log, entries, log->n + 1);
    }
    free(entries);
    return err;
}

static BRIO_ERR need_entry(struct brio_log *log)
{
    if (log->n < log->entry_room)
        return BRIO_OK;
    size_t room = log->entry_room ? 2 * log->entry_room : 256;
    struct brio_log_entry *more = realloc(log->entries, room * sizeof *more);
    if (!more)
        return brio_fail(BRIO_ENOMEM, "%zu records that wait to be merged", room);
    log->entries = more;
    log->entry_room = room;
    return BRIO_OK;
}

/* A record that is longer than what is kept in memory goes to the side file at once. */
static BRIO_ERR append_long(struct brio_log *log, const struct brio_map *mem, const void *buf,
                            brio_off bytes)
{
    enum brio_err err = need_files(log);
    if (!err)
        err = brio_room_need(&log->room, log->limit);
    for (brio_off done = 0; done < bytes && !err;) {
        brio_off n = brio_min(bytes - done, (brio_off)log->limit);
        brio_pack(log->room.mem, mem, buf, done, n);
        err = brio_log_write(log->data_fd, log->room.mem, (size_t)n, log->spilled + done);
        done += n;
    }
    return err;
}

BRIO_ERR brio_log_append(struct brio_log *log, const struct brio_map *mem, const void *buf,
                         brio_off bytes)
{
    enum brio_err err = BRIO_OK;
    bool fits = bytes <= (brio_off)log->limit;
    if (bytes == 0)
        return BRIO_OK;
    if (log->n == MOST_ENTRIES || (brio_off)(log->limit - log->used) < bytes)
        err = brio_log_spill(log);
    if (!err)
        err = need_entry(log);
    if (!err)
        err = fits ? brio_room_need(&log->room, log->used + (size_t)bytes)
                   : append_long(log, mem, buf, bytes);
    if (err)
        return err;
    log->entries[log->n++] = (struct brio_log_entry){
        .id = log->next_id++,
        .time = tick(log),
        .at = log->spilled + (brio_off)log->used,
        .bytes = bytes,
        .epoch = log->head.epoch,
    };
    if (fits) {
        brio_pack(log->room.mem + log->used, mem, buf, 0, bytes);
        log->used += (size_t)bytes;
    } else {
        log->spilled += bytes;
    }
    return BRIO_OK;
}

BRIO_ERR brio_log_drop(struct brio_log *log, bool make)
{
    bool there = log->meta_fd >= 0;
    log->n = log->used = log->spilled_n = 0;
    log->spilled = 0;
    if (make && !there)
        return need_files(log);
    return there ? put_head(log) : BRIO_OK;
}

BRIO_ERR brio_log_cut(struct brio_log *log)
{
    if (log->data_fd >= 0 && ftruncate(log->data_fd, 0) != 0)
        return brio_fail_errno(errno, "ftruncate of %s", log->data_name);
    return BRIO_OK;
}

/* Stamps of what is in the side file, as it was written there. */
static BRIO_ERR read_stamps(const struct brio_log *log, struct brio_stamp *out)
{
    struct brio_log_entry *entries;
    const char *bad;
    size_t n;
    enum brio_err err = brio_log_get_entries(log->meta_fd, brio_log_head_size(&log->head),
                                             log->spilled_n, &entries, &n, &bad);
    if (err)
        return err;
    if (n != log->spilled_n)
        err = brio_fail(BRIO_EIO, "%s: entry %zu is %s", log->meta_name, n,
                        bad ? bad : "missing");
    for (size_t i = 0; i < n; i++)
        out[i] = (struct brio_stamp){.time = entries[i].time, .bytes = entries[i].bytes};
    free(entries);
    return err;
}

void brio_log_walk_close(struct brio_log_walk *walk)
{
    free(walk->stamps);
    free(walk->place);
    brio_room_free(&walk->own);
    free(walk->at);
    free(walk->len);
    *walk = (struct brio_log_walk){.n = 0};
}

/* What is read back goes behind what is in memory, if there is enough room: memory that was
 * used before costs nothing, and fresh memory more than the reading. */
static BRIO_ERR need_buffer(const struct brio_log *log, struct brio_log_walk *w)
{
    const brio_off want = brio_min(PART_BYTES, log->spilled);
    const brio_off rest = (brio_off)(log->room.bytes - log->used);
    enum brio_err err = BRIO_OK;
    if (rest >= brio_min(want, PART_ENOUGH)) {
        w->buf = log->room.mem + log->used;
        w->most = brio_min(want, rest);
    } else {
        err = brio_room_need(&w->own, (size_t)want);
        w->buf = w->own.mem;
        w->most = want;
    }
    return err;
}

BRIO_ERR brio_log_walk(const struct brio_log *log, struct brio_log_walk *out)
{
    struct brio_log_walk w = {.n = log->spilled_n + log->n};
    size_t pieces = w.n + 1 < PART_PIECES ? w.n + 1 : PART_PIECES;
    enum brio_err err = brio_calloc(w.n, sizeof *w.stamps, (void **)&w.stamps);
    if (!err)
        err = brio_calloc(w.n, sizeof *w.place, (void **)&w.place);
    if (!err)
        err = brio_calloc(pieces, sizeof *w.at, (void **)&w.at);
    if (!err)
        err = brio_calloc(pieces, sizeof *w.len, (void **)&w.len);
    if (!err)
        err = need_buffer(log, &w);
    if (!err && log->spilled_n > 0)
        err = read_stamps(log, w.stamps);
    if (err) {
        brio_log_walk_close(&w);
        return err;
    }
    for (size_t i = 0; i < log->n; i++)
        w.stamps[log->spilled_n + i] =
            (struct brio_stamp){.time = log->entries[i].time, .bytes = log->entries[i].bytes};
    *out = w;
    return BRIO_OK;
}

/* How much the next part may have. */
static brio_off most_of(const struct brio_log *log, const struct brio_log_walk *w)
{
    return w->stream < log->spilled ? w->most : PART_BYTES;
}

/* Goes on to `bound`, or as far as a part may; tells where that is, and with `keep` notes the
 * pieces. */
static brio_off step(const struct brio_log *log, struct brio_log_walk *w, brio_off bound,
                     bool keep, struct brio_log_part *out)
{
    const brio_off most = most_of(log, w);
    brio_off bytes = 0, end = -1;
    size_t n = 0;
    while (w->i < w->n && bytes < most) {
        const brio_off at = w->place[w->i] + w->into;
        brio_off len = brio_min(w->stamps[w->i].bytes - w->into, most - bytes);
        len = brio_min(len, bound - at);
        if (len <= 0 || (at != end && n == PART_PIECES))
            break;
        if (at != end) {
            n++;
            if (keep)
                w->at[n - 1] = at, w->len[n - 1] = 0;
        }
        if (keep)
            w->len[n - 1] += len;
        end = at + len;
        bytes += len;
        w->into += len;
        if (w->into == w->stamps[w->i].bytes) {
            w->i++;
            w->into = 0;
        }
    }
    w->stream += bytes;
    *out = (struct brio_log_part){.bytes = bytes, .n = n, .at = w->at, .len = w->len};
    return end;
}

brio_off brio_log_reach(const struct brio_log *log, const struct brio_log_walk *walk)
{
    struct brio_log_walk w = *walk;
    struct brio_log_part part;
    const brio_off end = step(log, &w, BRIO_OFF_MAX, false, &part);
    return w.i < w.n ? end : BRIO_OFF_MAX;
}

/* Whether the next part has pieces that are long enough to be written by one rank at any time,
 * beside the others'. */
static bool stands_alone(const struct brio_log *log, const struct brio_log_walk *walk)
{
    struct brio_log_walk w = *walk;
    struct brio_log_part part;
    step(log, &w, BRIO_OFF_MAX, false, &part);
    return part.bytes / LONG_PIECE >= (brio_off)part.n;
}

/* What the bytes of the log from `from` on are. A part may begin in the side file and end in
 * memory. */
static BRIO_ERR fetch(const struct brio_log *log, char *buf, brio_off from, brio_off bytes,
                      const void **out)
{
    const brio_off there = brio_min(bytes, log->spilled - from);
    if (there <= 0) {
        *out = bytes > 0 ? log->room.mem + (from - log->spilled) : NULL;
        return BRIO_OK;
    }
    if (bytes > there)
        memcpy(buf + there, log->room.mem, (size_t)(bytes - there));
    *out = buf;
    return brio_log_read(log->data_fd, buf, (size_t)there, from);
}

BRIO_ERR brio_log_next(const struct brio_log *log, struct brio_log_walk *walk, brio_off bound,
                       struct brio_log_part *out)
{
    const brio_off from = walk->stream;
    struct brio_log_part part;
    if (stands_alone(log, walk))
        bound = BRIO_OFF_MAX;
    step(log, walk, bound, true, &part);
    enum brio_err err = fetch(log, walk->buf, from, part.bytes, &part.data);
    if (!err)
        *out = part;
    return err;
}
