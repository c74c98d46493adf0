/* Files of the operating system, by its own calls: any mounted file system. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "fs/fill.h"
#include "fs/lock.h"
#include "fs/probe.h"
#include "fs/remote.h"
#include "fs/ufs.h"

struct ufs {
    int fd;
    int direct;   /* see struct brio_store */
    bool regular; /* else a device */
    bool readable, writable;
    bool remote;  /* see fs/remote.h */
    bool writing; /* it is, and locked exclusively */
};

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (brio_fs_foreign(facts->prefix))
        return brio_answer(-1, "the system knows no names of %s:", facts->prefix);
    return brio_answer(10, "%s is reached by the system's own calls", facts->fs_name);
}

/* O_NONBLOCK keeps the open of a named pipe from waiting for its other end. */
static int try_open(const char *path, int flags, int perm)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, perm);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Whether other nodes' data may be missing in what this node has in memory of the file. */
static bool is_remote(const struct brio_fs_open *how, int fd)
{
    struct statfs fs;
    if (!how->spread || fstatfs(fd, &fs))
        return false;
    const struct brio_fs_kind *kind = brio_fs_kind((long)fs.f_type);
    return !(kind && kind->traits & (BRIO_FS_LOCAL | BRIO_FS_ALIKE));
}

/* The same for files that other nodes may have replaced: what the client still knew under the
 * name is closed again, and errno is ESTALE. */
static int open_present(const struct brio_fs_open *how, int flags, int perm)
{
    int fd = try_open(how->path, flags, perm);
    if (fd < 0 || !is_remote(how, fd) || !brio_remote_gone(fd))
        return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

/* A client of a network may need a moment to see a file that another one has just made, or to
 * forget one that is gone. */
static bool may_appear(const struct brio_fs_open *how, int tries)
{
    const struct timespec moment = {.tv_nsec = 50000000};
    enum {
        TRIES = 100
    };
    bool missing = errno == ESTALE || (errno == ENOENT && how->there);
    if (!how->spread || !missing || tries >= TRIES)
        return false;
    nanosleep(&moment, NULL);
    return true;
}

/* The descriptor, or -1 and errno. *access is the mode that the system granted. */
static int open_any(const struct brio_fs_open *how, int *access)
{
    int perm = how->perm < 0 ? 0666 : how->perm;
    int flags = 0;
    if (how->create && (how->amode & MPI_MODE_CREATE))
        flags = how->amode & MPI_MODE_EXCL ? O_CREAT | O_EXCL : O_CREAT;
    *access = how->amode & MPI_MODE_RDONLY ? O_RDONLY : O_RDWR;
    int fd = open_present(how, flags | *access, perm);
    for (int i = 0; fd < 0 && may_appear(how, i); i++)
        fd = open_present(how, flags | *access, perm);
    if (fd < 0 && errno == EACCES && (how->amode & MPI_MODE_WRONLY)) {
        *access = O_WRONLY;
        fd = try_open(how->path, flags | *access, perm);
    }
    return fd;
}

static BRIO_ERR fail_open(int errnum, const struct brio_fs_open *how)
{
    if (errnum == ENXIO) /* a socket */
        return brio_fail(BRIO_EBADFILE, "open of %s: not a file", how->path);
    return brio_fail_errno(errnum, "open of %s", how->path);
}

/* Refuses what has no offsets. */
static BRIO_ERR check_kind(int fd, const char *path, struct stat *st)
{
    if (fstat(fd, st))
        return brio_fail_errno(errno, "fstat of %s", path);
    if (S_ISDIR(st->st_mode))
        return brio_fail_errno(EISDIR, "open of %s", path);
    if (!S_ISREG(st->st_mode) && !S_ISBLK(st->st_mode) && !S_ISCHR(st->st_mode))
        return brio_fail(BRIO_EBADFILE, "open of %s: neither a file nor a device", path);
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK))
        return brio_fail_errno(errno, "fcntl of %s", path);
    return BRIO_OK;
}

/* Reads past this node's page cache, where that cannot be trusted. */
static void go_remote(struct ufs *ufs)
{
    ufs->remote = true;
    ufs->direct = ufs->readable ? brio_remote_direct(ufs->fd) : -1;
}

static void describe(struct ufs *ufs, const struct brio_fs_open *how, const struct stat *st,
                     struct brio_store *store)
{
    struct statfs fs;
    const struct brio_fs_kind *kind = NULL;
    if (ufs->regular && fstatfs(ufs->fd, &fs) == 0)
        kind = brio_fs_kind((long)fs.f_type);
    if (ufs->regular && is_remote(how, ufs->fd))
        go_remote(ufs);
    unsigned traits = kind ? kind->traits : 0;
    *store = (struct brio_store){.fd = ufs->fd,
                                 .direct = ufs->direct,
                                 .readable = ufs->readable,
                                 .writable = ufs->writable,
                                 .remote = ufs->remote,
                                 .local = traits & BRIO_FS_LOCAL,
                                 .mappable = traits & BRIO_FS_MAPPABLE,
                                 .block_size = st->st_blksize > 0 ? st->st_blksize : 4096};
}

BRIO_ERR brio_ufs_open(const struct brio_fs_open *how, const void *conf, void **self,
                       struct brio_store *store)
{
    (void)conf;
    struct ufs *ufs;
    struct stat st;
    void *mem;
    int access;
    enum brio_err err = brio_calloc(1, sizeof *ufs, &mem);
    if (err)
        return err;
    ufs = mem;
    ufs->direct = -1;
    ufs->fd = open_any(how, &access);
    if (ufs->fd < 0) {
        err = fail_open(errno, how);
        goto free_self;
    }
    err = check_kind(ufs->fd, how->path, &st);
    if (err)
        goto close_fd;
    ufs->regular = S_ISREG(st.st_mode);
    ufs->readable = access != O_WRONLY;
    ufs->writable = access != O_RDONLY;
    describe(ufs, how, &st, store);
    *self = ufs;
    return BRIO_OK;
close_fd:
    close(ufs->fd);
free_self:
    free(ufs);
    return err;
}

BRIO_ERR brio_ufs_close(void *self)
{
    struct ufs *ufs = self;
    /* Linux has closed it even when the call was interrupted. */
    int failed = close(ufs->fd) && errno != EINTR ? errno : 0;
    if (ufs->direct >= 0)
        close(ufs->direct);
    free(ufs);
    return failed ? brio_fail_errno(failed, "close") : BRIO_OK;
}

BRIO_ERR brio_ufs_remove(const char *path, const void *conf)
{
    (void)conf;
    struct stat st;
    if (unlink(path) == 0)
        return BRIO_OK;
    int failed = errno;
    if (failed == EPERM && lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
        failed = EISDIR; /* what POSIX calls a directory here */
    return brio_fail_errno(failed, "unlink of %s", path);
}

BRIO_ERR brio_ufs_get_size(void *self, brio_off *out)
{
    struct ufs *ufs = self;
    struct stat st;
    if (ufs->remote) {
        *out = brio_remote_size(ufs->fd);
        return *out < 0 ? brio_fail_errno(errno, "statx") : BRIO_OK;
    }
    if (fstat(ufs->fd, &st))
        return brio_fail_errno(errno, "fstat");
    if (S_ISBLK(st.st_mode)) {
        off_t end = lseek(ufs->fd, 0, SEEK_END);
        if (end < 0)
            return brio_fail_errno(errno, "lseek to the end");
        *out = end;
    } else {
        *out = st.st_size;
    }
    return BRIO_OK;
}

BRIO_ERR brio_ufs_set_size(void *self, brio_off size)
{
    struct ufs *ufs = self;
    int failed;
    if (!ufs->regular)
        return brio_fail(BRIO_EUNSUPOP, "a device cannot be resized");
    do
        failed = ftruncate(ufs->fd, size);
    while (failed && errno == EINTR);
    if (failed)
        return brio_fail_errno(errno, "ftruncate to %lld bytes", (long long)size);
    return BRIO_OK;
}

static brio_off write_zeros(void *self, void *zeros, brio_off off, size_t len)
{
    const struct ufs *ufs = self;
    ssize_t n = pwrite(ufs->fd, zeros, len, off);
    return n < 0 ? -errno : n;
}

BRIO_ERR brio_ufs_allocate(void *self, brio_off size)
{
    struct ufs *ufs = self;
    brio_off old;
    int failed;
    if (size == 0)
        return BRIO_OK;
    if (!ufs->regular)
        return brio_fail(BRIO_EUNSUPOP, "a device cannot be resized");
    do
        failed = fallocate(ufs->fd, 0, 0, size);
    while (failed && errno == EINTR);
    if (!failed)
        return BRIO_OK;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return brio_fail_errno(errno, "fallocate of %lld bytes", (long long)size);
    enum brio_err err = brio_ufs_get_size(ufs, &old);
    return err ? err : brio_fs_fill(write_zeros, ufs, "pwrite", old, size);
}

BRIO_ERR brio_ufs_sync(void *self)
{
    struct ufs *ufs = self;
    int failed;
    do
        failed = ufs->remote ? brio_remote_forget(ufs->fd) : fsync(ufs->fd);
    while (failed && errno == EINTR);
    /* Devices and read-only mounts that have nothing to sync say so. */
    if (failed && (errno == EINVAL || errno == EROFS))
        return BRIO_OK;
    return failed ? brio_fail_errno(errno, "fsync") : BRIO_OK;
}

/* The next who locks the file, on another node, must find what was written. */
static BRIO_ERR give_up_writing(struct ufs *ufs)
{
    ufs->writing = false;
    return brio_ufs_sync(ufs);
}

/* Locks of the open file description: they exclude other opens of this process as well. */
BRIO_ERR brio_ufs_lock(void *self, enum brio_lock how, brio_off off, brio_off len)
{
    struct ufs *ufs = self;
    int failed;
    if (len <= 0)
        return BRIO_OK;
    enum brio_err err = brio_lock_allowed(how, ufs->writable);
    if (err)
        return err;
    /* The kernel wants a descriptor that can do what it locks against. */
    int type = how == BRIO_LOCK_NONE                          ? F_UNLCK
               : how == BRIO_LOCK_EXCLUSIVE || !ufs->readable ? F_WRLCK
                                                              : F_RDLCK;
    if (how == BRIO_LOCK_NONE && ufs->writing)
        err = give_up_writing(ufs);
    struct flock range = brio_lock_range(type, off, len);
    do
        failed = fcntl(ufs->fd, F_OFD_SETLKW, &range);
    while (failed && errno == EINTR);
    if (failed && type == F_UNLCK) {
        /* To cut a range the system may need memory; to give up all that this open holds,
         * which is one range at a time, it needs none. */
        range.l_start = range.l_len = 0;
        failed = fcntl(ufs->fd, F_OFD_SETLKW, &range);
    }
    if (!failed && ufs->remote && how != BRIO_LOCK_NONE) {
        ufs->writing = how == BRIO_LOCK_EXCLUSIVE;
        (void)posix_fadvise(ufs->fd, 0, 0, POSIX_FADV_DONTNEED);
    }
    if (!failed)
        return err;
    int errnum = errno;
    err = brio_fail_errno(errnum, "fcntl lock of %lld bytes at offset %lld", (long long)len,
                          (long long)off);
    bool unable = errnum == ENOLCK || errnum == ENOSYS || errnum == EINVAL || errnum == EBADF;
    return unable ? BRIO_EUNSUPOP : err;
}

int brio_ufs_fd(const void *self)
{
    return ((const struct ufs *)self)->fd;
}

static BRIO_ERR layout(void *self, struct brio_layout *out)
{
    (void)self;
    brio_layout_plain(out);
    return BRIO_OK;
}

BRIO_ERR brio_fs_reach_all(const char *path, const void *conf)
{
    (void)path;
    (void)conf;
    return BRIO_OK;
}

const struct brio_fs brio_fs_ufs = {
    .base = {.name = "ufs", .about = "files of the operating system", .query = query},
    .open = brio_ufs_open,
    .layout = layout,
    BRIO_UFS_SLOTS,
};
