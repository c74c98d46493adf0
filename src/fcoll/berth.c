/* One rank moves at a time, and the others see it as if it were there already. */
#include "fcoll/berth.h"

#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

enum {
    SELDOM = 1000000 /* nanoseconds between two moves of a rank: the system may know better */
};

void brio_berth_open(struct brio_berth *b, const struct brio_team *crew, bool may_move)
{
    *b = (struct brio_berth){.stays = true};
    if (!may_move || crew->nranks <= brio_cores() ||
        sched_getaffinity(0, sizeof b->allowed, &b->allowed) != 0)
        return;
    b->stays = CPU_COUNT(&b->allowed) < 2;
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET((size_t)c, &b->allowed))
            b->ncores = c + 1;
}

/* Owners keep apart from each other, and leave it to the others to make room. */
int brio_berth_better(const struct brio_berth *b, const struct brio_berths *all, int n,
                      int mine, bool owns)
{
    int count[CPU_SETSIZE] = {0}, best = mine;
    for (int r = 0; r < n; r++) {
        int said = atomic_load_explicit(&all->core[r], memory_order_relaxed);
        int core = abs(said) - 1;
        if (core >= 0 && core < CPU_SETSIZE && (!owns || said < 0))
            count[core]++;
    }
    for (int c = 0; c < b->ncores; c++)
        if (CPU_ISSET((size_t)c, &b->allowed) && count[c] < count[best])
            best = c;
    return count[mine] - count[best] < 2 ? mine : best;
}

/* Lets this thread go everywhere again, or only where it could before. The system remembers who
 * asked for all there is: if cores are added, it may go there, too. */
static void set_free(const cpu_set_t *before)
{
    cpu_set_t all, now;
    memset(&all, 0xff, sizeof all);
    if (sched_setaffinity(0, sizeof all, &all) == 0 &&
        sched_getaffinity(0, sizeof now, &now) == 0 && !CPU_EQUAL(&now, before))
        (void)sched_setaffinity(0, sizeof *before, before); /* fails if all of these are gone */
}

/* This thread. */
static bool move_to(int core)
{
    cpu_set_t before, there;
    CPU_ZERO(&there);
    CPU_SET((size_t)core, &there);
    if (sched_getaffinity(0, sizeof before, &before) != 0 ||
        !CPU_ISSET((size_t)core, &before) || sched_setaffinity(0, sizeof there, &there) != 0)
        return false;
    set_free(&before);
    return true;
}

static void be_at(struct brio_berths *all, int rank, int core, bool owns)
{
    int32_t said = owns ? -(core + 1) : core + 1;
    if (atomic_load_explicit(&all->core[rank], memory_order_relaxed) != said)
        atomic_store_explicit(&all->core[rank], said, memory_order_relaxed);
}

bool brio_berth_beside(const struct brio_berths *all, int a, int b)
{
    int here = abs(atomic_load_explicit(&all->core[a], memory_order_relaxed));
    int there = abs(atomic_load_explicit(&all->core[b], memory_order_relaxed));
    return here > 0 && here == there;
}

bool brio_berth_look(struct brio_berth *b, struct brio_berths *all,
                     const struct brio_team *crew, bool owns)
{
    uint32_t nobody = 0;
    int mine = b->stays ? -1 : sched_getcpu();
    if (mine < 0 || mine >= CPU_SETSIZE)
        return false;
    be_at(all, crew->rank, mine, owns);
    if (brio_berth_better(b, all, crew->nranks, mine, owns) == mine ||
        brio_now() - b->moved < SELDOM ||
        !atomic_compare_exchange_strong(&all->moving, &nobody, 1))
        return false;
    int better = brio_berth_better(b, all, crew->nranks, mine, owns);
    b->moved = brio_now();
    b->stays = better != mine && !move_to(better);
    if (!b->stays)
        be_at(all, crew->rank, better, owns);
    atomic_store(&all->moving, 0);
    return better != mine && !b->stays;
}
