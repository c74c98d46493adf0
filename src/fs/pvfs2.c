/* Files of OrangeFS through libpvfs2, in user space: no mount is needed. The client keeps
 * nothing, so that a byte that was written is with the servers. */
#include "fs/pvfs2.h"

#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "fs/fill.h"
#include "fs/fs.h"
#include "fs/lock.h"
#include "fs/umask.h"

enum {
    MIN_UNIT = 4096, /* of shorter ones a small access would have too many pieces */
    UNIT = 65536     /* OrangeFS's own */
};

static const struct brio_hint hints[] = {
    {.name = "pvfs2_tab",
     .kind = BRIO_HINT_TEXT,
     .offset = offsetof(struct brio_pvfs2_conf, tab),
     .def = "",
     .help = "file that lists OrangeFS's file systems and mount points, in the form of fstab; "
             "without it PVFS2TAB_FILE, then /etc/fstab and /etc/pvfs2tab"},
    {.name = "pvfs2_lock_timeout",
     .kind = BRIO_HINT_INT,
     .offset = offsetof(struct brio_pvfs2_conf, lock_timeout),
     .def = "120",
     .min = 1,
     .max = 86400,
     .help = "seconds that another access may hold the file in atomic mode before it is taken "
             "for dead, which is an error"},
    {.name = NULL},
};

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (strcmp(facts->prefix, "pvfs2") != 0)
        return brio_answer(-1, "the name does not begin with pvfs2:");
    return brio_answer(80, "the name begins with pvfs2:");
}

/* ---- Names --------------------------------------------------------------------------------
 */

/* The object at a path of the file system: 0 or an errno. */
static int look_up(PVFS_fs_id fs, const char *path, PVFS_object_ref *out)
{
    PVFS_sysresp_lookup r;
    memset(&r, 0, sizeof r);
    const struct brio_pvfs2_lib *lib = brio_pvfs2_begin();
    int failed = lib->sys_lookup(fs, (char *)(uintptr_t)path, &lib->who, &r,
                                 PVFS2_LOOKUP_LINK_FOLLOW, NULL);
    brio_pvfs2_end();
    *out = r.ref;
    return failed ? brio_pvfs2_errno(failed) : 0;
}

/* The directory of a path, and the name in it, which is part of the path: 0 or an errno. */
static int look_up_directory(PVFS_fs_id fs, const char *path, PVFS_object_ref *dir,
                             const char **name)
{
    char *above;
    *name = strrchr(path, '/') + 1;
    size_t n = (size_t)(*name - path);
    if (!**name)
        return EISDIR;
    if (brio_strdup(path, &above))
        return ENOMEM;
    above[n > 1 ? n - 1 : n] = '\0';
    int failed = look_up(fs, above, dir);
    free(above);
    return failed;
}

static int get_attributes(PVFS_object_ref ref, uint32_t mask, PVFS_sys_attr *out)
{
    PVFS_sysresp_getattr r;
    memset(&r, 0, sizeof r);
    const struct brio_pvfs2_lib *lib = brio_pvfs2_begin();
    int failed = lib->sys_getattr(ref, mask, &lib->who, &r, NULL);
    brio_pvfs2_end();
    *out = r.attr;
    return failed ? brio_pvfs2_errno(failed) : 0;
}

/* ---- Opening ------------------------------------------------------------------------------
 */

/* What was asked for, as the file system can do it; a distribution of NULL and 0 servers leave
 * it to the directory. With the library's lock held. */
static int choose_stripes(const struct brio_pvfs2_lib *lib, PVFS_fs_id fs,
                          const struct brio_fs_open *how, PVFS_sys_dist **dist, int *nservers)
{
    int most;
    int failed = lib->mgmt_count_servers(fs, BRIO_PVFS2_IO_SERVER, &most);
    if (failed || (how->stripe <= 0 && how->nservers <= 0))
        return failed;
    PVFS_size unit = brio_max(how->stripe > 0 ? how->stripe : UNIT, MIN_UNIT);
    *nservers = how->nservers > 0 ? (int)brio_min(how->nservers, most) : most;
    if (how->nservers > most || (how->stripe > 0 && how->stripe != unit))
        brio_log(BRIO_NOTE, "pvfs2:%s: %d servers with stripes of %lld bytes, not %d and %lld",
                 how->path, *nservers, (long long)unit, how->nservers, (long long)how->stripe);
    *dist = lib->sys_dist_lookup("simple_stripe");
    if (!*dist)
        return -PVFS_ENOMEM;
    return lib->sys_dist_setparam(*dist, "strip_size", &unit);
}

/* Makes the file, which is not there yet: 0 or an errno. */
static int make(const struct brio_pvfs2_place *place, const struct brio_fs_open *how)
{
    PVFS_object_ref dir;
    PVFS_sysresp_create r;
    const char *name;
    PVFS_sys_dist *dist = NULL;
    int nservers = 0;
    mode_t perm = (mode_t)(how->perm < 0 ? 0666 : how->perm) & ~brio_fs_umask();
    int failed = look_up_directory(place->fs, place->path, &dir, &name);
    if (failed)
        return failed;
    const struct brio_pvfs2_lib *lib = brio_pvfs2_begin();
    PVFS_time now = (PVFS_time)time(NULL);
    PVFS_sys_attr attr = {.owner = lib->who.userid,
                          .group = lib->who.num_groups > 0 ? lib->who.group_array[0] : 0,
                          .perms = perm & PVFS_PERM_VALID,
                          .atime = now,
                          .mtime = now,
                          .ctime = now,
                          .mask = PVFS_ATTR_SYS_ALL_SETABLE};
    failed = choose_stripes(lib, place->fs, how, &dist, &nservers);
    if (nservers > 0) {
        attr.dfile_count = nservers;
        attr.mask |= PVFS_ATTR_SYS_DFILE_COUNT;
    }
    if (!failed)
        failed = lib->sys_create((char *)(uintptr_t)name, dir, attr, &lib->who, dist, &r, NULL,
                                 NULL);
    if (dist)
        lib->sys_dist_free(dist);
    brio_pvfs2_end();
    return failed ? brio_pvfs2_errno(failed) : 0;
}

static bool in_group(const PVFS_credential *who, PVFS_gid group)
{
    for (uint32_t i = 0; i < who->num_groups; i++)
        if (who->group_array[i] == group)
            return true;
    return false;
}

/* The permissions that count for us, as the last three bits. Nothing is opened at the servers,
 * which would say so only at the first access. */
static unsigned granted(const PVFS_credential *who, const PVFS_sys_attr *attr)
{
    if (who->userid == 0)
        return 7;
    if (who->userid == attr->owner)
        return attr->perms >> 6 & 7;
    return in_group(who, attr->group) ? attr->perms >> 3 & 7 : attr->perms & 7;
}

static int kind_error(const PVFS_sys_attr *attr)
{
    if (attr->objtype == PVFS_TYPE_DIRECTORY)
        return EISDIR;
    return attr->objtype == PVFS_TYPE_METAFILE ? 0 : ENXIO;
}

/* Whether stripes go round: other distributions are not known here. */
static bool is_striped(PVFS_object_ref ref)
{
    char key[] = "system.pvfs2.md", value[4096];
    PVFS_ds_keyval k = {.buffer = key, .buffer_sz = sizeof key};
    PVFS_ds_keyval v = {.buffer = value, .buffer_sz = sizeof value};
    const struct brio_pvfs2_lib *lib = brio_pvfs2_begin();
    int failed = lib->sys_geteattr(ref, &lib->who, &k, &v, NULL);
    brio_pvfs2_end();
    return !failed && v.read_sz <= v.buffer_sz &&
           memmem(value, (size_t)v.read_sz, "simple_stripe", 13);
}

/* How the file is dealt out. One object has no stripes, whatever they would be. */
static int find_stripes(struct brio_pvfs2_file *f, const PVFS_sys_attr *attr)
{
    f->nobjects = attr->dfile_count;
    f->strip = f->nobjects > 0 ? attr->blksize / f->nobjects : 0;
    if (f->nobjects > 1 && (f->strip <= 0 || !is_striped(f->ref)))
        return EOPNOTSUPP;
    if (f->strip <= 0)
        f->strip = UNIT;
    return 0;
}

/* Opens what is there: 0 or an errno. */
static int find(struct brio_pvfs2_file *f, const struct brio_pvfs2_place *place, int amode)
{
    PVFS_sys_attr attr;
    int failed = look_up(place->fs, place->path, &f->ref);
    if (!failed)
        failed =
            get_attributes(f->ref, PVFS_ATTR_SYS_ALL_NOSIZE & ~PVFS_ATTR_SYS_DIR_HINT, &attr);
    if (!failed)
        failed = kind_error(&attr);
    if (failed)
        return failed;
    unsigned allowed = granted(&place->lib->who, &attr);
    f->readable = allowed & 4;
    f->writable = allowed & 2 && !(amode & MPI_MODE_RDONLY);
    bool enough =
        (f->readable || amode & MPI_MODE_WRONLY) && (f->writable || amode & MPI_MODE_RDONLY);
    return enough ? find_stripes(f, &attr) : EACCES;
}

static BRIO_ERR refuse(const char *path, int failed)
{
    if (failed == ENXIO)
        return brio_fail(BRIO_EBADFILE, "open of pvfs2:%s: not a file", path);
    if (failed == EOPNOTSUPP)
        return brio_fail(
            BRIO_EUNSUPOP,
            "open of pvfs2:%s: Brio knows no other distribution than simple_stripe", path);
    return brio_fail_errno(failed, "open of pvfs2:%s", path);
}

static BRIO_ERR open_file(const struct brio_fs_open *how, const void *conf, void **self,
                          struct brio_store *store)
{
    const struct brio_pvfs2_conf *c = conf;
    struct brio_pvfs2_place place;
    void *mem;
    int failed = 0;
    enum brio_err err = brio_pvfs2_connect(how->path, c, &place);
    if (!err)
        err = brio_calloc(1, sizeof(struct brio_pvfs2_file), &mem);
    if (err)
        return err;
    struct brio_pvfs2_file *f = mem;
    err = brio_strdup(how->path, &f->path);
    if (err) {
        free(f);
        return err;
    }
    f->lock_timeout = c->lock_timeout;
    if (how->create && how->amode & MPI_MODE_CREATE) {
        failed = make(&place, how);
        if (failed == EEXIST && !(how->amode & MPI_MODE_EXCL))
            failed = 0;
    }
    if (!failed)
        failed = find(f, &place, how->amode);
    if (failed) {
        free(f->path);
        free(f);
        return refuse(how->path, failed);
    }
    if (!how->there && f->writable)
        brio_pvfs2_lock_init(f);
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
    struct brio_pvfs2_file *f = self;
    free(f->path);
    free(f);
    return BRIO_OK;
}

/* The library removes directories, too. */
static int remove_there(const struct brio_pvfs2_place *place)
{
    PVFS_object_ref dir, ref;
    PVFS_sys_attr attr;
    const char *name;
    int failed = look_up(place->fs, place->path, &ref);
    if (!failed)
        failed = get_attributes(ref, PVFS_ATTR_SYS_TYPE, &attr);
    if (!failed)
        failed = kind_error(&attr);
    if (!failed)
        failed = look_up_directory(place->fs, place->path, &dir, &name);
    if (failed)
        return failed;
    const struct brio_pvfs2_lib *lib = brio_pvfs2_begin();
    failed = lib->sys_remove((char *)(uintptr_t)name, dir, &lib->who, NULL);
    brio_pvfs2_end();
    return failed ? brio_pvfs2_errno(failed) : 0;
}

static BRIO_ERR remove_file(const char *path, const void *conf)
{
    struct brio_pvfs2_place place;
    enum brio_err err = brio_pvfs2_connect(path, conf, &place);
    if (err)
        return err;
    int failed = remove_there(&place);
    return failed ? brio_fail_errno(failed, "removing of pvfs2:%s", path) : BRIO_OK;
}

/* ---- Sizes ----------------------------------------------------------------------------------
 */

static BRIO_ERR get_size(void *self, brio_off *out)
{
    struct brio_pvfs2_file *f = self;
    PVFS_sys_attr attr;
    int failed = get_attributes(f->ref, PVFS_ATTR_SYS_SIZE, &attr);
    if (failed)
        return brio_fail_errno(failed, "size of pvfs2:%s", f->path);
    *out = attr.size;
    return BRIO_OK;
}

static BRIO_ERR set_size(void *self, brio_off size)
{
    struct brio_pvfs2_file *f = self;
    int failed = EINVAL;
    if (size >= 0) {
        const struct brio_pvfs2_lib *lib = brio_pvfs2_begin();
        failed = lib->sys_truncate(f->ref, size, &lib->who, NULL);
        brio_pvfs2_end();
        failed = failed ? brio_pvfs2_errno(failed) : 0;
    }
    if (failed)
        return brio_fail_errno(failed, "change of size to %lld bytes", (long long)size);
    return BRIO_OK;
}

static brio_off write_zeros(void *self, void *zeros, brio_off at, size_t len)
{
    const struct brio_pvfs2_file *f = self;
    PVFS_Request mem;
    PVFS_sysresp_io r = {0};
    const struct brio_pvfs2_lib *lib = brio_pvfs2_begin();
    int failed = lib->Request_contiguous((int32_t)len, *lib->byte, &mem);
    if (!failed) {
        failed =
            lib->sys_io(f->ref, *lib->byte, at, zeros, mem, &lib->who, &r, PVFS_IO_WRITE, NULL);
        lib->Request_free(&mem);
    }
    brio_pvfs2_end();
    return failed ? -brio_pvfs2_errno(failed) : r.total_completed;
}

/* There is no call for it. */
static BRIO_ERR allocate(void *self, brio_off size)
{
    brio_off end = 0;
    enum brio_err err = get_size(self, &end);
    return err ? err : brio_fs_fill(write_zeros, self, "PVFS_sys_write", end, size);
}

static BRIO_ERR sync_file(void *self)
{
    struct brio_pvfs2_file *f = self;
    const struct brio_pvfs2_lib *lib = brio_pvfs2_begin();
    int failed = lib->sys_flush(f->ref, &lib->who, NULL);
    brio_pvfs2_end();
    return failed ? brio_fail_errno(brio_pvfs2_errno(failed), "PVFS_sys_flush") : BRIO_OK;
}

/* ---- Locks and layout -------------------------------------------------------------------- */

static BRIO_ERR lock(void *self, enum brio_lock how, brio_off off, brio_off len)
{
    struct brio_pvfs2_file *f = self;
    (void)off; /* it is always the whole file */
    if (len <= 0)
        return BRIO_OK;
    enum brio_err err = brio_lock_allowed(how, f->writable);
    if (err)
        return err;
    return how == BRIO_LOCK_NONE ? brio_pvfs2_unlock(f) : brio_pvfs2_lock(f);
}

/* The addresses of the servers, in the order of the stripes: 0, or something failed. */
static int ask_servers(const struct brio_pvfs2_lib *lib, const struct brio_pvfs2_file *f,
                       int64_t *servers)
{
    PVFS_handle handles[BRIO_LAYOUT_OBJECTS];
    int failed = lib->mgmt_get_dfile_array(f->ref, &lib->who, handles, f->nobjects, NULL);
    for (int i = 0; !failed && i < f->nobjects; i++)
        failed = lib->mgmt_map_handle(f->ref.fs_id, handles[i], &servers[i]);
    return failed;
}

static BRIO_ERR layout(void *self, struct brio_layout *out)
{
    struct brio_pvfs2_file *f = self;
    int64_t servers[BRIO_LAYOUT_OBJECTS];
    brio_layout_plain(out);
    if (f->nobjects < 1 || f->nobjects > BRIO_LAYOUT_OBJECTS)
        return BRIO_OK;
    const struct brio_pvfs2_lib *lib = brio_pvfs2_begin();
    if (!ask_servers(lib, f, servers))
        brio_layout_dealt(out, f->strip, f->nobjects, servers);
    brio_pvfs2_end();
    return BRIO_OK;
}

const struct brio_fs brio_fs_pvfs2 = {
    .base = {.name = "pvfs2",
             .about = "OrangeFS through libpvfs2: names that begin with pvfs2:",
             .hints = hints,
             .conf_size = sizeof(struct brio_pvfs2_conf),
             .query = query},
    .store = BRIO_STORE_PVFS2,
    .reach = brio_fs_reach_all,
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
