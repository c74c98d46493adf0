/* Reading and writing the side files of sharedfp/individual. */
#include "sharedfp/logfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "type/wire.h"

static const char magic[8] = {'B', 'R', 'I', 'O', 'L', 'O', 'G', '2'};

enum {
    MOST_WORDS = 1 << 24
};

BRIO_ERR brio_log_write(int fd, const void *buf, size_t bytes, brio_off off)
{
    const char *from = buf;
    while (bytes > 0) {
        ssize_t n = pwrite(fd, from, bytes, off);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return brio_fail_errno(n < 0 ? errno : ENOSPC, "write to a side file");
        from += n;
        off += n;
        bytes -= (size_t)n;
    }
    return BRIO_OK;
}

BRIO_ERR brio_log_read(int fd, void *buf, size_t bytes, brio_off off)
{
    char *to = buf;
    while (bytes > 0) {
        ssize_t n = pread(fd, to, bytes, off);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return brio_fail_errno(errno, "read of a side file");
        if (n == 0)
            return brio_fail(BRIO_EIO, "a side file is shorter than it was");
        to += n;
        off += n;
        bytes -= (size_t)n;
    }
    return BRIO_OK;
}

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

static const uint64_t seed = 0xcbf29ce484222325u;

static uint64_t head_check(const struct brio_log_head *head, const int64_t *words)
{
    uint64_t hash = mix(seed, head, offsetof(struct brio_log_head, check));
    return mix(hash, words, (size_t)head->words * sizeof *words);
}

static uint64_t entry_check(const struct brio_log_entry *entry)
{
    return mix(seed, entry, offsetof(struct brio_log_entry, check));
}

size_t brio_log_words(const struct brio_map *map)
{
    return brio_wire_size(map);
}

brio_off brio_log_head_size(const struct brio_log_head *head)
{
    return (brio_off)(sizeof *head + (size_t)head->words * sizeof(int64_t));
}

BRIO_ERR brio_log_put_head(int fd, struct brio_log_head head, const struct brio_map *map)
{
    char *text = NULL;
    memcpy(head.magic, magic, sizeof magic);
    head.words = (int64_t)brio_log_words(map);
    size_t size = (size_t)brio_log_head_size(&head);
    enum brio_err err = brio_calloc(1, size, (void **)&text);
    if (err)
        return err;
    int64_t *words = (int64_t *)(void *)(text + sizeof head);
    brio_wire_put(map, words);
    head.check = head_check(&head, words);
    memcpy(text, &head, sizeof head);
    err = brio_log_write(fd, text, size, 0);
    if (!err && ftruncate(fd, (brio_off)size) != 0)
        err = brio_fail_errno(errno, "ftruncate of a side file");
    free(text);
    return err;
}

BRIO_ERR brio_log_put_entries(int fd, brio_off off, struct brio_log_entry *entries, size_t n)
{
    for (size_t i = 0; i < n; i++)
        entries[i].check = entry_check(&entries[i]);
    return brio_log_write(fd, entries, n * sizeof *entries, off);
}

static BRIO_ERR get_map(int fd, const struct brio_log_head *head, struct brio_map **map)
{
    int64_t *words = NULL;
    size_t used;
    enum brio_err err = brio_calloc((size_t)head->words, sizeof *words, (void **)&words);
    if (!err)
        err = brio_log_read(fd, words, (size_t)head->words * sizeof *words, sizeof *head);
    if (!err && head_check(head, words) != head->check)
        err = brio_fail(BRIO_EIO, "the header is damaged");
    if (!err && brio_wire_get(words, (size_t)head->words, &used, map) != BRIO_OK)
        err = brio_fail(BRIO_EIO, "the view in the header makes no sense");
    free(words);
    return err;
}

BRIO_ERR brio_log_get_head(int fd, struct brio_log_head *head, struct brio_map **map)
{
    struct brio_log_head got;
    struct stat st;
    if (fstat(fd, &st) != 0)
        return brio_fail_errno(errno, "fstat of a side file");
    if (st.st_size == 0)
        return brio_fail(BRIO_ENOENT, "nothing was written");
    enum brio_err err = brio_log_read(fd, &got, sizeof got, 0);
    if (!err && (memcmp(got.magic, magic, sizeof magic) != 0 || got.words < 0 ||
                 got.words > MOST_WORDS || got.rank >= got.nranks || got.start < 0))
        err = brio_fail(BRIO_EIO, "the header is damaged");
    if (!err)
        err = get_map(fd, &got, map);
    if (!err)
        *head = got;
    return err;
}

static const char *find_fault(const struct brio_log_entry *e)
{
    if (e->check != entry_check(e))
        return "damaged";
    if (e->bytes < 0 || e->at < BRIO_LOG_NOWHERE || e->at > BRIO_OFF_MAX - e->bytes)
        return "nonsense";
    return NULL;
}

BRIO_ERR brio_log_get_entries(int fd, brio_off off, size_t most, struct brio_log_entry **out,
                              size_t *n, const char **bad)
{
    struct stat st;
    struct brio_log_entry *entries = NULL;
    if (fstat(fd, &st) != 0)
        return brio_fail_errno(errno, "fstat of a side file");
    size_t bytes = st.st_size > off ? (size_t)(st.st_size - off) : 0;
    size_t whole = bytes / sizeof *entries;
    *bad = bytes % sizeof *entries ? "cut off" : NULL;
    if (whole >= most) {
        whole = most;
        *bad = NULL;
    }
    enum brio_err err = brio_calloc(whole, sizeof *entries, (void **)&entries);
    if (!err)
        err = brio_log_read(fd, entries, whole * sizeof *entries, off);
    if (err) {
        free(entries);
        return err;
    }
    for (size_t i = 0; i < whole; i++) {
        const char *fault = find_fault(&entries[i]);
        if (fault) {
            *bad = fault;
            whole = i;
        }
    }
    *out = entries;
    *n = whole;
    return BRIO_OK;
}
