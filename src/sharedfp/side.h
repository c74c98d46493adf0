/* Files that a module lays beside the user's file: their names, and those that a job which
 * was killed has left behind. */
#ifndef BRIO_SHAREDFP_SIDE_H
#define BRIO_SHAREDFP_SIDE_H

#include <mpi.h>

#include "base/base.h"
#include "comm/meet.h"

enum {
    BRIO_SIDE_TAG = 32 /* letters that tell one open from all others */
};

/* Collective, one message of rank 0's: whether there can be files beside this one (else
 * BRIO_EUNSUPOP, everywhere), and a tag for their names that no other open, job or host has,
 * and that nobody can guess. */
BRIO_ERR brio_side_begin(const char *path, const struct brio_team *team,
                         char tag[BRIO_SIDE_TAG + 1]);

/* "DIR/.NAME.brio-KIND-TAG" for the file DIR/NAME; NULL for tag leaves the tag off. *out is
 * to be freed. */
BRIO_ERR brio_side_name(const char *path, const char *kind, const char *tag, char **out);

/* Calls fn with `path` and the name of every file beside `path` that is of this kind, whichever
 * rank's it is, until fn returns false or, if `most` is not 0, so many nanoseconds are over:
 * the directory may be of millions of files. */
void brio_side_each(const char *path, const char *kind, int64_t most,
                    bool (*fn)(const char *path, const char *name));

#endif
