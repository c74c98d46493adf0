/* Two opens of one file, and what each may lock. */
#include "sharedfp/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "sharedfp/bounded.h"

enum {
    UNUSED_AT = 64 /* a byte that no module locks */
};

static bool is_refusal(int errnum)
{
    return errnum == EAGAIN || errnum == EACCES;
}

static BRIO_ERR complain(const char *name, int errnum, double seconds)
{
    if (errnum == ETIMEDOUT)
        return brio_fail(BRIO_EUNSUPOP, "no answer to a lock of %s for %g seconds", name,
                         seconds);
    return brio_fail_errno(errnum, "lock of %s", name);
}

/* Other ranks may be trying, too: a lock that is refused works. What must not happen is that
 * two have it. *lost: a descriptor that waits for its answer. */
static BRIO_ERR try_pair(const char *name, double seconds, int a, int b, int *lost)
{
    int errnum = brio_lock_within(seconds, a, F_WRLCK, UNUSED_AT, 1);
    *lost = errnum == ETIMEDOUT ? a : -1;
    if (errnum)
        return is_refusal(errnum) ? BRIO_OK : complain(name, errnum, seconds);
    errnum = brio_lock_within(seconds, b, F_WRLCK, UNUSED_AT, 1);
    *lost = errnum == ETIMEDOUT ? b : -1;
    if (!errnum)
        return brio_fail(BRIO_EUNSUPOP, "locks of %s are granted to two at a time", name);
    return is_refusal(errnum) ? BRIO_OK : complain(name, errnum, seconds);
}

BRIO_ERR brio_trial_locks(const char *name, double seconds)
{
    int lost = -1;
    int a = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    int b = a < 0 ? -1 : open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    enum brio_err err = b < 0 ? brio_fail_errno(errno, "open of %s", name)
                              : try_pair(name, seconds, a, b, &lost);
    if (b >= 0 && b != lost)
        close(b);
    if (a >= 0 && a != lost)
        close(a); /* gives its lock back */
    return err;
}
