/* Storage that is had by writing zeros, where there is no call for it. */
#ifndef BRIO_FS_FILL_H
#define BRIO_FS_FILL_H

#include "base/base.h"

/* One call: how many bytes were written, or a negative errno. */
typedef brio_off brio_fs_writer(void *self, void *zeros, brio_off off, size_t len);

/* Bytes [from, to), behind the end of the file. Holes before the end stay: filling them could
 * overwrite what another rank writes at this moment. `call` is its name in messages. */
BRIO_ERR brio_fs_fill(brio_fs_writer *write, void *self, const char *call, brio_off from,
                      brio_off to);

#endif
