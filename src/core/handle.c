/* Numbers for open files. A number is an index and a generation, so one that was closed is
 * known as such, and looking one up never follows a pointer that the user gave. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/file.h"
#include "core/handle.h"

enum {
    INDEX_BITS = 16, /* open files at one time */
    INDEXES = 1 << INDEX_BITS,
    GENERATIONS = 1 << 14,
    CHUNK = 256 /* slots are made as they are needed */
};

struct slot {
    _Atomic(struct brio_file *) file;
    _Atomic int generation; /* 1 .. GENERATIONS-1 */
    uint64_t turn;          /* in which it was opened; with the lock */
};

static _Atomic(struct slot *) chunks[INDEXES / CHUNK];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int nslots; /* in all chunks */
static uint64_t nopened;
static int start; /* where to look for a free slot: behind the one given out last */

static struct slot *chunk_of(int index)
{
    return atomic_load_explicit(&chunks[index / CHUNK], memory_order_acquire);
}

static struct slot *slot_at(int index)
{
    struct slot *chunk = chunk_of(index);
    return chunk ? &chunk[index % CHUNK] : NULL;
}

static BRIO_ERR make_chunk(int index)
{
    struct slot *chunk;
    enum brio_err err = brio_calloc(CHUNK, sizeof *chunk, (void **)&chunk);
    if (!err)
        atomic_store_explicit(&chunks[index / CHUNK], chunk, memory_order_release);
    return err;
}

/* With the lock held. Goes round within the chunks there are, and makes another only when
 * they are full. */
static BRIO_ERR find_free(int *out)
{
    for (int tried = 0; tried < nslots; tried++) {
        int index = (start + tried) % nslots;
        if (!atomic_load(&slot_at(index)->file)) {
            start = index + 1;
            *out = index;
            return BRIO_OK;
        }
    }
    if (nslots == INDEXES)
        return brio_fail(BRIO_ENOMEM, "more than %d open files", INDEXES);
    enum brio_err err = make_chunk(nslots);
    if (!err) {
        *out = nslots;
        start = nslots + 1;
        nslots += CHUNK;
    }
    return err;
}

BRIO_ERR brio_handle_new(struct brio_file *f, int *out)
{
    int index = 0;
    pthread_mutex_lock(&lock);
    enum brio_err err = find_free(&index);
    if (!err) {
        struct slot *slot = &chunk_of(index)[index % CHUNK];
        int generation = atomic_load(&slot->generation) % (GENERATIONS - 1) + 1;
        atomic_store(&slot->generation, generation);
        atomic_store(&slot->file, f);
        slot->turn = ++nopened;
        *out = generation << INDEX_BITS | index;
    }
    pthread_mutex_unlock(&lock);
    return err;
}

void brio_handle_free(int handle)
{
    struct slot *slot = slot_at(handle % INDEXES);
    if (slot)
        atomic_store(&slot->file, NULL);
}

struct brio_file *brio_handle_oldest(void)
{
    struct brio_file *oldest = NULL;
    uint64_t turn = UINT64_MAX;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < nslots; i++) {
        const struct slot *slot = slot_at(i);
        struct brio_file *f = atomic_load(&slot->file);
        if (f && slot->turn < turn) {
            oldest = f;
            turn = slot->turn;
        }
    }
    pthread_mutex_unlock(&lock);
    return oldest;
}

struct brio_file *brio_file_of(int64_t h)
{
    if (h < INDEXES || h >= (int64_t)GENERATIONS << INDEX_BITS)
        return NULL;
    struct slot *slot = slot_at((int)(h % INDEXES));
    if (!slot || atomic_load(&slot->generation) != h >> INDEX_BITS)
        return NULL;
    return atomic_load_explicit(&slot->file, memory_order_acquire);
}

int brio_file_handle(const struct brio_file *f)
{
    return f->handle;
}
