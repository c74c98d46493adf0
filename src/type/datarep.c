/* The registry of data representations, and encoding and decoding by whichever it is. */
#include "type/datarep.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "type/elements.h"
#include "type/external32.h"
#include "type/flatten.h"
#include "type/leaf.h"
#include "type/pack.h"

enum rep_kind {
    REP_NATIVE,
    REP_EXTERNAL32,
    REP_USER
};

struct brio_datarep {
    const char *name;
    enum rep_kind kind;
    struct brio_datarep_fns fns; /* REP_USER */
    const struct brio_datarep *next;
};

/* ---- The registry ------------------------------------------------------------------- */

static const struct brio_datarep native = {.name = "native", .kind = REP_NATIVE};
static const struct brio_datarep internal = {
    .name = "internal", .kind = REP_NATIVE, .next = &native};
static const struct brio_datarep external32 = {
    .name = "external32", .kind = REP_EXTERNAL32, .next = &internal};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct brio_datarep *all = &external32; /* guarded by lock */

/* With the lock held. */
static const struct brio_datarep *look_up(const char *name)
{
    const struct brio_datarep *rep = all;
    while (rep && strcmp(rep->name, name) != 0)
        rep = rep->next;
    return rep;
}

BRIO_ERR brio_datarep_find(const char *name, const struct brio_datarep **out)
{
    if (!name)
        return brio_fail(BRIO_EARG, "no name of a data representation");
    pthread_mutex_lock(&lock);
    const struct brio_datarep *rep = look_up(name);
    pthread_mutex_unlock(&lock);
    if (!rep)
        return brio_fail(BRIO_EUNSUPREP, "unknown data representation \"%.128s\"", name);
    *out = rep;
    return BRIO_OK;
}

const char *brio_datarep_name(const struct brio_datarep *rep)
{
    return rep->name;
}

bool brio_datarep_is_native(const struct brio_datarep *rep)
{
    return rep->kind == REP_NATIVE;
}

static BRIO_ERR make_rep(const char *name, const struct brio_datarep_fns *fns,
                         struct brio_datarep **out)
{
    char *copy;
    void *p;
    enum brio_err err = brio_strdup(name, &copy);
    if (err)
        return err;
    err = brio_calloc(1, sizeof **out, &p);
    if (err) {
        free(copy);
        return err;
    }
    *out = p;
    **out = (struct brio_datarep){.name = copy, .kind = REP_USER, .fns = *fns};
    return BRIO_OK;
}

BRIO_ERR brio_datarep_register(const char *name, const struct brio_datarep_fns *fns)
{
    if (!name || !*name || strlen(name) >= MPI_MAX_DATAREP_STRING)
        return brio_fail(BRIO_EARG, "the name of a data representation has 1 to %d characters",
                         MPI_MAX_DATAREP_STRING - 1);
    if (!fns->extent)
        return brio_fail(BRIO_EARG, "data representation \"%s\" without an extent function",
                         name);
    pthread_mutex_lock(&lock);
    struct brio_datarep *rep = NULL;
    enum brio_err err;
    if (look_up(name))
        err = brio_fail(BRIO_EDUPREP, "data representation \"%s\" exists already", name);
    else
        err = make_rep(name, fns, &rep);
    if (!err) {
        rep->next = all;
        all = rep;
    }
    pthread_mutex_unlock(&lock);
    return err;
}

/* ---- Sizes and maps ----------------------------------------------------------------- */

static BRIO_ERR size_external32(void *self, MPI_Datatype type, brio_off *out)
{
    (void)self;
    struct brio_leaf leaf;
    enum brio_err err = brio_leaf_get(type, &leaf);
    if (!err)
        *out = brio_leaf_file_size(&leaf);
    return err;
}

static BRIO_ERR size_user(void *self, MPI_Datatype type, brio_off *out)
{
    const struct brio_datarep *rep = self;
    MPI_Aint extent = -1;
    if (rep->fns.extent(type, &extent, rep->fns.extra) != MPI_SUCCESS || extent < 0)
        return brio_fail(BRIO_ECONV, "the extent function of data representation \"%s\" failed",
                         rep->name);
    *out = extent;
    return BRIO_OK;
}

BRIO_ERR brio_datarep_map(const struct brio_datarep *rep, MPI_Datatype type,
                          struct brio_map **out)
{
    if (rep->kind == REP_NATIVE)
        return brio_flatten(type, out);
    struct brio_sizer sizer = {.size = rep->kind == REP_USER ? size_user : size_external32,
                               .self = (void *)rep};
    return brio_flatten_sized(type, &sizer, out);
}

/* The same for a user's representation with every element for itself: its length is that
 * in the file, its kind 1 + that in memory. */
static BRIO_ERR counted_map(const struct brio_datarep *rep, MPI_Datatype type,
                            struct brio_map **out)
{
    struct brio_sizer sizer = {.size = size_user, .self = (void *)rep, .counted = true};
    return brio_flatten_sized(type, &sizer, out);
}

BRIO_ERR brio_datarep_extent(const struct brio_datarep *rep, MPI_Datatype type, brio_off *out)
{
    struct brio_map *map;
    enum brio_err err = brio_datarep_map(rep, type, &map);
    if (err)
        return err;
    *out = map->extent;
    brio_map_unref(map);
    return BRIO_OK;
}

BRIO_ERR brio_datarep_size(const struct brio_datarep *rep, MPI_Datatype type, brio_off *out)
{
    struct brio_map *map;
    enum brio_err err = rep->kind == REP_EXTERNAL32 ? brio_flatten_typed(type, &map)
                                                    : brio_datarep_map(rep, type, &map);
    if (err)
        return err;
    *out = rep->kind == REP_EXTERNAL32 ? brio_external32_size(map) : map->size;
    brio_map_unref(map);
    return BRIO_OK;
}

/* ---- Encoding and decoding ---------------------------------------------------------- */

/* `count` items around buf, and their file bytes. */
struct job {
    const struct brio_datarep *rep;
    void *buf;
    MPI_Datatype type;
    brio_off count;
    char *file;
    brio_off bytes; /* file bytes there are; decoding */
};

static BRIO_ERR too_many(brio_off count)
{
    return brio_fail(BRIO_EARG, "%lld items reach beyond 2^63 bytes", (long long)count);
}

static BRIO_ERR encode_external32(const struct job *job)
{
    struct brio_map *map;
    struct brio_cursor c;
    struct brio_run run;
    brio_off left;
    enum brio_err err = brio_flatten_typed(job->type, &map);
    if (err)
        return err;
    if (!brio_mul(map->size, job->count, &left))
        err = too_many(job->count);
    char *file = job->file;
    brio_cursor_init(&c, map, 0);
    while (!err && left > 0) {
        brio_cursor_next(&c, left, &run);
        err = brio_external32_encode(job->buf, &run, file);
        file += run.count * brio_kind_file_size(run.kind);
        left -= run.count * run.len;
    }
    brio_map_unref(map);
    return err;
}

/* Decodes the elements that job->bytes cover whole; *done is what they are in memory. */
static BRIO_ERR decode_external32(const struct job *job, brio_off *done)
{
    struct brio_map *map;
    struct brio_cursor c;
    struct brio_run run;
    brio_off total;
    enum brio_err err = brio_flatten_typed(job->type, &map);
    if (err)
        return err;
    if (!brio_mul(map->size, job->count, &total))
        err = too_many(job->count);
    const char *file = job->file;
    brio_off bytes = job->bytes, moved = 0;
    bool cut = false;
    brio_cursor_init(&c, map, 0);
    while (!err && !cut && moved < total) {
        brio_cursor_next(&c, total - moved, &run);
        brio_off size = brio_kind_file_size(run.kind);
        cut = bytes / size < run.count;
        if (cut)
            run.count = bytes / size;
        err = brio_external32_decode(job->buf, &run, file);
        file += run.count * size;
        bytes -= run.count * size;
        moved += run.count * run.len;
    }
    brio_map_unref(map);
    if (!err)
        *done = moved;
    return err;
}

/* A direction for which the user gave no function: the memory image. That needs items of
 * the same size in the file. */
static BRIO_ERR image_map(const struct job *job, brio_off size, struct brio_map **out)
{
    struct brio_map *map;
    enum brio_err err = brio_flatten(job->type, &map);
    if (err)
        return err;
    if (map->size != size) {
        err = brio_fail(BRIO_ECONV,
                        "data representation \"%s\" has no conversion function, but %lld bytes "
                        "in memory are to be %lld in the file",
                        job->rep->name, (long long)map->size, (long long)size);
        brio_map_unref(map);
        return err;
    }
    *out = map;
    return BRIO_OK;
}

/* One of the user's functions, in either form. */
struct converter {
    brio_conv_fn *fn;
    brio_conv_fn_c *fn_c;
};

/* The int form gets at most so many elements at once that the rest can be found in the file:
 * any number if all are alike, else whole items. 0 if an item alone has too many. */
static brio_off most_at_once(const struct brio_map *item, brio_off per_item)
{
    return brio_elements_len(item) ? INT_MAX : INT_MAX / per_item * per_item;
}

/* `count` elements from the first item on. The int form is called as often as needed, with
 * the elements already done as position and the same userbuf, as the standard says. */
static BRIO_ERR convert(const struct job *job, struct converter by, const struct brio_map *item,
                        brio_off count)
{
    void *extra = job->rep->fns.extra;
    brio_off per_item = brio_elements_of_tile(item).count, len = brio_elements_len(item);
    brio_off most = by.fn_c ? BRIO_OFF_MAX : most_at_once(item, per_item);
    if (count > INT_MAX && most == 0)
        return brio_fail(BRIO_ECONV,
                         "data representation \"%s\": one item has more elements of different "
                         "types than an int counts",
                         job->rep->name);
    for (brio_off done = 0, n; done < count; done += n) {
        n = count <= INT_MAX ? count : brio_min(count - done, most);
        char *part = job->file + (len ? done * len : done / per_item * item->size);
        int rc = by.fn_c ? by.fn_c(job->buf, job->type, n, part, done, extra)
                         : by.fn(job->buf, job->type, (int)n, part, done, extra);
        if (rc != MPI_SUCCESS)
            return brio_fail(BRIO_ECONV,
                             "a conversion function of data representation \"%s\" returned %d",
                             job->rep->name, rc);
    }
    return BRIO_OK;
}

/* The first `bytes` bytes of the memory image. */
static BRIO_ERR image(const struct job *job, brio_off size, brio_off bytes, enum brio_dir dir)
{
    struct brio_map *map = NULL;
    enum brio_err err = image_map(job, size, &map);
    if (err)
        return err;
    if (dir == BRIO_WRITE)
        brio_pack(job->file, map, job->buf, 0, bytes);
    else
        brio_unpack(job->buf, map, job->file, 0, bytes);
    brio_map_unref(map);
    return BRIO_OK;
}

/* *done becomes the data bytes in memory that were converted. */
static BRIO_ERR convert_user(const struct job *job, enum brio_dir dir, brio_off *done)
{
    const struct brio_datarep_fns *f = &job->rep->fns;
    struct converter by = dir == BRIO_WRITE ? (struct converter){f->write, f->write_c}
                                            : (struct converter){f->read, f->read_c};
    struct brio_map *item;
    brio_off bytes;
    enum brio_err err = counted_map(job->rep, job->type, &item);
    if (err)
        return err;
    if (!brio_mul(item->size, job->count, &bytes)) {
        brio_map_unref(item);
        return too_many(job->count);
    }
    if (dir == BRIO_READ)
        bytes = brio_min(bytes, job->bytes);
    struct brio_elements part = brio_elements_within(item, bytes);
    if (by.fn || by.fn_c)
        err = convert(job, by, item, part.count);
    else {
        err = image(job, item->size, bytes, dir);
        part.mem = bytes;
    }
    brio_map_unref(item);
    if (!err)
        *done = part.mem;
    return err;
}

/* The memory image. */
static BRIO_ERR encode_native(const struct job *job)
{
    struct brio_map *map;
    brio_off bytes;
    enum brio_err err = brio_flatten(job->type, &map);
    if (err)
        return err;
    if (brio_mul(map->size, job->count, &bytes))
        brio_pack(job->file, map, job->buf, 0, bytes);
    else
        err = too_many(job->count);
    brio_map_unref(map);
    return err;
}

static BRIO_ERR decode_native(const struct job *job, brio_off *done)
{
    struct brio_map *map;
    brio_off total;
    enum brio_err err = brio_flatten(job->type, &map);
    if (err)
        return err;
    if (brio_mul(map->size, job->count, &total)) {
        *done = brio_min(total, job->bytes);
        brio_unpack(job->buf, map, job->file, 0, *done);
    } else
        err = too_many(job->count);
    brio_map_unref(map);
    return err;
}

BRIO_ERR brio_datarep_encode(const struct brio_datarep *rep, const void *buf, MPI_Datatype type,
                             brio_off count, void *filebuf)
{
    struct job job = {rep, (void *)buf, type, count, filebuf, 0};
    brio_off done;
    switch (rep->kind) {
    case REP_EXTERNAL32:
        return encode_external32(&job);
    case REP_USER:
        return convert_user(&job, BRIO_WRITE, &done);
    default:
        return encode_native(&job);
    }
}

BRIO_ERR brio_datarep_decode(const struct brio_datarep *rep, void *buf, MPI_Datatype type,
                             brio_off count, const void *filebuf, brio_off *bytes)
{
    struct job job = {rep, buf, type, count, (char *)filebuf, *bytes};
    switch (rep->kind) {
    case REP_EXTERNAL32:
        return decode_external32(&job, bytes);
    case REP_USER:
        return convert_user(&job, BRIO_READ, bytes);
    default:
        return decode_native(&job, bytes);
    }
}
