/* Writes from memory that is in no cache. A local file system lets one writer of a file in at a
 * time, and meanwhile the kernel copies what it has to fetch from memory at a third of the
 * speed. So a rank first looks through what it is about to write, some of it at a time (64 MiB
 * of two ranks on two cores: one call each 9.7 ms, in parts that were looked through 5.6; one
 * rank alone: no difference). Other processors would lose a tenth: both ways are tried. */
#ifndef BRIO_FBTL_WARM_H
#define BRIO_FBTL_WARM_H

#include <sys/uio.h>

#include "base/trial.h"

enum {
    BRIO_WARM_PART = 256 << 10, /* that one call writes: a core's own cache keeps it; */
    BRIO_WARM_COLD = 512 << 10, /* and to compare, if it is not looked through */
    BRIO_WARM_LEAST = 2 * BRIO_WARM_PART + 1 /* of a write: less may be there already, as what
                                                owners write is */
};

/* Brings memory that is going to be written to a file into this core's caches. */
void brio_warm(const struct iovec *iov, int niov);

#endif
