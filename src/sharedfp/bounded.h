/* Locks asked of a server that may never answer. */
#ifndef BRIO_SHAREDFP_BOUNDED_H
#define BRIO_SHAREDFP_BOUNDED_H

#include "base/base.h"

/* fcntl(fd, F_OFD_SETLK) of `len` bytes from `at` on, within `seconds`: 0, or an errno.
 * ETIMEDOUT: there was no answer; the descriptor is the thread's that still waits for one, and
 * is neither to be used nor closed. */
int brio_lock_within(double seconds, int fd, short type, brio_off at, brio_off len);

/* F_OFD_GETLK of byte `at`, likewise: EAGAIN if anybody else has a lock on it. */
int brio_lock_asked_within(double seconds, int fd, brio_off at);

#endif
