/* From patterns to stretches: pieces that touch in the file become one stretch, pieces that
 * touch in memory one iovec. */
#include "lane/walk.h"

static void begin(struct brio_walk_side *side, const struct brio_map *map, brio_off pos)
{
    brio_cursor_init(&side->cursor, map, pos);
    side->run.count = 0;
    side->into = 0;
}

void brio_walk_init(struct brio_walk *walk, const struct brio_io *io)
{
    walk->io = io;
    walk->left = io->bytes;
    if (io->bytes <= 0)
        return;
    begin(&walk->file, io->file, io->pos);
    begin(&walk->mem, io->mem, io->mem_pos);
}

/* A side whose run is used up has nothing in hand, so that all that is left is still to be
 * asked from its cursor. */
static inline void refill(struct brio_walk_side *side, brio_off left)
{
    if (side->run.count == 0)
        brio_cursor_next(&side->cursor, left, &side->run);
}

static inline void advance(struct brio_walk_side *side, brio_off n)
{
    side->into += n;
    if (side->into < side->run.len)
        return;
    side->into = 0;
    if (--side->run.count > 0)
        side->run.off += side->run.stride;
}

bool brio_walk_next(struct brio_walk *walk, brio_off max_bytes, int max_iov, struct iovec *iov,
                    struct brio_stretch *out)
{
    struct brio_walk_side *file = &walk->file, *mem = &walk->mem;
    brio_off off = 0, len = 0;
    int niov = 0;
    char *end = NULL; /* behind the last iovec */
    while (walk->left > 0 && len < max_bytes) {
        refill(file, walk->left);
        refill(mem, walk->left);
        brio_off here = file->run.off + file->into;
        if (len == 0)
            off = here;
        else if (here != off + len)
            break;
        brio_off n = brio_min(file->run.len - file->into, mem->run.len - mem->into);
        n = brio_min(n, max_bytes - len);
        char *addr = (char *)walk->io->buf + mem->run.off + mem->into;
        if (niov > 0 && addr == end) {
            iov[niov - 1].iov_len += (size_t)n;
        } else {
            if (niov == max_iov)
                break;
            iov[niov++] = (struct iovec){.iov_base = addr, .iov_len = (size_t)n};
        }
        end = addr + n;
        advance(file, n);
        advance(mem, n);
        len += n;
        walk->left -= n;
    }
    if (len == 0)
        return false;
    *out = (struct brio_stretch){.off = walk->io->base + off, .len = len, .niov = niov};
    return true;
}
