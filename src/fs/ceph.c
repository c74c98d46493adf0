/* Files of CephFS through libcephfs, in user space: no mount is needed. Each rank is a client
 * of its own, without a cache, so that a byte that was written is with the servers. Files below
 * a mount are found by the mount, and then by their inode's number (fs/ceph_mount.c). */
#include "fs/ceph.h"

#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "fs/ceph_mount.h"
#include "fs/cephsys.h"
#include "fs/fill.h"
#include "fs/fs.h"
#include "fs/lock.h"
#include "fs/ufs.h"
#include "fs/umask.h"

enum {
    BLOCK = 65536,        /* stripe units are multiples of it */
    ASKED_OBJECTS = 1024, /* whose servers are looked up */
    MAX_COPIES = 32       /* of an object */
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

static int query_mount(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (!brio_cephsys_is(facts))
        return brio_answer(-1, "the file is below no mount of CephFS");
    if (facts->unreached)
        return brio_answer(-1, "libcephfs was tried and does not serve this file");
    return brio_answer(60, "the file is below a mount of CephFS");
}

/* ---- Opening ------------------------------------------------------------------------------
 */

/* Makes the file, which is not there yet: 0 or a negative errno. */
static int make(const struct brio_ceph *ceph, const struct brio_fs_open *how)
{
    struct brio_ceph_stripes s = brio_ceph_round(how, ceph->lib->ll_num_osds(ceph->mount));
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

static BRIO_ERR new_file(const void *conf, struct brio_ceph_file **out)
{
    const struct brio_ceph *ceph;
    void *mem;
    enum brio_err err = brio_ceph_connect(conf, &ceph);
    if (!err)
        err = brio_calloc(1, sizeof **out, &mem);
    if (err)
        return err;
    *out = mem;
    (*out)->ceph = ceph;
    return BRIO_OK;
}

static void drop(struct brio_ceph_file *f)
{
    free(f->path);
    free(f);
}

static void give(struct brio_ceph_file *f, void **self, struct brio_store *store)
{
    *store = (struct brio_store){.fd = -1,
                                 .handle = f,
                                 .readable = f->readable,
                                 .writable = f->writable,
                                 .block_size = BLOCK};
    *self = f;
}

static BRIO_ERR open_file(const struct brio_fs_open *how, const void *conf, void **self,
                          struct brio_store *store)
{
    struct brio_ceph_file *f;
    int failed = 0;
    enum brio_err err = new_file(conf, &f);
    if (err)
        return err;
    err = brio_strdup(how->path, &f->path);
    if (err) {
        drop(f);
        return err;
    }
    if (how->create && how->amode & MPI_MODE_CREATE) {
        failed = make(f->ceph, how);
        if (failed == -EEXIST && !(how->amode & MPI_MODE_EXCL))
            failed = 0;
    }
    if (!failed)
        failed = find(f, how);
    if (failed) {
        drop(f);
        return failed == -ENXIO
                   ? brio_fail(BRIO_EBADFILE, "open of ceph:%s: not a file", how->path)
                   : brio_fail_errno(-failed, "open of ceph:%s", how->path);
    }
    give(f, self, store);
    return BRIO_OK;
}

static BRIO_ERR open_below_mount(const struct brio_fs_open *how, const void *conf, void **self,
                                 struct brio_store *store)
{
    struct brio_ceph_file *f;
    enum brio_err err = new_file(conf, &f);
    if (err)
        return err;
    err = brio_ceph_mount_open(f, how);
    if (err) {
        drop(f);
        return err;
    }
    give(f, self, store);
    return BRIO_OK;
}

static BRIO_ERR close_file(void *self)
{
    struct brio_ceph_file *f = self;
    const struct brio_ceph *c = f->ceph;
    int failed = c->lib->ll_close(c->mount, f->fh);
    c->lib->ll_put(c->mount, f->inode);
    drop(f);
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

static brio_off write_zeros(void *self, void *zeros, brio_off off, size_t len)
{
    struct brio_ceph_file *f = self;
    return f->ceph->lib->ll_write(f->ceph->mount, f->fh, off, len, zeros);
}

/* Ceph's own fallocate sets the size and has no storage ready. */
static BRIO_ERR allocate(void *self, brio_off size)
{
    brio_off end;
    enum brio_err err = get_size(self, &end);
    return err ? err : brio_fs_fill(write_zeros, self, "ceph_ll_write", end, size);
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
    if (len <= 0)
        return BRIO_OK;
    enum brio_err err = brio_lock_allowed(how, f->writable);
    if (err)
        return err;
    int type = how == BRIO_LOCK_NONE ? F_UNLCK : how == BRIO_LOCK_SHARED ? F_RDLCK : F_WRLCK;
    struct flock range = brio_lock_range(type, off, len);
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

/* The server of each object: the monitors' map is at hand, so no server is asked. Numbered in
 * the order in which they are met. The question wants a descriptor of the library's, and so a
 * path; the other one (ceph_ll_get_stripe_osd) aborts the process in Ceph 16. */
static bool place_objects(const struct brio_ceph_file *f, const struct ceph_file_layout *l,
                          struct brio_layout *out)
{
    const struct brio_ceph *c = f->ceph;
    int numbers[ASKED_OBJECTS], osds[MAX_COPIES];
    int width = (int)l->fl_stripe_count;
    int64_t unit = l->fl_stripe_unit, set = (int64_t)l->fl_object_size * width;
    int fd = -1;
    if (f->path)
        fd = c->lib->open(c->mount, f->path, f->readable ? O_RDONLY : O_WRONLY, 0);
    out->nservers = 0;
    for (out->nobjects = 0; fd >= 0 && out->nobjects < ASKED_OBJECTS; out->nobjects++) {
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
    /* Else the objects of a stripe are taken for servers. */
    if (!place_objects(f, &l, out))
        *out = (struct brio_layout){.nservers = (int)l.fl_stripe_count};
    out->stripe = l.fl_stripe_unit;
    out->nextents = 1;
    out->extents[0] = (struct brio_stripes){.hi = BRIO_OFF_MAX,
                                            .unit = l.fl_stripe_unit,
                                            .object = l.fl_object_size,
                                            .width = (int)l.fl_stripe_count,
                                            .n = out->nobjects};
    return BRIO_OK;
}

/* What does not depend on how the file was found. */
#define SLOTS                                                                                  \
    .store = BRIO_STORE_CEPH, .close = close_file, .get_size = get_size, .set_size = set_size, \
    .allocate = allocate, .sync = sync_file, .lock = lock, .layout = layout

const struct brio_fs brio_fs_ceph = {
    .base = {.name = "ceph",
             .about = "CephFS through libcephfs: names that begin with ceph:",
             .hints = hints,
             .conf_size = sizeof(struct brio_ceph_conf),
             .query = query},
    .reach = brio_fs_reach_all,
    .open = open_file,
    .remove = remove_file,
    SLOTS,
};

const struct brio_fs brio_fs_cephmount = {
    .base = {.name = "cephmount",
             .about = "files below a mount of CephFS, through libcephfs",
             .hints = hints,
             .conf_size = sizeof(struct brio_ceph_conf),
             .query = query_mount},
    .reach = brio_ceph_mount_reach,
    .open = open_below_mount,
    .remove = brio_ufs_remove,
    SLOTS,
};
