/* File system kinds by statfs, and the prefixes that select one. */
#include "fs/probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "fs/mount.h"

enum {
    LOCAL = BRIO_FS_LOCAL,
    MAPPABLE = BRIO_FS_MAPPABLE,
    ALIKE = BRIO_FS_ALIKE
};

/* Mappable are those that never need new space for a page that was dirty once: btrfs, f2fs
 * and bcachefs write every change to a new place, and a page that was cleaned in between can
 * meet a full disk at a store, which is a signal and not an error. ZFS keeps a second copy
 * of mapped pages. Overlay files that are open for writing are files of the upper layer,
 * which cannot be a network's. Alike are those whose clients hold each other's caches in
 * check by locks; some others often do, but do not promise it. */
static const struct brio_fs_kind kinds[] = {
    {0xef53, "ext4", LOCAL | MAPPABLE},
    {0x58465342, "xfs", LOCAL | MAPPABLE},
    {0x01021994, "tmpfs", LOCAL | MAPPABLE},
    {0x858458f6, "ramfs", LOCAL | MAPPABLE},
    {0x794c7630, "overlay", LOCAL | MAPPABLE},
    {0x9123683e, "btrfs", LOCAL},
    {0xf2f52010, "f2fs", LOCAL},
    {0xca451a4e, "bcachefs", LOCAL},
    {0x2fc12fc1, "zfs", LOCAL},
    {0x3153464a, "jfs", LOCAL},
    {0x52654973, "reiserfs", LOCAL},
    {0x4d44, "vfat", LOCAL},
    {0x2011bab0, "exfat", LOCAL},
    {0x7366746e, "ntfs3", LOCAL},
    {0x6969, "nfs", 0},
    {0x65735546, "fuse", 0},
    {0x6a656a63, "virtiofs", 0},
    {0x0bd00bd0, "lustre", ALIKE},
    {0x00c36400, "ceph", ALIKE},
    {0x47504653, "gpfs", ALIKE},
    {0x20030528, "pvfs2", ALIKE},
    {0x19830326, "beegfs", 0},
    {0xaad7aaea, "panfs", 0},
    {0x517b, "smb", 0},
    {0xff534d42, "cifs", 0},
    {0xfe534d42, "smb2", 0},
    {0x01021997, "9p", 0},
    {0x5346414f, "afs", 0},
    {0x7461636f, "ocfs2", ALIKE},
    {0x01161970, "gfs2", ALIKE},
};

/* Brio's own and those that ROMIO understands. */
static const char *const prefixes[] = {
    "ufs",    "nfs",    "lustre", "gpfs",  "pvfs",      "pvfs2", "ceph", "panfs", "xfs",
    "testfs", "beegfs", "daos",   "piofs", "quobytefs", "ime",   "nvfs", "sfs",   "hfs",
};

const char *brio_fs_split(const char *path, char prefix[16])
{
    prefix[0] = '\0';
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t n = strlen(prefixes[i]);
        if (strncmp(path, prefixes[i], n) == 0 && path[n] == ':') {
            snprintf(prefix, 16, "%s", prefixes[i]);
            return path + n + 1;
        }
    }
    return path;
}

bool brio_fs_foreign(const char *prefix)
{
    return strcmp(prefix, "ceph") == 0 || strcmp(prefix, "pvfs2") == 0;
}

const struct brio_fs_kind *brio_fs_kind(long type)
{
    /* The numbers have 32 bits; what a long makes of the highest one differs. */
    unsigned long number = (unsigned long)type & 0xffffffffu;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].type == number)
            return &kinds[i];
    return NULL;
}

static int ask(const char *path, struct statfs *out)
{
    int failed;
    do
        failed = statfs(path, out);
    while (failed && errno == EINTR);
    return failed;
}

/* For a file that is not there yet. */
static int ask_directory(const char *path, struct statfs *out)
{
    char dir[BRIO_PATH];
    return brio_fs_directory(path, dir) ? ask(dir, out) : -1;
}

/* What the number cannot tell: who is behind a FUSE. */
static const char *name_of(const struct brio_fs_kind *kind, const char *path)
{
    static const char type[] = "fuse.ceph-fuse ";
    struct brio_mount mount;
    if (strcmp(kind->name, "fuse") == 0 && brio_mount_of(path, &mount) &&
        strncmp(mount.key, type, sizeof type - 1) == 0)
        return "ceph-fuse";
    return kind->name;
}

void brio_fs_probe(const char *path, struct brio_facts *facts)
{
    struct stat st;
    struct statfs fs;
    facts->exists = false;
    facts->local = false;
    facts->fs_type = 0;
    facts->block_size = 4096;
    memset(facts->fs_name, 0, sizeof facts->fs_name); /* facts are compared and hashed whole */
    if (brio_fs_foreign(facts->prefix)) {
        strcpy(facts->fs_name, facts->prefix);
        return;
    }
    facts->exists = stat(path, &st) == 0;
    if (ask(path, &fs) && ask_directory(path, &fs)) {
        strcpy(facts->fs_name, "unknown");
        return;
    }
    const struct brio_fs_kind *kind = brio_fs_kind((long)fs.f_type);
    facts->fs_type = (long)fs.f_type;
    if (fs.f_bsize > 0)
        facts->block_size = (brio_off)fs.f_bsize;
    if (kind) {
        facts->local = kind->traits & BRIO_FS_LOCAL;
        strcpy(facts->fs_name, name_of(kind, path));
    } else {
        snprintf(facts->fs_name, sizeof facts->fs_name, "0x%lx",
                 (unsigned long)fs.f_type & 0xffffffffu);
    }
}
