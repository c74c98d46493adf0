/* The oracle: a file as an array of bytes to which accesses are applied one byte at a time.
 * Obviously right, slow, and without a line of Brio in it. */
#ifndef BRIO_TEST_ORACLE_H
#define BRIO_TEST_ORACLE_H

#include <fcntl.h>
#include <unistd.h>

#include "disk.h"
#include "shape.h"

struct oracle_view {
    int64_t disp;
    struct shape *etype, *filetype;
};

/* One access: `count` items of `mem` at `off` etypes into the view. `origin` is the address
 * that MPI gets as buffer. */
struct oracle_access {
    const struct oracle_view *view;
    int64_t off;
    const struct shape *mem;
    int64_t count;
    unsigned char *origin;
};

struct oracle {
    unsigned char *byte;
    int64_t size, cap;
};

static inline void oracle_init(struct oracle *o, int64_t cap)
{
    o->byte = calloc(1, (size_t)cap);
    if (!o->byte)
        abort();
    o->size = 0;
    o->cap = cap;
}

static inline void oracle_free(struct oracle *o)
{
    free(o->byte);
}

/* Where data byte `pos` of the view lies in the file. */
static inline int64_t oracle_offset(const struct oracle_view *v, int64_t pos)
{
    const struct shape *f = v->filetype;
    return v->disp + pos / f->nbytes * shape_extent(f) + f->off[pos % f->nbytes];
}

static inline int64_t oracle_bytes(const struct oracle_access *a)
{
    return a->count * a->mem->nbytes;
}

static inline int64_t oracle_file_offset(const struct oracle_access *a, int64_t i)
{
    return oracle_offset(a->view, a->off * a->view->etype->nbytes + i);
}

/* Data byte i of the access in memory, counted from the origin. */
static inline int64_t oracle_mem_offset(const struct oracle_access *a, int64_t i)
{
    const struct shape *m = a->mem;
    return i / m->nbytes * shape_extent(m) + m->off[i % m->nbytes];
}

/* One past the last byte of the file that the access touches; 0 if none. */
static inline int64_t oracle_end(const struct oracle_access *a)
{
    int64_t end = 0;
    for (int64_t i = 0; i < oracle_bytes(a); i++) {
        int64_t at = oracle_file_offset(a, i);
        end = at >= end ? at + 1 : end;
    }
    return end;
}

static inline void oracle_write(struct oracle *o, const struct oracle_access *a)
{
    for (int64_t i = 0; i < oracle_bytes(a); i++) {
        int64_t at = oracle_file_offset(a, i);
        if (at >= o->cap)
            abort();
        o->byte[at] = a->origin[oracle_mem_offset(a, i)];
        if (at >= o->size)
            o->size = at + 1;
    }
}

/* Puts what a read must give at the origin; returns the data bytes before end of file. */
static inline int64_t oracle_read(const struct oracle *o, const struct oracle_access *a)
{
    for (int64_t i = 0; i < oracle_bytes(a); i++) {
        int64_t at = oracle_file_offset(a, i);
        if (at >= o->size)
            return i;
        a->origin[oracle_mem_offset(a, i)] = o->byte[at];
    }
    return oracle_bytes(a);
}

/* Makes the file on disk what the oracle says, with system calls only. */
static inline void oracle_store(const struct oracle *o, const char *path)
{
    if (getenv("BRIO_TEST_DIRECT")) /* what other nodes know of the old one is no good then */
        unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || write(fd, o->byte, (size_t)o->size) != o->size)
        abort();
    hand_over(fd);
    if (close(fd) != 0)
        abort();
}

/* Compares the file on disk with the oracle: -1 if they are the same, else the first byte
 * that differs (or the shorter one's end). */
static inline int64_t oracle_compare(const struct oracle *o, const char *path)
{
    int64_t bad = -1, size = size_on_disk(path);
    if (size < 0)
        return 0;
    int64_t n = size < o->size ? size : o->size;
    unsigned char *now = malloc((size_t)n + 1);
    if (!now)
        abort();
    load_file(path, 0, now, (size_t)n);
    for (int64_t i = 0; i < n && bad < 0; i++)
        if (now[i] != o->byte[i])
            bad = i;
    if (bad < 0 && size != o->size)
        bad = n;
    free(now);
    return bad;
}

#endif
