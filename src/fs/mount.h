/* Which mounted file system a path is on. */
#ifndef BRIO_FS_MOUNT_H
#define BRIO_FS_MOUNT_H

#include "base/base.h"

enum {
    BRIO_MOUNT_POINT = 1024,
    BRIO_MOUNT_KEY = 1536,
    BRIO_PATH = 4096
};

struct brio_mount {
    char point[BRIO_MOUNT_POINT];
    /* "type source point", as the system writes them, without blanks in any of the three: the
     * same on all nodes that mount the same thing at the same place. */
    char key[BRIO_MOUNT_KEY];
};

/* Of the path, or of its directory if there is no such file yet. False if that cannot be found
 * out. */
bool brio_mount_of(const char *path, struct brio_mount *out);

/* The directory that `path` is in, "." if none is named; false if its name is too long. */
bool brio_fs_directory(const char *path, char out[BRIO_PATH]);

#endif
