/* What killed jobs of sharedfp/individual have left beside a file. */
#ifndef BRIO_SHAREDFP_LEFTOVER_H
#define BRIO_SHAREDFP_LEFTOVER_H

/* Warns the user, once per file, if there are side files whose job is gone. For one rank, when
 * the file's shared pointer is first used: the directory is read, though not for long. */
void brio_leftover_tell(const char *path);

#endif
