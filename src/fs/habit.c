/* Mounts by their device numbers; the last ones that were met. */
#include "fs/habit.h"

#include <pthread.h>
#include <sys/stat.h>

enum {
    MOUNTS = 32
};

struct mount {
    dev_t dev;
    signed char known[BRIO_HABITS]; /* 1, 0, -1 */
};

static struct {
    pthread_mutex_t lock;
    struct mount mount[MOUNTS];
    int n;    /* that are used */
    int next; /* to be used anew when all are */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock held; NULL if it is not there. */
static struct mount *find(dev_t dev)
{
    for (int i = 0; i < state.n; i++)
        if (state.mount[i].dev == dev)
            return &state.mount[i];
    return NULL;
}

static struct mount *add(dev_t dev)
{
    struct mount *m = &state.mount[state.next];
    state.next = (state.next + 1) % MOUNTS;
    if (state.n < MOUNTS)
        state.n++;
    m->dev = dev;
    for (int i = 0; i < BRIO_HABITS; i++)
        m->known[i] = -1;
    return m;
}

int brio_habit_known(int fd, enum brio_habit habit)
{
    struct stat st;
    int known = -1;
    if (fstat(fd, &st))
        return -1;
    pthread_mutex_lock(&state.lock);
    const struct mount *m = find(st.st_dev);
    if (m)
        known = m->known[habit];
    pthread_mutex_unlock(&state.lock);
    return known;
}

void brio_habit_learn(int fd, enum brio_habit habit, bool so)
{
    struct stat st;
    if (fstat(fd, &st))
        return;
    pthread_mutex_lock(&state.lock);
    struct mount *m = find(st.st_dev);
    if (!m)
        m = add(st.st_dev);
    m->known[habit] = so;
    pthread_mutex_unlock(&state.lock);
}
