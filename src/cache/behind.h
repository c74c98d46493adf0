/* The stage that keeps writes back: what the modules writebehind and auto have in common.
 * Bytes for the pages of ranks that share memory with this one are put where they belong at
 * once; those for other nodes are gathered and sent. Pages leave for the file when they are
 * full, when room is needed, and with a flush.
 *
 * The stage can pass writes on instead, and watch what they cost until it knows that keeping
 * them back pays. Within a crew any rank may find that out for all at any time: writes go to
 * the file, or into pages that all of them see. Between crews all must begin together, so
 * there it is decided when they meet: at an open or a flush. */
#ifndef BRIO_CACHE_BEHIND_H
#define BRIO_CACHE_BEHIND_H

#include "cache/cache.h"

/* What must be so for a file to be written behind; the answer of a query. */
int brio_behind_query(const struct brio_facts *facts, int priority);

/* Collective. If some rank says in words why it `pays`, all keep back from the beginning; if
 * that is NULL on all, they watch. */
BRIO_ERR brio_behind_open(const struct brio_cache_env *env, const struct brio_lane *below,
                          const struct brio_cache_conf *conf, const char *pays,
                          struct brio_lane *out);

/* The slots of a cache, for lanes of this stage. */
BRIO_ERR brio_behind_close(struct brio_lane *lane);
BRIO_ERR brio_behind_size(const struct brio_lane *lane, brio_off *size);
BRIO_ERR brio_behind_settle(const struct brio_lane *lane, const struct brio_io *io);
struct brio_lane brio_behind_collective(const struct brio_lane *lane);

/* True if writes are kept back; `words` say how, and why or why not. *found, if asked for: this
 * rank has found out by watching. */
bool brio_behind_tell(const struct brio_lane *lane, char *words, size_t size, bool *found);

/* The file's name; NULL if it is not known. */
const char *brio_behind_path(const struct brio_lane *lane);

/* Whether a lane is one of this stage. */
bool brio_behind_is(const struct brio_lane *lane);

#endif
