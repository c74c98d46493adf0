/* brio merge: finishes the side files that a killed job of sharedfp/individual left beside a
 * file (sharedfp/logfile.h). Needs no MPI and no library. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "sharedfp/logfile.h"
#include "sharedfp/order.h"

const char brio_help_merge[] =
    "brio merge [--force] FILE...\n"
    "\n"
    "A program that writes with the shared file pointer and the module `individual' keeps\n"
    "records in side files until its ranks come together. If it was killed before, this\n"
    "lays the records that are in the side files into FILE, in the order of their times, and\n"
    "removes the side files. What the program had synced is in FILE already and stays as it\n"
    "is. Running it twice is harmless. Side files of a job that still runs are left alone\n"
    "(--force: also where that cannot be told, for want of locks). If others have written "
    "FILE\n"
    "since the job was killed, and there is data where its records go, nothing is done\n"
    "(--force: the records replace it). Zeros are data, holes are not; only if the job was\n"
    "killed while it merged, zeros are what it had not come to. What is damaged is renamed to "
    "*.damaged and never\n"
    "guessed at. In all these cases the exit code is 1.\n";

/* The side files of one rank. */
struct side {
    char *tag, *meta, *data;
    long rank;
    int meta_fd, data_fd;
    struct brio_log_head head;
    struct brio_map *map;
    struct brio_log_entry *entries;
    size_t n;
    brio_off *at;
    enum fate {
        MERGE,   /* its records go into the file */
        FORGET,  /* they are there, or there are none */
        PARTLY,  /* some are damaged: those before go into the file */
        DAMAGED, /* nothing is to be had from it */
    } fate;
};

struct sides {
    struct side *side;
    size_t n;
};

enum {
    TAG = 32,
    CHUNK = 1 << 20
};

static const char mark[] = ".brio-meta";

/* ".NAME.brio-metaRANK-TAG" */
static bool parse(const char *name, const char *base, long *rank, const char **tag)
{
    size_t n = strlen(base);
    if (name[0] != '.' || strncmp(name + 1, base, n) != 0 ||
        strncmp(name + 1 + n, mark, sizeof mark - 1) != 0)
        return false;
    const char *digits = name + n + sizeof mark;
    char *end;
    if (*digits < '0' || *digits > '9')
        return false;
    *rank = strtol(digits, &end, 10);
    *tag = end + 1;
    return *end == '-' && strlen(*tag) == TAG && strspn(*tag, "0123456789abcdef") == TAG;
}

static void add(struct sides *all, const char *dir, const char *base, const char *tag,
                long rank)
{
    struct side *more = realloc(all->side, (all->n + 1) * sizeof *more);
    if (!more) {
        brio_say("out of memory");
        exit(1);
    }
    all->side = more;
    all->side[all->n++] = (struct side){
        .tag = brio_copy(tag),
        .rank = rank,
        .meta = brio_text("%s/.%s.brio-meta%ld-%s", dir, base, rank, tag),
        .data = brio_text("%s/.%s.brio-data%ld-%s", dir, base, rank, tag),
        .meta_fd = -1,
        .data_fd = -1,
    };
}

static int by_tag_and_rank(const void *a, const void *b)
{
    const struct side *x = a, *y = b;
    int tags = strcmp(x->tag, y->tag);
    return tags ? tags : (x->rank > y->rank) - (x->rank < y->rank);
}

static struct sides find_sides(const char *path)
{
    struct sides all = {.n = 0};
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    char *dir = slash ? brio_text("%.*s", (int)(slash - path), path) : brio_copy(".");
    DIR *d = opendir(*dir ? dir : "/");
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        long rank;
        const char *tag;
        if (parse(e->d_name, base, &rank, &tag))
            add(&all, dir, base, tag, rank);
    }
    if (d)
        closedir(d);
    free(dir);
    if (all.n)
        qsort(all.side, all.n, sizeof *all.side, by_tag_and_rank);
    return all;
}

static void free_sides(struct sides *all)
{
    for (size_t i = 0; i < all->n; i++) {
        struct side *s = &all->side[i];
        if (s->meta_fd >= 0)
            close(s->meta_fd);
        if (s->data_fd >= 0)
            close(s->data_fd);
        brio_map_unref(s->map);
        free(s->entries);
        free(s->at);
        free(s->tag);
        free(s->meta);
        free(s->data);
    }
    free(all->side);
}

/* Opens a rank's files, alone; false if its job still runs, or may. */
static bool seize(struct side *s, bool force)
{
    struct flock alone = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    s->meta_fd = open(s->meta, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    s->data_fd = open(s->data, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (s->meta_fd < 0) {
        brio_say("%s: %s", s->meta, strerror(errno));
        return false;
    }
    if (fcntl(s->meta_fd, F_OFD_SETLK, &alone) == 0 || force)
        return true;
    if (errno == EAGAIN || errno == EACCES)
        brio_say("%s: the job that writes it still runs", s->meta);
    else
        brio_say("%s: without locks it cannot be told whether its job still runs; if you know "
                 "that it does not, use --force",
                 s->meta);
    return false;
}

/* Keeps those entries that are of this epoch and whose data is there. */
static const char *check_entries(struct side *s)
{
    struct stat st;
    brio_off have = s->data_fd >= 0 && fstat(s->data_fd, &st) == 0 ? (brio_off)st.st_size : 0;
    brio_off at = 0;
    size_t n = 0;
    while (n < s->n && s->entries[n].epoch == s->head.epoch) {
        const struct brio_log_entry *e = &s->entries[n];
        bool here = e->at != BRIO_LOG_NOWHERE;
        if ((here && (e->at != at || e->at + e->bytes > have)) ||
            (n > 0 && e->time <= s->entries[n - 1].time)) {
            s->n = n;
            return e->at + e->bytes > have ? "without its data" : "out of order";
        }
        at += here ? e->bytes : 0;
        n++;
    }
    bool stale = n < s->n && s->entries[n].epoch < s->head.epoch;
    const char *bad = n < s->n && !stale ? "of a later time" : NULL;
    s->n = n;
    return bad;
}

/* Reads what a rank has; says what is wrong with it. */
static void load(struct side *s)
{
    const char *bad = NULL, *wrong;
    enum brio_err err = brio_log_get_head(s->meta_fd, &s->head, &s->map);
    s->fate = FORGET;
    if (err == BRIO_ENOENT)
        return;
    if (!err && (long)s->head.rank != s->rank)
        err = brio_fail(BRIO_EIO, "the header is another rank's");
    if (!err)
        err = brio_log_get_entries(s->meta_fd, brio_log_head_size(&s->head), SIZE_MAX,
                                   &s->entries, &s->n, &bad);
    if (err) {
        brio_say("%s: %s", s->meta, brio_err_text());
        s->fate = DAMAGED;
        return;
    }
    wrong = check_entries(s);
    if (!wrong && bad && strcmp(bad, "cut off") == 0)
        brio_say("%s: the last record was never finished, and is left out", s->meta);
    else if (!wrong)
        wrong = bad;
    s->fate = s->n > 0 ? MERGE : FORGET;
    if (wrong) {
        brio_say("%s: record %zu is %s; it and those behind it are set aside", s->meta, s->n,
                 wrong);
        s->fate = s->n > 0 ? PARTLY : DAMAGED;
    }
}

static bool goes_in(const struct side *s)
{
    return s->fate == MERGE || s->fate == PARTLY;
}

/* Records of an epoch before rank 0's are in the file. All others must agree on where to
 * begin. */
static bool compare(struct side *side, size_t n)
{
    bool any = false, known = side[0].rank == 0 && side[0].map;
    int64_t epoch = known ? side[0].head.epoch : 0, start = 0;
    for (size_t i = 0; i < n; i++) {
        if (!goes_in(&side[i]))
            continue;
        if (side[0].rank == 0 && side[0].fate == DAMAGED && !known) {
            brio_say("without rank 0's it cannot be told whether %s is merged already; all is "
                     "left as it is",
                     side[i].meta);
            return false;
        }
        if (side[i].head.epoch < epoch) {
            side[i].fate = FORGET;
            continue;
        }
        if ((any && side[i].head.start != start) ||
            ((any || known) && side[i].head.epoch != epoch)) {
            brio_say("%s: does not fit those of the other ranks", side[i].meta);
            return false;
        }
        any = true;
        epoch = side[i].head.epoch;
        start = side[i].head.start;
    }
    return true;
}

/* What is merged, and what was lost with the job's memory while it merged. */
struct sum {
    size_t records, lost;
    brio_off bytes;
};

static struct sum add_up(const struct side *side, size_t n)
{
    struct sum sum = {.records = 0};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; goes_in(&side[i]) && k < side[i].n; k++) {
            bool here = side[i].entries[k].at != BRIO_LOG_NOWHERE;
            sum.records += here;
            sum.lost += !here && side[i].entries[k].bytes > 0;
            sum.bytes += here ? side[i].entries[k].bytes : 0;
        }
    return sum;
}

/* Places for the records of all ranks of a job. */
static enum brio_err place(struct side *side, size_t n)
{
    struct brio_order_list *lists = calloc(n, sizeof *lists);
    brio_off start = 0, end = 0;
    enum brio_err err = BRIO_OK;
    if (!lists)
        return brio_fail(BRIO_ENOMEM, "out of memory");
    for (size_t i = 0; i < n && !err; i++) {
        if (!goes_in(&side[i]))
            continue;
        struct brio_stamp *stamps = calloc(side[i].n, sizeof *stamps);
        side[i].at = calloc(side[i].n, sizeof *side[i].at);
        lists[i] = (struct brio_order_list){.stamps = stamps, .n = side[i].n, .at = side[i].at};
        start = side[i].head.start;
        if (!stamps || !side[i].at)
            err = brio_fail(BRIO_ENOMEM, "out of memory");
        for (size_t k = 0; k < side[i].n && !err; k++)
            stamps[k] = (struct brio_stamp){side[i].entries[k].time, side[i].entries[k].bytes};
    }
    if (!err)
        err = brio_order(n, lists, start, &end);
    for (size_t i = 0; i < n; i++)
        free((void *)lists[i].stamps);
    free(lists);
    return err;
}

/* Where records go, or, with `look`, are to go: nothing is written then. */
struct target {
    int fd;
    bool look;
    bool zeros;         /* are data, too, */
    brio_off end, rest; /* but from the job's end of the file to that of the block */
};

static bool is_data(const struct target *to, char byte, brio_off off)
{
    return byte != 0 || (to->zeros && (off < to->end || off >= to->rest));
}

/* That nobody's data is at `off` of the file: nothing, or what goes there already. */
static enum brio_err compare_to(const struct target *to, const char *data, brio_off len,
                                brio_off off)
{
    static char there[CHUNK];
    for (brio_off done = 0; done < len;) {
        ssize_t n = pread(to->fd, there, (size_t)(len - done), off + done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return brio_fail_errno(errno, "pread");
        if (n == 0)
            break;
        for (ssize_t k = 0; k < n; k++)
            if (there[k] != data[done + k] && is_data(to, there[k], off + done + k))
                return brio_fail(BRIO_EIO, "it has other data at byte %lld",
                                 (long long)(off + done + k));
        done += n;
    }
    return BRIO_OK;
}

/* The same; where the file has holes, nobody wrote. Some file systems do not tell. */
static enum brio_err look_at(const struct target *to, const char *data, brio_off len,
                             brio_off off)
{
    const brio_off end = off + len;
    enum brio_err err = BRIO_OK;
    for (brio_off at = off, until; at < end && !err; at = until) {
        brio_off from = lseek(to->fd, at, SEEK_DATA);
        if (from < 0 && errno == ENXIO)
            break;
        from = brio_min(from < 0 ? at : from, end);
        until = lseek(to->fd, from, SEEK_HOLE);
        until = brio_min(until <= from ? end : until, end);
        err = compare_to(to, data + (from - off), until - from, from);
    }
    return err;
}

static enum brio_err put(const struct target *to, const char *data, brio_off len, brio_off off)
{
    return to->look ? look_at(to, data, len, off)
                    : brio_log_write(to->fd, data, (size_t)len, off);
}

/* One record through its rank's view. */
static enum brio_err copy(const struct target *to, const struct side *s, size_t i, char *chunk)
{
    struct brio_cursor cursor;
    const struct brio_log_entry *e = &s->entries[i];
    enum brio_err err = BRIO_OK;
    if (e->at == BRIO_LOG_NOWHERE)
        return BRIO_OK;
    if (s->map->size == 0)
        return brio_fail(BRIO_EIO, "%s: the view has no room for data", s->meta);
    brio_cursor_init(&cursor, s->map, s->at[i]);
    for (brio_off done = 0; done < e->bytes && !err;) {
        brio_off n = brio_min(CHUNK, e->bytes - done);
        err = brio_log_read(s->data_fd, chunk, (size_t)n, e->at + done);
        for (brio_off out = 0; out < n && !err;) {
            struct brio_run run;
            brio_cursor_next(&cursor, n - out, &run);
            for (brio_off k = 0; k < run.count && !err; k++, out += run.len)
                err = put(to, chunk + out, run.len, s->head.disp + run.off + k * run.stride);
        }
        done += n;
    }
    return err;
}

static enum brio_err copy_all(const struct target *to, const struct side *side, size_t n)
{
    static char chunk[CHUNK];
    enum brio_err err = BRIO_OK;
    for (size_t i = 0; i < n && !err; i++)
        for (size_t k = 0; goes_in(&side[i]) && k < side[i].n && !err; k++)
            err = copy(to, &side[i], k, chunk);
    return err;
}

static enum brio_err write_all(const char *path, const struct side *side, size_t n)
{
    const struct target to = {.fd = open(path, O_WRONLY | O_CLOEXEC)};
    if (to.fd < 0)
        return brio_fail_errno(errno, "open of %s", path);
    enum brio_err err = copy_all(&to, side, n);
    if (fsync(to.fd) != 0 && !err)
        err = brio_fail_errno(errno, "fsync of %s", path);
    close(to.fd);
    return err;
}

static bool later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Whether the file was written after all side files of the job. */
static bool is_changed(const struct stat *file, const struct side *side, size_t n)
{
    struct stat st;
    for (size_t i = 0; i < n; i++)
        if ((fstat(side[i].meta_fd, &st) == 0 && !later(&file->st_mtim, &st.st_mtim)) ||
            (side[i].data_fd >= 0 && fstat(side[i].data_fd, &st) == 0 &&
             !later(&file->st_mtim, &st.st_mtim)))
            return false;
    return true;
}

/* Whether the job was killed while it merged. */
static bool was_merging(const struct side *side, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; goes_in(&side[i]) && k < side[i].n; k++)
            if (side[i].entries[k].at == BRIO_LOG_NOWHERE)
                return true;
    return false;
}

/* Others may have written the file since the job died, and what they wrote is worth more. The
 * job itself writes the file after its side files, too, if it dies while it merges: then zeros
 * are what it has not come to, and else they are somebody's. */
static enum brio_err check_file(const char *path, const struct side *side, size_t n)
{
    struct target to = {
        .fd = open(path, O_RDONLY | O_CLOEXEC), .look = true, .zeros = !was_merging(side, n)};
    struct stat st;
    enum brio_err err = BRIO_OK;
    if (to.fd < 0 || fstat(to.fd, &st) != 0)
        err = brio_fail_errno(errno, "open of %s", path);
    for (size_t i = 0; i < n && !err; i++) {
        const brio_off size = goes_in(&side[i]) ? side[i].head.size : 0;
        to.end = brio_max(to.end, size);
        if (st.st_size < size)
            err = brio_fail(BRIO_EIO, "it has %lld bytes, and had %lld when the job last wrote",
                            (long long)st.st_size, (long long)size);
    }
    if (!err)
        to.rest = (to.end + st.st_blksize - 1) / st.st_blksize * st.st_blksize;
    if (!err && is_changed(&st, side, n))
        err = copy_all(&to, side, n);
    if (to.fd >= 0)
        close(to.fd);
    return err;
}

/* A file that says that the records of this job are merged, made before any of them goes: a
 * second run after an interruption must not take what is left for all there is. */
static enum brio_err commit(const char *done)
{
    int fd = open(done, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return brio_fail_errno(errno, "open of %s", done);
    enum brio_err err = BRIO_OK;
    if (fsync(fd) != 0)
        err = brio_fail_errno(errno, "fsync of %s", done);
    close(fd);
    return err;
}

static void set_aside(const char *name)
{
    char *to = brio_text("%s.damaged", name);
    if (rename(name, to) != 0 && errno != ENOENT)
        brio_say("%s: %s", name, strerror(errno));
    free(to);
}

static void tidy(const struct side *side, size_t n, const char *done)
{
    for (size_t i = 0; i < n; i++) {
        const struct side *s = &side[i];
        if (s->fate == DAMAGED || s->fate == PARTLY) {
            set_aside(s->data);
            set_aside(s->meta);
        } else {
            unlink(s->data);
            unlink(s->meta);
        }
    }
    unlink(done);
}

/* "DIR/.NAME.brio-done-TAG", from the name of a rank's. */
static char *done_name(const struct side *s)
{
    const char *dash = s->meta + strlen(s->meta) - TAG - 1;
    const char *digits = dash;
    while (digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    return brio_text("%.*sdone%s", (int)(digits - s->meta) - 4, s->meta, dash);
}

static bool merge(const char *path, struct side *side, size_t n, const char *done, bool force)
{
    if (!compare(side, n))
        return false;
    const struct sum sum = add_up(side, n);
    enum brio_err err = place(side, n);
    if (!err && sum.records > 0 && !force) {
        err = check_file(path, side, n);
        if (err) {
            brio_say("%s: seems to be changed by others since the job was killed: %s; nothing "
                     "was done. If the job's records are to replace what is there, use "
                     "--force; if not, remove %s and its like",
                     path, brio_err_text(), side[0].meta);
            return false;
        }
    }
    if (!err && sum.records > 0)
        err = write_all(path, side, n);
    if (!err)
        err = commit(done);
    if (err) {
        brio_say("%s: %s; nothing was removed", path, brio_err_text());
        return false;
    }
    if (sum.lost > 0)
        brio_say(
            "%s: the job was killed while it merged; %zu more records that it had not synced "
            "were in its memory only: their places are as it left them",
            path, sum.lost);
    printf("%s: %zu records, %lld bytes merged\n", path, sum.records, (long long)sum.bytes);
    return true;
}

/* The side files of one job; true if all is well. */
static bool finish_job(const char *path, struct side *side, size_t n, bool force)
{
    bool good = true;
    for (size_t i = 0; i < n; i++)
        if (!seize(&side[i], force))
            return false;
    for (size_t i = 0; i < n; i++) {
        load(&side[i]);
        good &= side[i].fate != DAMAGED && side[i].fate != PARTLY;
    }
    char *done = done_name(&side[0]);
    bool merged = access(done, F_OK) == 0 || merge(path, side, n, done, force);
    if (merged)
        tidy(side, n, done);
    free(done);
    return merged && good;
}

static bool finish_file(const char *path, bool force)
{
    struct sides all = find_sides(path);
    bool good = true;
    if (all.n == 0 && access(path, F_OK) != 0) {
        brio_say("%s: %s", path, strerror(errno));
        return false;
    }
    if (all.n == 0)
        printf("%s: nothing to merge\n", path);
    for (size_t i = 0, n; i < all.n; i += n) {
        for (n = 1; i + n < all.n && strcmp(all.side[i].tag, all.side[i + n].tag) == 0;)
            n++;
        good &= finish_job(path, all.side + i, n, force);
    }
    free_sides(&all);
    return good;
}

int brio_cmd_merge(int argc, char **argv)
{
    bool force = argc > 1 && strcmp(argv[1], "--force") == 0, good = true;
    int first = force ? 2 : 1;
    if (first >= argc || argv[first][0] == '-') {
        fputs(brio_help_merge, stderr);
        return BRIO_EXIT_USAGE;
    }
    for (int i = first; i < argc; i++)
        good &= finish_file(argv[i], force);
    return good ? 0 : 1;
}
