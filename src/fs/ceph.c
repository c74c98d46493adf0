/* Files of CephFS through libcephfs, in user space: no mount is needed. Each rank is a client
 * of its own, without a cache, so that a byte that was written is with the servers. */
#include "fs/ceph.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "fs/fs.h"
#include "fs/umask.h"

enum {
    UNIT = 65536,         /* Ceph's stripe units are multiples of it */
    MAX_UNIT = 64 << 20,  /* and of objects no larger than the servers like */
    OBJECT = 4 << 20,     /* Ceph's own size for objects */
    MAX_WIDTH = 1024,     /* objects that a stripe goes round */
    ASKED_OBJECTS = 1024, /* whose servers are looked up */
    MAX_COPIES = 32,      /* of an object */
    FILL = 1 << 20
};

static const struct brio_hint hints[] = {
    {.name = "ceph_conf",
     .kind = BRIO_HINT_TEXT,
     .offset = offsetof(struct brio_ceph_conf, conf),
     .def = "",
     .help = "configuration file of the cluster; without it CEPH_CONF, then "
             "/etc/ceph/ceph.conf"},
    {.name = "ceph_user",
     .kind = BRIO_HINT_TEXT,
     .offset = offsetof(struct brio_ceph_conf, user),
     .def = "",
     .help = "user of the cluster, without \"client.\"; without it admin"},
    {.name = "ceph_filesystem",
     .kind = BRIO_HINT_TEXT,
     .offset = offsetof(struct brio_ceph_conf, name),
     .def = "",
     .help = "file system of the cluster; without it the default one"},
    {.name = "ceph_timeout",
     .kind = BRIO_HINT_INT,
     .offset = offsetof(struct brio_ceph_conf, timeout),
     .def = "30",
     .min = 1,
     .max = 86400,
     .help = "seconds to wait for the cluster at the first open"},
    {.name = NULL},
};

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (strcmp(facts->prefix, "ceph") != 0)
        return brio_answer(-1, "the name does not begin with ceph:");
    return brio_answer(80, "the name begins with ceph:");
}

/* ---- Opening ------------------------------------------------------------------------------
 */

struct stripes {
    int unit, width, object;
};

/* What was asked for, as Ceph can do it; zeros leave it to the directory. A unit without a
 * width means all servers: one object at a time would not go on to the next one after it. */
static struct stripes round_stripes(const struct brio_ceph *ceph,
                                    const struct brio_fs_open *how)
{
    struct stripes s = {0};
    if (how->stripe <= 0 && how->nservers <= 0)
        return s;
    brio_off unit = how->stripe > 0 ? how->stripe : OBJECT;
    unit = brio_min((unit + UNIT - 1) / UNIT * UNIT, MAX_UNIT);
    int width = how->nservers > 0 ? how->nservers : ceph->lib->ll_num_osds(ceph->mount);
    s.unit = (int)unit;
    s.width = (int)brio_max(1, brio_min(width, MAX_WIDTH));
    s.object = (int)(unit < OBJECT ? OBJECT / unit * unit : unit);
    if (how->stripe > 0 && unit != how->stripe)
        brio_log(BRIO_NOTE, "%s: Ceph's stripes are multiples of 64 KiB: %lld instead of %lld",
                 how->path, (long long)unit, (long long)how->stripe);
    return s;
}

/* Makes the file, which is not there yet: 0 or a negative errno. */
static int make(const struct brio_ceph *ceph, const struct brio_fs_open *how)
{
    struct stripes s = round_stripes(ceph, how);
    mode_t perm = (mode_t)(how->perm < 0 ? 0666 : how->perm) & ~brio_fs_umask();
    int fd = ceph->lib->open_layout(ceph->mount, how->path, O_CREAT | O_EXCL | O_WRONLY, perm,
                                    s.unit, s.width, s.object, NULL);
    return fd < 0 ? fd : ceph->lib->close(ceph->mount, fd);
}

static int kind_error(const struct ceph_statx *st)
{
    if (S_ISDIR(st->stx_mode))
        return -EISDIR;
    return S_ISREG(st->stx_mode) ? 0 : -ENXIO;
}

/* Opens what is there: 0 or a negative errno. */
static int find(struct brio_ceph_file *f, const struct brio_fs_open *how)
{
    const struct brio_ceph *c = f->ceph;
    struct ceph_statx st;
    int failed = c->lib->ll_walk(c->mount, how->path, &f->inode, &st,
                                 CEPH_STATX_MODE | CEPH_STATX_SIZE, 0, c->perms);
    if (failed)
        return failed;
    failed = kind_error(&st);
    int access = how->amode & MPI_MODE_RDONLY ? O_RDONLY : O_RDWR;
    if (!failed)
        failed = c->lib->ll_open(c->mount, f->inode, access, &f->fh, c->perms);
    if (failed == -EACCES && how->amode & MPI_MODE_WRONLY) {
        access = O_WRONLY;
        failed = c->lib->ll_open(c->mount, f->inode, access, &f->fh, c->perms);
    }
    if (failed)
        c->lib->ll_put(c->mount, f->inode);
    f->readable = access != O_WRONLY;
    f->writable = access != O_RDONLY;
    return failed;
}

static BRIO_ERR open_file(const struct brio_fs_open *how, const void *conf, void **self,
                          struct brio_store *store)
{
    const struct brio_ceph *ceph;
    void *mem;
    int failed = 0;
    enum brio_err err = brio_ceph_connect(conf, &ceph);
    if (!err)
        err = brio_calloc(1, sizeof(struct brio_ceph_file), &mem);
    if (err)
        return err;
    struct brio_ceph_file *f = mem;
    err = brio_strdup(how->path, &f->path);
    if (err) {
        free(f);
        return err;
    }
    f->ceph = ceph;
    if (how->create && how->amode & MPI_MODE_CREATE) {
        failed = make(ceph, how);
        if (failed == -EEXIST && !(how->amode & MPI_MODE_EXCL))
            failed = 0;
    }
    if (!failed)
        failed = find(f, how);
    if (failed) {
        free(f->path);
        free(f);
        return failed == -ENXIO
                   ? brio_fail(BRIO_EBADFILE, "open of ceph:%s: not a file", how->path)
                   : brio_fail_errno(-failed, "open of ceph:%s", how->path);
    }
    *store = (struct brio_store){.fd = -1,
                                 .handle = f,
                                 .readable = f->readable,
                                 .writable = f->writable,
                                 .block_size = UNIT};
    *self = f;
    return BRIO_OK;
}

static BRIO_ERR close_file(void *self)
{
    struct brio_ceph_file *f = self;
    const struct brio_ceph *c = f->ceph;
    int failed = c->lib->ll_close(c->mount, f->fh);
    c->lib->ll_put(c->mount, f->inode);
    free(f->path);
    free(f);
    return failed ? brio_fail_errno(-failed, "ceph_ll_close") : BRIO_OK;
}

static BRIO_ERR remove_file(const char *path, const void *conf)
{
    const struct brio_ceph *ceph;
    enum brio_err err = brio_ceph_connect(conf, &ceph);
    if (err)
        return err;
    int failed = ceph->lib->unlink(ceph->mount, path);
    return failed ? brio_fail_errno(-failed, "unlink of ceph:%s", path) : BRIO_OK;
}

/* ---- Sizes ----------------------------------------------------------------------------------
 */

static BRIO_ERR get_size(void *self, brio_off *out)
{
    struct brio_ceph_file *f = self;
    const struct brio_ceph *c = f->ceph;
    struct ceph_statx st;
    int failed = c->lib->ll_getattr(c->mount, f->inode, &st, CEPH_STATX_SIZE, 0, c->perms);
    if (failed)
        return brio_fail_errno(-failed, "ceph_ll_getattr");
    *out = (brio_off)st.stx_size;
    return BRIO_OK;
}

static BRIO_ERR set_size(void *self, brio_off size)
{
    struct brio_ceph_file *f = self;
    const struct brio_ceph *c = f->ceph;
    struct ceph_statx st = {.stx_size = (uint64_t)size};
    int failed = -EINVAL;
    if (size >= 0)
        failed = c->lib->ll_setattr(c->mount, f->inode, &st, CEPH_SETATTR_SIZE, c->perms);
    if (failed)
        return brio_fail_errno(-failed, "change of size to %lld bytes", (long long)size);
    return BRIO_OK;
}

/* Ceph's own fallocate sets the size and has no storage ready, so what lies behind the end is
 * written. Holes before the end stay: filling them could overwrite what another rank writes
 * at this moment. */
static BRIO_ERR allocate(void *self, brio_off size)
{
    struct brio_ceph_file *f = self;
    const struct brio_ceph *c = f->ceph;
    brio_off at;
    void *zeros;
    enum brio_err err = get_size(f, &at);
    if (err || at >= size)
        return err;
    err = brio_calloc(1, FILL, &zeros);
    while (!err && at < size) {
        size_t len = (size_t)brio_min(size - at, FILL);
        int n = c->lib->ll_write(c->mount, f->fh, at, len, zeros);
        if (n <= 0 && n != -EINTR)
            err = brio_fail_errno(n ? -n : EIO, "ceph_ll_write of %zu bytes at offset %lld",
                                  len, (long long)at);
        else if (n > 0)
            at += n;
    }
    free(zeros);
    return err;
}

static BRIO_ERR sync_file(void *self)
{
    struct brio_ceph_file *f = self;
    int failed = f->ceph->lib->ll_fsync(f->ceph->mount, f->fh, 0);
    return failed ? brio_fail_errno(-failed, "ceph_ll_fsync") : BRIO_OK;
}

/* ---- Locks and layout -------------------------------------------------------------------- */

static BRIO_ERR lock(void *self, enum brio_lock how, brio_off off, brio_off len)
{
    struct brio_ceph_file *f = self;
    brio_off end;
    if (len <= 0)
        return BRIO_OK;
    if (how == BRIO_LOCK_EXCLUSIVE && !f->writable)
        return brio_fail(BRIO_EUNSUPOP,
                         "a file open for reading only cannot be locked exclusively");
    int type = how == BRIO_LOCK_NONE ? F_UNLCK : how == BRIO_LOCK_SHARED ? F_RDLCK : F_WRLCK;
    struct flock range = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = off};
    range.l_len = brio_add(off, len, &end) ? len : 0; /* 0: without end */
    /* The highest bit says that the owner is not told apart by its process as well. */
    uint64_t owner = (uint64_t)(uintptr_t)f | (uint64_t)1 << 63;
    int failed;
    do
        failed =
            f->ceph->lib->ll_setlk(f->ceph->mount, f->fh, &range, owner, how != BRIO_LOCK_NONE);
    while (failed == -EINTR);
    return failed ? brio_fail_errno(-failed, "ceph_ll_setlk of %lld bytes at offset %lld",
                                    (long long)len, (long long)off)
                  : BRIO_OK;
}

/* A descriptor of the library's, which only the questions after servers take; or negative. */
static int open_descriptor(const struct brio_ceph_file *f)
{
    const struct brio_ceph *c = f->ceph;
    return c->lib->open(c->mount, f->path, f->readable ? O_RDONLY : O_WRONLY, 0);
}

/* The server of each object: the monitors' map is at hand, so no server is asked. Numbered in
 * the order in which they are met. */
static bool place_objects(const struct brio_ceph_file *f, const struct ceph_file_layout *l,
                          struct brio_layout *out)
{
    const struct brio_ceph *c = f->ceph;
    int numbers[ASKED_OBJECTS], osds[MAX_COPIES];
    int width = (int)l->fl_stripe_count;
    int64_t unit = l->fl_stripe_unit, set = (int64_t)l->fl_object_size * width;
    int fd = open_descriptor(f);
    out->nservers = 0;
    for (out->nobjects = 0; out->nobjects < ASKED_OBJECTS; out->nobjects++) {
        int k = out->nobjects, i = 0;
        int64_t len, at = k / width * set + k % width * unit;
        /* Copies go from the first server to the others. None: it has none, for now. */
        if (c->lib->get_file_extent_osds(c->mount, fd, at, &len, osds, MAX_COPIES) < 1)
            break;
        while (i < out->nservers && numbers[i] != osds[0])
            i++;
        numbers[i] = osds[0];
        out->nservers = (int)brio_max(out->nservers, i + 1);
        out->objects[k] = (uint16_t)i;
    }
    if (fd >= 0)
        c->lib->close(c->mount, fd);
    return out->nobjects == ASKED_OBJECTS;
}

static BRIO_ERR layout(void *self, struct brio_layout *out)
{
    struct brio_ceph_file *f = self;
    struct ceph_file_layout l = {0};
    brio_layout_plain(out);
    f->ceph->lib->ll_file_layout(f->ceph->mount, f->inode, &l);
    if (l.fl_stripe_unit == 0 || l.fl_stripe_count == 0 || l.fl_object_size < l.fl_stripe_unit)
        return BRIO_OK;
    if (!place_objects(f, &l, out)) {
        brio_layout_plain(out);
        return BRIO_OK;
    }
    out->stripe = l.fl_stripe_unit;
    out->nextents = 1;
    out->extents[0] = (struct brio_stripes){.hi = BRIO_OFF_MAX,
                                            .unit = l.fl_stripe_unit,
                                            .object = l.fl_object_size,
                                            .width = (int)l.fl_stripe_count,
                                            .n = out->nobjects};
    return BRIO_OK;
}

const struct brio_fs brio_fs_ceph = {
    .base = {.name = "ceph",
             .about = "CephFS through libcephfs: names that begin with ceph:",
             .hints = hints,
             .conf_size = sizeof(struct brio_ceph_conf),
             .query = query},
    .store = BRIO_STORE_CEPH,
    .open = open_file,
    .close = close_file,
    .remove = remove_file,
    .get_size = get_size,
    .set_size = set_size,
    .allocate = allocate,
    .sync = sync_file,
    .lock = lock,
    .layout = layout,
};
