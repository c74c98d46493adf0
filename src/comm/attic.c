/* See attic.h. */
#include "comm/attic.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct brio_spare kept; /* mem == NULL: nothing */
static pid_t keeper;           /* a child after a fork has the mapping, but not the peers */

void brio_spare_free(const struct brio_spare *spare)
{
    if (spare->mem)
        munmap(spare->mem, spare->bytes);
    if (spare->fd >= 0)
        close(spare->fd);
    free((void *)spare->had);
}

static bool take(int64_t id, size_t bytes, bool own, struct brio_spare *out)
{
    pthread_mutex_lock(&lock);
    bool fits = kept.mem && keeper == getpid() && kept.bytes >= bytes &&
                (own ? kept.fd >= 0 : kept.id == id);
    if (fits) {
        *out = kept;
        kept.mem = NULL;
    }
    pthread_mutex_unlock(&lock);
    return fits;
}

bool brio_attic_own(size_t bytes, struct brio_spare *out)
{
    return take(0, bytes, true, out);
}

bool brio_attic_find(int64_t id, size_t bytes, struct brio_spare *out)
{
    return id != 0 && take(id, bytes, false, out);
}

void brio_attic_put(const struct brio_spare *spare)
{
    struct brio_spare old = *spare;
    pthread_mutex_lock(&lock);
    if (spare->id != 0) {
        old = kept;
        kept = *spare;
        keeper = getpid();
    }
    pthread_mutex_unlock(&lock);
    if (old.mem)
        brio_spare_free(&old);
}

void brio_attic_finalize(void)
{
    pthread_mutex_lock(&lock);
    if (kept.mem)
        brio_spare_free(&kept);
    kept.mem = NULL;
    pthread_mutex_unlock(&lock);
}
