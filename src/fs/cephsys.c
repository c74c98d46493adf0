/* The stripes of CephFS through the attribute ceph.file.layout of its mounts, by the kernel or
 * by ceph-fuse. Which server has an object, nobody tells here: the objects of a stripe are
 * taken for servers. */
#include "fs/cephsys.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/log.h"
#include "fs/probe.h"
#include "fs/ufs.h"

static const char attribute[] = "ceph.file.layout";

enum {
    UNIT = 65536,        /* stripe units are multiples of it */
    MAX_UNIT = 64 << 20, /* and of objects no larger than the servers like */
    OBJECT = 4 << 20,    /* Ceph's own size for objects */
    MAX_WIDTH = 1024     /* objects that a stripe goes round */
};

struct brio_ceph_stripes brio_ceph_round(const struct brio_fs_open *how, int nosds)
{
    struct brio_ceph_stripes s = {0};
    if (how->stripe <= 0 && how->nservers <= 0)
        return s;
    brio_off unit = how->stripe > 0 ? how->stripe : OBJECT;
    unit = brio_min((unit + UNIT - 1) / UNIT * UNIT, MAX_UNIT);
    s.unit = (int)unit;
    s.width = (int)brio_max(1, brio_min(how->nservers > 0 ? how->nservers : nosds, MAX_WIDTH));
    s.object = (int)(unit < OBJECT ? OBJECT / unit * unit : unit);
    if (how->stripe > 0 && unit != how->stripe)
        brio_log(BRIO_NOTE, "%s: Ceph's stripes are multiples of 64 KiB: %lld instead of %lld",
                 how->path, (long long)unit, (long long)how->stripe);
    return s;
}

bool brio_cephsys_is(const struct brio_facts *facts)
{
    bool ceph = strcmp(facts->fs_name, "ceph") == 0 || strcmp(facts->fs_name, "ceph-fuse") == 0;
    return ceph && !brio_fs_foreign(facts->prefix);
}

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (!brio_cephsys_is(facts))
        return brio_answer(-1, "the file is below no mount of CephFS");
    return brio_answer(40, "the file is below a mount of CephFS");
}

/* True if the file was not there and now is, with stripes if Ceph would have them. */
static bool create_striped(const struct brio_fs_open *how, const struct brio_ceph_stripes *s)
{
    char value[128];
    int perm = how->perm < 0 ? 0666 : how->perm;
    int fd = open(how->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, perm);
    if (fd < 0)
        return false; /* it is there already, or the open that follows says why */
    int n = snprintf(value, sizeof value, "stripe_unit=%d stripe_count=%d object_size=%d",
                     s->unit, s->width, s->object);
    if (fsetxattr(fd, attribute, value, (size_t)n, 0))
        brio_log(BRIO_WARN, "%s: Ceph does not stripe it (%s): %s", how->path, value,
                 strerror(errno));
    close(fd);
    return true;
}

BRIO_ERR brio_cephsys_open(const struct brio_fs_open *how,
                           const struct brio_ceph_stripes *stripes, void **self,
                           struct brio_store *store)
{
    struct brio_fs_open plain = *how;
    if (stripes->unit > 0 && how->create && how->amode & MPI_MODE_CREATE &&
        create_striped(how, stripes))
        plain.create = false;
    return brio_ufs_open(&plain, NULL, self, store);
}

static BRIO_ERR open_file(const struct brio_fs_open *how, const void *conf, void **self,
                          struct brio_store *store)
{
    (void)conf;
    struct brio_ceph_stripes s = brio_ceph_round(how, 1);
    return brio_cephsys_open(how, &s, self, store);
}

static BRIO_ERR layout(void *self, struct brio_layout *out)
{
    char value[512];
    struct brio_ceph_stripes s;
    brio_layout_plain(out);
    ssize_t n = fgetxattr(brio_ufs_fd(self), attribute, value, sizeof value - 1);
    value[n > 0 ? n : 0] = '\0';
    if (sscanf(value, "stripe_unit=%d stripe_count=%d object_size=%d", &s.unit, &s.width,
               &s.object) != 3 ||
        s.unit <= 0 || s.width <= 0 || s.object < s.unit || s.object % s.unit != 0) {
        brio_log(BRIO_NOTE, "no layout from Ceph: %s", n < 0 ? strerror(errno) : value);
        return BRIO_OK;
    }
    brio_layout_round(out, s.width, 0, s.unit);
    out->extents[0].object = s.object;
    return BRIO_OK;
}

const struct brio_fs brio_fs_cephsys = {
    .base = {.name = "cephsys",
             .about =
                 "files below a mount of CephFS, by the system's calls: stripes as asked for",
             .query = query},
    .open = open_file,
    .layout = layout,
    BRIO_UFS_SLOTS,
};
