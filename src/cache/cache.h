/* Bytes kept near: a stage of the lane that may hold data back or ahead (paper 001). Not to
 * be confused with fcache, which keeps the layout of a file and no data. */
#ifndef BRIO_CACHE_CACHE_H
#define BRIO_CACHE_CACHE_H

#include "base/stats.h"
#include "comm/crew.h"
#include "lane/lane.h"
#include "mod/module.h"

BRIO_DOOR_BEGIN

struct brio_cache_env {
    const struct brio_team *team; /* of the file; outlives the cache, as does the crew */
    const struct brio_crew *crew;
    const char *path; /* likewise, or NULL */
    int amode;
    int nservers;        /* that the file is spread over */
    brio_off stripe;     /* bytes before the next of them; 0 if it is not spread */
    brio_off block_size; /* of the file system */
    struct brio_stats *stats;
};

/* The flush of a cache's lane is collective. */
struct brio_cache {
    struct brio_module base;
    /* Local, by all ranks alike after a flush: from now on accesses are, or need no longer be,
     * indivisible among the ranks of the file. False if it has no way to do that: then core
     * goes past the cache in atomic mode. */
    bool (*atomic)(const struct brio_lane *lane, bool on);
    /* Collective: succeeds on all ranks or on none. Wraps `below`; `none` gives it back as it
     * is. */
    BRIO_ERR(*open)
    (const struct brio_cache_env *env, const struct brio_lane *below, const void *conf,
     struct brio_lane *out);
    /* Collective. Everything has been flushed before; what could not be is lost now. */
    BRIO_ERR (*close)(struct brio_lane *lane);
    /* Local. *size is what the file system knows; it grows by what is held back. */
    BRIO_ERR (*size)(const struct brio_lane *lane, brio_off *size);
    /* Collective, when the file has got a new size (all was flushed before). */
    BRIO_ERR (*resized)(const struct brio_lane *lane, brio_off size);
    /* Local, by each rank before it takes part in a collective access with `io` (of which
     * other ranks may write the bytes): what any rank writes from then on comes after what
     * this rank has written before. */
    BRIO_ERR (*settle)(const struct brio_lane *lane, const struct brio_io *io);
    /* The lane for collective accesses: one that is done there comes before everything that
     * any rank begins later. Mostly the lane itself. */
    struct brio_lane (*collective)(const struct brio_lane *lane);
    /* Local. What the cache does for this file and why, in words. */
    void (*tell)(const struct brio_lane *lane, char *out, size_t size);
};

/* The settings of the caches that Brio comes with. */
struct brio_cache_conf {
    brio_off page, size, send;
};

extern const struct brio_hint brio_cache_hints[];

/* For slots that a module has nothing to do in: src/cache/plain.c. */
bool brio_cache_plain_atomic(const struct brio_lane *lane, bool on);
BRIO_ERR brio_cache_plain_size(const struct brio_lane *lane, brio_off *size);
BRIO_ERR brio_cache_plain_resized(const struct brio_lane *lane, brio_off size);
BRIO_ERR brio_cache_plain_settle(const struct brio_lane *lane, const struct brio_io *io);
struct brio_lane brio_cache_plain_lane(const struct brio_lane *lane);
void brio_cache_plain_tell(const struct brio_lane *lane, char *out, size_t size);

extern const struct brio_cache brio_cache_none;
extern const struct brio_cache brio_cache_writebehind;
extern const struct brio_cache brio_cache_auto;
extern const struct brio_cache brio_cache_coherent;

BRIO_DOOR_END

#endif
