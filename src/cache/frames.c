/* Frames are few (hundreds), and one is looked for only when another must be written to the
 * file: looking at all of them is cheap enough. */
#include "cache/frames.h"

#include <stdatomic.h>

size_t brio_frames_room(uint32_t n, uint32_t runs)
{
    return sizeof(struct brio_frames) + n * brio_cached_pitch(runs);
}

void brio_frames_init(struct brio_frames *f, uint32_t n, uint32_t runs)
{
    f->n = n;
    f->runs = runs;
    f->used = f->free = f->ntaken = 0;
}

bool brio_frames_take(struct brio_frames *f, brio_off page, uint64_t now, uint32_t *out)
{
    uint32_t i;
    if (f->free) {
        i = f->free - 1;
        f->free = (uint32_t)brio_cached_at(f, i)->page;
    } else if (f->used < f->n) {
        i = f->used++;
    } else {
        return false;
    }
    struct brio_cached *frame = brio_cached_at(f, i);
    frame->page = page;
    frame->whole = frame->away = false;
    brio_dirty_init(&frame->dirty, f->runs);
    atomic_store(&frame->used, now);
    f->ntaken++;
    *out = i;
    return true;
}

void brio_frames_give(struct brio_frames *f, uint32_t frame)
{
    atomic_store(&brio_cached_at(f, frame)->used, 0);
    brio_cached_at(f, frame)->page = f->free;
    f->free = frame + 1;
    f->ntaken--;
}

bool brio_frames_oldest(const struct brio_frames *f, uint64_t after, uint32_t *out)
{
    uint64_t oldest = UINT64_MAX;
    for (uint32_t i = 0; i < f->used; i++) {
        uint64_t used = atomic_load_explicit(&brio_cached_at(f, i)->used, memory_order_relaxed);
        if (used > after && used < oldest) {
            oldest = used;
            *out = i;
        }
    }
    return oldest != UINT64_MAX;
}

void brio_frames_clear(struct brio_frames *f)
{
    for (uint32_t i = 0; i < f->used; i++)
        atomic_store(&brio_cached_at(f, i)->used, 0);
    brio_frames_init(f, f->n, f->runs);
}
