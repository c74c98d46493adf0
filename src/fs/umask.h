/* The umask of the process. The system's own call to tell it changes it, for all threads. */
#ifndef BRIO_FS_UMASK_H
#define BRIO_FS_UMASK_H

#include <sys/types.h>

mode_t brio_fs_umask(void);

#endif
