/* Giving out and taking back the numbers of open files; looking them up is in core.h. */
#ifndef BRIO_CORE_HANDLE_H
#define BRIO_CORE_HANDLE_H

#include "core/core.h"

BRIO_ERR brio_handle_new(struct brio_file *f, int *out);
void brio_handle_free(int handle);

/* Of the files that are open the one that was opened first, or NULL. */
struct brio_file *brio_handle_oldest(void);

#endif
