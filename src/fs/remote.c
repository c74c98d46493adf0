/* What Linux offers against caches: O_DIRECT, advice to drop pages, and statx, which can be
 * told not to believe attributes that were kept. */
#include "fs/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "fs/habit.h"

/* Some systems refuse at the open, some at the first read. */
static int try_direct(int fd)
{
    char block[4096] __attribute__((aligned(4096)));
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int direct = open(name, O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (direct < 0 || pread(direct, block, sizeof block, 0) >= 0 || errno != EINVAL)
        return direct;
    close(direct);
    errno = EINVAL;
    return -1;
}

int brio_remote_direct(int fd)
{
    int known = brio_habit_known(fd, BRIO_HABIT_DIRECT);
    if (known == 0)
        return -1;
    int direct = try_direct(fd);
    if (direct >= 0 && known < 0)
        brio_habit_learn(fd, BRIO_HABIT_DIRECT, true);
    if (direct < 0 && (errno == EINVAL || errno == EOPNOTSUPP)) {
        brio_habit_learn(fd, BRIO_HABIT_DIRECT, false);
        brio_log(BRIO_NOTE, "this mount has no way around the page cache: data of other nodes "
                            "is seen after a sync only");
    }
    return direct;
}

bool brio_remote_locked(int fd)
{
    struct flock first = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    if (fcntl(fd, F_OFD_SETLK, &first))
        return errno == EAGAIN || errno == EACCES;
    first.l_type = F_UNLCK;
    (void)fcntl(fd, F_OFD_SETLK, &first);
    return false;
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
