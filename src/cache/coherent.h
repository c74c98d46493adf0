/* The inside of cache/coherent: what its files share. */
#ifndef BRIO_CACHE_COHERENT_H
#define BRIO_CACHE_COHERENT_H

#include <pthread.h>

#include "cache/cache.h"
#include "cache/directory.h"
#include "cache/frames.h"
#include "comm/courier.h"
#include "comm/region.h"

/* What one rank gives to its crew: the directory of its pages (page mod P) and its frames.
 * Behind this, in shared memory: the directory, the frames, their bytes. */
struct brio_bay {
    pthread_mutex_t lock;   /* of the directory; shared by processes */
    _Atomic uint64_t clock; /* of the crew, in its first bay: uses of pages */
    _Atomic brio_off size;  /* likewise: the file is at least so long */
};

struct brio_coherent {
    struct brio_lane below;
    const struct brio_team *team;
    const struct brio_crew *crew;
    struct brio_stats *stats;
    struct brio_region region;
    struct brio_map *flat;
    brio_off page;    /* bytes of one */
    brio_off bound;   /* of what this rank keeps; an access of more goes past the cache */
    uint32_t nframes; /* of each rank */
    size_t at_directory, at_frames, at_bytes, pitch; /* in a bay, and of bays */
    int *member_of;                                  /* by rank; -1: in another crew */
    uint32_t far_most;                               /* bytes of a page in one letter */
    _Atomic bool atomic;
    _Atomic uint64_t asked, found; /* pieces of pages that this rank wanted; cached by any */
    struct brio_courier *courier;  /* to other crews; NULL if there are none */
    _Atomic uint32_t turns;        /* see coherent_lock.c */
    pthread_mutex_t frames_lock;   /* of this rank's frames being given and taken */
    pthread_mutex_t wait_lock;
    struct brio_letter *waiting; /* for locks of this rank's pages; with wait_lock */
};

/* ---- Places ---------------------------------------------------------------------------- */

static inline struct brio_bay *brio_bay_at(const struct brio_coherent *c, int member)
{
    return (struct brio_bay *)(c->region.mem + (size_t)member * c->pitch);
}
static inline struct brio_directory *brio_bay_directory(const struct brio_coherent *c,
                                                        int member)
{
    return (struct brio_directory *)((char *)brio_bay_at(c, member) + c->at_directory);
}
static inline struct brio_frames *brio_bay_frames(const struct brio_coherent *c, int member)
{
    return (struct brio_frames *)((char *)brio_bay_at(c, member) + c->at_frames);
}
static inline char *brio_bay_bytes(const struct brio_coherent *c, int member, uint32_t frame)
{
    return (char *)brio_bay_at(c, member) + c->at_bytes + frame * (size_t)c->page;
}

/* ---- Frames: coherent_frame.c. With the lock of the page, alone where it changes -------- */

/* A frame of a rank of this crew. */
struct brio_held_frame {
    struct brio_cached *frame;
    char *bytes;
};

struct brio_held_frame brio_coherent_frame(const struct brio_coherent *c, int rank,
                                           uint32_t frame);

/* Makes [lo, hi) readable: reads the page from the file unless it is there. */
BRIO_ERR brio_coherent_load(struct brio_coherent *c, struct brio_held_frame f, uint32_t lo,
                            uint32_t hi);

/* [lo, hi) is about to be written over and is dirty from now on. */
BRIO_ERR brio_coherent_dirty(struct brio_coherent *c, struct brio_held_frame f, uint32_t lo,
                             uint32_t hi);

/* What is dirty goes to the file. On failure it stays dirty. */
BRIO_ERR brio_coherent_clean(struct brio_coherent *c, struct brio_held_frame f);

/* The crew's knowledge of the file's length only grows between two flushes. */
void brio_coherent_grow(struct brio_coherent *c, brio_off size);

/* ---- Locks and messages: coherent_lock.c ------------------------------------------------ */

/* `box` is for messages; NULL if there are no other crews. A wish that waits fails only if
 * messages do; else BRIO_BUSY is an answer. */
BRIO_ERR brio_coherent_lock(struct brio_coherent *c, struct brio_box *box,
                            const struct brio_wish *wish, struct brio_grant *out,
                            enum brio_lock_answer *answer);
BRIO_ERR brio_coherent_unlock(struct brio_coherent *c, struct brio_box *box, brio_off page,
                              const struct brio_grant *grant);

/* Bytes of a page that is in another crew, at most c->far_most, at
 * brio_coherent_far_bytes(box). The page's lock is held; *grant tells afterwards whether it is
 * ready. */
struct brio_part {
    brio_off page;
    uint32_t lo, len;
};
BRIO_ERR brio_coherent_far(struct brio_coherent *c, struct brio_box *box, enum brio_dir dir,
                           const struct brio_part *part, struct brio_grant *grant);
char *brio_coherent_far_bytes(struct brio_box *box);

/* The length of the file as all crews know it, once this one has told its own. */
BRIO_ERR brio_coherent_size(struct brio_coherent *c, struct brio_box *box, brio_off *out);

/* What other crews ask: handlers of the courier. */
void brio_coherent_handle(void *self, struct brio_letter *letter);
void brio_coherent_tick(void *self);
size_t brio_coherent_far_room(const struct brio_coherent *c); /* of a box */

/* ---- Writing back: coherent_flush.c ----------------------------------------------------- */

/* Collective, while nobody accesses the file: all that is dirty goes to the file, neighbours
 * together. It counts as dirty still: if all ranks succeeded, all frames can be cleared. */
BRIO_ERR brio_coherent_write_back(struct brio_coherent *c);

/* ---- Accesses: coherent_access.c -------------------------------------------------------- */

struct brio_result brio_coherent_access(void *self, const struct brio_io *io);

#endif
