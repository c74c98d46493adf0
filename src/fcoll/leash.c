/* One shared word says up to which read of an epoch nobody waits, and whether that is the end
 * of it. No rank can have passed a meeting that another has not come to, so that the epoch is
 * the same for all at the same read, and a word of an earlier one says nothing. */
#include "fcoll/leash.h"

enum {
    RUN = 4,    /* meetings before the ranks believe it */
    AHEAD = 64, /* reads that are let off at once: fewer looks at what others write */
    ENDS = 1,   /* the bit for it */
    MOST_READS = 1 << 30
};

static uint64_t word_of(uint32_t epoch, uint32_t reads, unsigned ends)
{
    return (uint64_t)epoch << 32 | reads << 1 | ends;
}

void brio_leash_met(struct brio_leash *leash, bool nothing)
{
    if (!nothing)
        leash->run = 0;
    else if (leash->run < RUN)
        leash->run++;
}

/* Which of the reads since the last meeting this is. */
static void count_read(struct brio_leash *leash, uint32_t epoch)
{
    if (leash->epoch != epoch)
        leash->reads = 0;
    leash->epoch = epoch;
    leash->reads++;
}

bool brio_leash_is_off(struct brio_leash *leash, const struct brio_team *team, bool nothing)
{
    if (!team->meet || leash->run < RUN)
        return false;
    uint32_t epoch = brio_bell_heard(&team->meet->over);
    count_read(leash, epoch);
    if (leash->reads > MOST_READS)
        return false; /* a meeting, and one begins to count anew */
    uint64_t seen = atomic_load(&team->meet->leash);
    for (;;) {
        bool stale = seen >> 32 != epoch;
        bool ends = !stale && seen & ENDS;
        uint32_t until = stale ? 0 : (uint32_t)seen >> 1;
        bool off = leash->reads <= until || (nothing && !ends);
        uint64_t next = seen;
        if (!nothing)
            next = word_of(epoch, until, ENDS);
        else if (leash->reads > until && !ends)
            next = word_of(epoch, leash->reads + AHEAD - 1, 0);
        if (next == seen || atomic_compare_exchange_weak(&team->meet->leash, &seen, next)) {
            if (!off)
                leash->run = 0;
            return off;
        }
    }
}
