/* Room for the pages that one rank has cached: frames of equal size, each with its page, when
 * it was last used, and which of its bytes are not yet in the file. No pointers: it lies in
 * memory shared by the crew, and who holds the lock of a page works on its frame. Only the
 * rank itself gives frames to pages and takes them back. */
#ifndef BRIO_CACHE_FRAMES_H
#define BRIO_CACHE_FRAMES_H

#include "cache/dirty.h"

struct brio_cached {
    _Atomic uint64_t used; /* the clock when it was last used; 0: the frame is free */
    brio_off page;
    bool whole;              /* all bytes are those of the file; else the dirty ones alone */
    bool away;               /* in the flush under way another crew's rank writes it */
    struct brio_dirty dirty; /* last: its runs are behind it */
};

struct brio_frames {
    _Alignas(struct brio_cached) uint32_t n; /* the frames are behind it */
    uint32_t runs; /* dirty runs that a page may have before it must be written out */
    uint32_t used; /* so many have ever been */
    uint32_t free; /* a chain through `page`: 1 + frame, or 0 */
    uint32_t ntaken;
};

static inline size_t brio_cached_pitch(uint32_t runs)
{
    return sizeof(struct brio_cached) + runs * sizeof(struct brio_dirty_run);
}

static inline struct brio_cached *brio_cached_at(const struct brio_frames *f, uint32_t i)
{
    return (struct brio_cached *)((char *)(f + 1) + i * brio_cached_pitch(f->runs));
}

size_t brio_frames_room(uint32_t n, uint32_t runs);
void brio_frames_init(struct brio_frames *f, uint32_t n, uint32_t runs);

/* An empty frame for the page, used at `now`; false if all are taken. */
bool brio_frames_take(struct brio_frames *f, brio_off page, uint64_t now, uint32_t *out);
void brio_frames_give(struct brio_frames *f, uint32_t frame);

/* The frame that was not used for the longest time, of those used after `after`; false if
 * there is none. */
bool brio_frames_oldest(const struct brio_frames *f, uint64_t after, uint32_t *out);

/* All are free. */
void brio_frames_clear(struct brio_frames *f);

#endif
