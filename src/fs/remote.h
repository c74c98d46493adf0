/* Files that ranks on other nodes use too, on a file system that does not keep the caches of
 * its clients alike: FUSE, NFS, and all that is not known to do better. There, nothing that
 * this node has in memory is trusted. */
#ifndef BRIO_FS_REMOTE_H
#define BRIO_FS_REMOTE_H

#include "base/base.h"

/* The same file by a descriptor that reads past the page cache; -1 if the file system has no
 * such thing, which is tried once for each mount. */
int brio_remote_direct(int fd);

/* Whether somebody else has the first byte locked, as far as it is seen from here. The file is
 * open for writing. */
bool brio_remote_locked(int fd);

/* Whether the file behind the descriptor has no name any more on the servers. */
bool brio_remote_gone(int fd);

/* Data written goes to the servers, and what lies in this node's page cache is dropped; -1
 * and errno. */
int brio_remote_forget(int fd);

/* The length that the servers know; -1 and errno. */
brio_off brio_remote_size(int fd);

#endif
