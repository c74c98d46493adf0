/* What Linux offers against caches: O_DIRECT, advice to drop pages, and statx, which can be
 * told not to believe attributes that were kept. */
#include "fs/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int brio_remote_direct(int fd)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return open(name, O_RDONLY | O_DIRECT | O_CLOEXEC);
}

bool brio_remote_gone(int fd)
{
    struct statx st;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_NLINK, &st))
        return errno == ESTALE || errno == ENOENT;
    return st.stx_mask & STATX_NLINK && st.stx_nlink == 0;
}

int brio_remote_forget(int fd)
{
    int failed;
    do
        failed = fsync(fd);
    while (failed && errno == EINTR);
    if (!failed)
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    return failed;
}

brio_off brio_remote_size(int fd)
{
    struct statx st;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE, &st) == 0)
        return (brio_off)st.stx_size;
    struct stat kept;
    return fstat(fd, &kept) ? -1 : (brio_off)kept.st_size;
}
