/* The mount knows names, rights and who the user is, so it opens and creates; libcephfs then
 * takes the file by the number of its inode. Both are clients of the same servers, which keep
 * them coherent by capabilities, so that programs on the mount and ranks see each other's data.
 * Numbers are the same for all clients of one file system, but not beyond it: that it is the
 * same one is made sure before. */
#include "fs/ceph_mount.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>

#include "base/mem.h"
#include "fs/cephsys.h"
#include "fs/mount.h"
#include "fs/ufs.h"

enum {
    PATIENCE = 10, /* seconds for a cluster that nobody has asked for */
    TRIES = 100,   /* while a directory changes, or a file has not arrived, 10 ms each */
    KEPT = 16      /* mounts that were made sure of */
};

static void rest(void)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    nanosleep(&moment, NULL);
}

/* ---- Whether it is the same file system ---------------------------------------------------
 */

static BRIO_ERR refuse(const char *why)
{
    return brio_fail(BRIO_EUNSUPOP, "%s", why);
}

static BRIO_ERR check_cluster(const struct brio_ceph *c, const char *dir)
{
    static const char name[] = "ceph.cluster_fsid";
    char here[64], there[64];
    ssize_t n = getxattr(dir, name, here, sizeof here);
    if (n <= 0)
        return refuse("the mount does not tell its cluster (ceph.cluster_fsid)");
    int m = c->lib->getxattr(c->mount, "/", name, there, sizeof there);
    if (m != n || memcmp(here, there, (size_t)n) != 0)
        return refuse("the mount is of another cluster; ceph_conf names a cluster");
    return BRIO_OK;
}

/* The same number and the same time of the last change, to the nanosecond. */
static bool is_same(const struct brio_ceph *c, const struct stat *st)
{
    struct Inode *inode;
    struct ceph_statx sx;
    struct inodeno_t number = {.val = st->st_ino};
    if (c->lib->ll_lookup_inode(c->mount, number, &inode))
        return false;
    int failed = c->lib->ll_getattr(c->mount, inode, &sx, CEPH_STATX_BASIC_STATS, 0, c->perms);
    c->lib->ll_put(c->mount, inode);
    return !failed && sx.stx_ino == st->st_ino && sx.stx_mode == st->st_mode &&
           sx.stx_ctime.tv_sec == st->st_ctim.tv_sec &&
           sx.stx_ctime.tv_nsec == st->st_ctim.tv_nsec;
}

/* Once is enough for a mount: others may change its directories all the time. True if it is
 * known, or is now since `learn`. */
static bool is_known(const struct brio_ceph *c, dev_t dev, bool learn)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        const struct brio_ceph *c; /* they stay until the process ends */
        dev_t dev;
    } kept[KEPT];
    static int nkept;
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < nkept && (kept[i].c != c || kept[i].dev != dev))
        i++;
    bool known = i < nkept;
    if (!known && learn && nkept < KEPT) {
        kept[nkept].c = c;
        kept[nkept++].dev = dev;
        known = true;
    }
    pthread_mutex_unlock(&lock);
    return known;
}

static BRIO_ERR check_directory(const struct brio_ceph *c, const char *path, const char *dir)
{
    struct stat st, file;
    char value[64];
    if (stat(dir, &st))
        return refuse("its directory cannot be looked at");
    if (stat(path, &file) == 0 && (!S_ISREG(file.st_mode) || file.st_dev != st.st_dev))
        return refuse("it is no file of its directory's file system");
    if (getxattr(dir, "ceph.snap.btime", value, sizeof value) >= 0)
        return refuse("it is in a snapshot");
    for (int i = 0; i < TRIES; i++) {
        if (is_known(c, st.st_dev, false))
            return BRIO_OK;
        if (is_same(c, &st)) {
            (void)is_known(c, st.st_dev, true);
            return BRIO_OK;
        }
        rest();
        if (stat(dir, &st))
            break;
    }
    return refuse("libcephfs does not find its directory; ceph_filesystem names a file system");
}

/* A connection, unless it could not be had before. */
static BRIO_ERR try_cluster(const struct brio_ceph_conf *conf, const struct brio_ceph **out)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct brio_ceph_conf refused;
    static char why[BRIO_ERR_TEXT];
    struct brio_ceph_conf hasty = *conf;
    hasty.timeout = brio_min(conf->timeout, PATIENCE);
    pthread_mutex_lock(&lock);
    bool known = refused.timeout > 0 && strcmp(refused.conf, conf->conf) == 0 &&
                 strcmp(refused.user, conf->user) == 0 && strcmp(refused.name, conf->name) == 0;
    enum brio_err err = known ? BRIO_EUNSUPOP : brio_ceph_connect(&hasty, out);
    if (err && !known) {
        refused = hasty;
        brio_err_save(why);
    }
    if (err)
        err = refuse(why);
    pthread_mutex_unlock(&lock);
    return err;
}

BRIO_ERR brio_ceph_mount_reach(const char *path, const void *conf)
{
    const struct brio_ceph *c;
    char dir[BRIO_PATH];
    if (!brio_fs_directory(path, dir))
        return refuse("its name is too long");
    enum brio_err err = try_cluster(conf, &c);
    if (!err)
        err = check_cluster(c, dir);
    return err ? err : check_directory(c, path, dir);
}

/* ---- Opening ----------------------------------------------------------------------------- */

static int take_inode(struct brio_ceph_file *f, ino_t number, int access)
{
    const struct brio_ceph *c = f->ceph;
    struct inodeno_t ino = {.val = number};
    int failed = -ENOENT;
    for (int i = 0; failed == -ENOENT && i < TRIES; i++) {
        if (i > 0)
            rest();
        failed = c->lib->ll_lookup_inode(c->mount, ino, &f->inode);
    }
    if (failed)
        return failed;
    failed = c->lib->ll_open(c->mount, f->inode, access, &f->fh, c->perms);
    if (failed)
        c->lib->ll_put(c->mount, f->inode);
    return failed;
}

/* The directory of the cluster that is mounted, as the kernel's client writes it in the source:
 * "...:/dir" or "...=/dir"; ceph-fuse does not tell, and mostly it is the root. */
static void root_of(const struct brio_mount *mount, char root[BRIO_MOUNT_POINT])
{
    char source[BRIO_MOUNT_POINT];
    root[0] = '\0';
    if (sscanf(mount->key, "%*s %1023s", source) != 1)
        return;
    for (const char *c = source; *c; c++)
        if ((*c == ':' || *c == '=') && c[1] == '/')
            strcpy(root, c + 1);
    if (strcmp(root, "/") == 0)
        root[0] = '\0';
}

/* The path in the cluster, for questions that need one; only if it leads to this inode. */
static void find_path(struct brio_ceph_file *f, const char *path, ino_t number)
{
    char real[PATH_MAX], root[BRIO_MOUNT_POINT], all[PATH_MAX + BRIO_MOUNT_POINT];
    struct brio_mount mount;
    struct ceph_statx sx;
    const struct brio_ceph *c = f->ceph;
    if (!realpath(path, real) || !brio_mount_of(path, &mount))
        return;
    root_of(&mount, root);
    size_t point = strcmp(mount.point, "/") == 0 ? 0 : strlen(mount.point);
    snprintf(all, sizeof all, "%s%s", root, real + point);
    if (c->lib->statx(c->mount, all, &sx, CEPH_STATX_INO, 0) == 0 && sx.stx_ino == number &&
        brio_strdup(all, &f->path))
        f->path = NULL;
}

BRIO_ERR brio_ceph_mount_open(struct brio_ceph_file *f, const struct brio_fs_open *how)
{
    struct brio_ceph_stripes s =
        brio_ceph_round(how, f->ceph->lib->ll_num_osds(f->ceph->mount));
    struct brio_store store;
    struct stat st;
    void *ufs;
    enum brio_err err = brio_cephsys_open(how, &s, &ufs, &store);
    if (err)
        return err;
    f->readable = store.readable;
    f->writable = store.writable;
    int access = !store.writable ? O_RDONLY : store.readable ? O_RDWR : O_WRONLY;
    int failed = fstat(brio_ufs_fd(ufs), &st) ? -errno : take_inode(f, st.st_ino, access);
    if (failed)
        err = brio_fail_errno(-failed, "open of %s by libcephfs", how->path);
    else if (!how->there) /* who asks for the layout */
        find_path(f, how->path, st.st_ino);
    enum brio_err closed = brio_ufs_close(ufs);
    return err ? err : closed;
}
