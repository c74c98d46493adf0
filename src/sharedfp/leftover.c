/* Looking for side files that nobody will finish but `brio merge'. */
#include "sharedfp/leftover.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mod/hint.h"
#include "sharedfp/bounded.h"
#include "sharedfp/side.h"

/* A job that lives has a lock on the file before there is anything in it (sharedfp/log.c).
 * Where there are no locks, or no answers, nothing is said: it may be a job that runs. */
static bool is_left(const char *name)
{
    static const double seconds = 0.5;
    struct stat st;
    int fd = open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) != 0 || st.st_size == 0) {
        close(fd);
        return false;
    }
    int errnum = brio_lock_asked_within(seconds, fd, 0);
    if (errnum != ETIMEDOUT)
        close(fd);
    return errnum == 0;
}

/* The first that is left is enough. */
static bool tell(const char *path, const char *name)
{
    if (!is_left(name))
        return true;
    brio_warn_once(
        "%s: a job that was killed left records of the shared file pointer beside it "
        "(%s and its like), which may not be in the file yet; `brio merge %s' lays "
        "them into it, unless there is other data in their places by then",
        path, name, path);
    return false;
}

void brio_leftover_tell(const char *path)
{
    static const int64_t most = 100000000; /* nanoseconds */
    brio_side_each(path, "meta", most, tell);
}
