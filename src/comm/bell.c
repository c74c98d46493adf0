/* Looking first, then making room for others, then sleeping on a futex. */
#include "comm/bell.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "comm/meet.h"

int brio_cores(void)
{
    static _Atomic int cores;
    if (cores == 0)
        cores = (int)brio_max(1, sysconf(_SC_NPROCESSORS_ONLN));
    return cores;
}

/* With a core for each rank the others are at work and soon there: looking for a few
 * microseconds is cheaper than going to sleep. With fewer it would only keep them from it. */
void brio_look_closely(const struct brio_team *team, _Atomic uint32_t *word, uint32_t seen)
{
    int looks = team->nranks <= brio_cores() ? 100 : 0;
    for (int i = 0; i < looks; i++) {
        if (atomic_load_explicit(word, memory_order_relaxed) != seen)
            return;
        brio_pause();
    }
}

void brio_breathe(const struct brio_team *team)
{
    if (team->nranks > brio_cores()) {
        sched_yield();
        return;
    }
    for (int i = 0; i < 8; i++)
        brio_pause();
}

void brio_bell_ring(struct brio_bell *bell)
{
    atomic_fetch_add(&bell->rung, 1);
    if (atomic_load(&bell->sleepers) > 0)
        brio_rouse(&bell->rung);
}

/* Linux shares the processor among sessions first (autogroups), and some launchers start every
 * rank in one of its own. */
bool brio_yields_serve(void)
{
    static _Atomic int known = -1;
    if (known < 0) {
        char on = '0';
        int fd = open("/proc/sys/kernel/sched_autogroup_enabled", O_RDONLY | O_CLOEXEC);
        bool told = fd >= 0 && read(fd, &on, 1) == 1;
        if (fd >= 0)
            close(fd);
        known = !told || on == '0' || getsid(0) != getpid();
    }
    return known;
}

void brio_bell_wait(const struct brio_team *team, struct brio_bell *bell, uint32_t heard,
                    int *round)
{
    enum {
        YIELDS = BRIO_BELL_ASLEEP, /* where ranks share cores: the others come on by these */
        LOOKS = 1024,              /* where they do not: some milliseconds, as a wait for a
                                    * long write may take, and being woken would take longer */
        PROBES = 64,               /* between them, so often */
        FIRST_NAP = 200000,        /* nanoseconds */
        LONGEST = 2000000
    };
    int flag, first = team->nranks <= brio_cores() ? LOOKS : YIELDS;
    bool sleeps = ++*round > first;
    if (sleeps || *round % PROBES == 0)
        PMPI_Iprobe(MPI_ANY_SOURCE, 0, team->comm, &flag, MPI_STATUS_IGNORE);
    if (!sleeps) {
        brio_look_closely(team, &bell->rung, heard);
        if (brio_bell_heard(bell) == heard)
            sched_yield();
        return;
    }
    long nap = brio_min((long)FIRST_NAP * (*round - first), LONGEST);
    atomic_fetch_add(&bell->sleepers, 1);
    syscall(SYS_futex, &bell->rung, FUTEX_WAIT, heard, &(struct timespec){.tv_nsec = nap}, NULL,
            0);
    atomic_fetch_sub(&bell->sleepers, 1);
}

void brio_sleep_on(_Atomic uint32_t *word, uint32_t seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
}

void brio_rouse(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
