/* What can be known about a name before the file is opened. Looks, never touches. */
#ifndef BRIO_FS_PROBE_H
#define BRIO_FS_PROBE_H

#include "mod/module.h"

/* The path behind a known "name:" (ufs:, nfs:, lustre:, ...), which is put into `prefix`, or
 * the path itself and prefix "". A colon behind any other word belongs to the file's name. */
const char *brio_fs_split(const char *path, char prefix[16]);

/* Whether the names behind a prefix are not the operating system's: it must not be asked. */
bool brio_fs_foreign(const char *prefix);

/* Fills exists, local, fs_type, fs_name and block_size for a path without prefix, which is in
 * facts->prefix; the other facts stay as they are. Where neither the file nor its directory
 * can be reached, fs_name is "unknown", and the open will say why. */
void brio_fs_probe(const char *path, struct brio_facts *facts);

enum brio_fs_trait {
    BRIO_FS_LOCAL = 1,    /* only this kernel writes to it: one page cache for all */
    BRIO_FS_MAPPABLE = 2, /* see struct brio_store */
    BRIO_FS_ALIKE = 4     /* of many kernels, which see to it that their caches agree */
};

/* What a number from statfs says. */
struct brio_fs_kind {
    unsigned long type;
    char name[16];
    unsigned traits;
};

/* NULL if the number is not known; then nothing is promised. */
const struct brio_fs_kind *brio_fs_kind(long type);

#endif
