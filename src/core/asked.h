/* What is asked for a file. Files of settings, and the environment as far as all ranks must
 * have the same, are rank 0's: it sends them, so that ranks cannot differ. The rest of the
 * environment and the info object are each rank's own. */
#ifndef BRIO_CORE_ASKED_H
#define BRIO_CORE_ASKED_H

#include "mod/settings.h"

enum {
    BRIO_ASKED_MAX = 16 << 10
};

/* Rank 0's part, as it is sent. */
struct brio_asked {
    int len;
    char bytes[BRIO_ASKED_MAX];
};

/* On rank 0, or alone. */
BRIO_ERR brio_asked_collect(const char *path, struct brio_asked *out);

/* On every rank: all that is asked, into empty settings. */
BRIO_ERR brio_asked_settle(const struct brio_asked *asked, MPI_Info info,
                           struct brio_settings *s);

/* Whether this rank's environment says something else than rank 0's where it must not; then
 * `why` says what. */
bool brio_asked_differs(const struct brio_settings *s, int rank, char *why, size_t size);

#endif
