/* A shift towards the beginning, over bytes that are saved meanwhile. */
#include "fbtl/even.h"

#include <string.h>

#include "base/stats.h"

enum {
    PART = 256 << 10, /* stays in a core's own cache */
    HALF = BRIO_LINE / 2,
    PAGE = 4096,
    FROM_DISK = 1000000 /* nanoseconds of a part that tells nothing */
};

void brio_even_begin(struct brio_even *e, struct brio_trial *trial, struct iovec *piece,
                     brio_off off, brio_off room)
{
    brio_off beside = (brio_off)(((uintptr_t)piece->iov_base - (uintptr_t)off) % BRIO_LINE);
    *e = (struct brio_even){.shift = 0};
    if (beside % HALF == 0)
        return;
    e->use = brio_trial_begin(trial);
    if (!e->use.other && !e->use.tries)
        return;
    if (e->use.other && room < beside) { /* first as much as leads to a whole page */
        piece->iov_len = (size_t)(2 * PAGE - off % PAGE);
        return;
    }
    piece->iov_len = (size_t)brio_min((brio_off)piece->iov_len, PART);
    if (!e->use.other)
        return;
    e->shift = beside;
    piece->iov_base = (char *)piece->iov_base - beside;
    memcpy(e->before, piece->iov_base, (size_t)beside);
}

void brio_even_end(const struct brio_even *e, struct brio_trial *trial,
                   const struct iovec *piece, brio_off n)
{
    char *at = piece->iov_base;
    if (e->shift > 0) {
        if (n > 0)
            memmove(at + e->shift, at, (size_t)n);
        memcpy(at, e->before, (size_t)e->shift);
    }
    if (n == PART && brio_now() - e->use.began < FROM_DISK)
        brio_trial_end(trial, &e->use, n);
}
