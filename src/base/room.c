/* Small rooms are malloc's; large ones are mapped where large pages may begin. */
#include "base/room.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    SMALLEST = 64 << 10,
    LARGE = 2 << 20, /* a large page of most machines */
    KEPT = 16 << 20  /* rooms from LARGE on have as many addresses; only what is used costs */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct brio_room kept;

/* The system gives large pages only where they begin at a multiple of their size: what is in
 * front of it and behind goes back. */
static char *map_aligned(size_t bytes)
{
    char *all =
        mmap(NULL, bytes + LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    const size_t front = (LARGE - (uintptr_t)all % LARGE) % LARGE;
    if (front > 0)
        munmap(all, front);
    if (front < LARGE)
        munmap(all + front + bytes, LARGE - front);
    (void)madvise(all + front, bytes, MADV_HUGEPAGE); /* small ones do, too */
    return all + front;
}

/* The room that is kept goes to the caller, and the caller's is kept. */
static void swap_kept(struct brio_room *room)
{
    struct brio_room mine = *room;
    pthread_mutex_lock(&lock);
    *room = kept;
    kept = mine;
    pthread_mutex_unlock(&lock);
}

/* The one that is kept, or a new one. */
static struct brio_room get_large(size_t bytes)
{
    struct brio_room room = {.mem = NULL};
    if (bytes == KEPT)
        swap_kept(&room);
    if (!room.mem)
        room.mem = map_aligned(bytes);
    room.bytes = room.mem ? bytes : 0;
    return room;
}

static struct brio_room get_small(size_t bytes)
{
    struct brio_room room = {.mem = malloc(bytes)};
    room.bytes = room.mem ? bytes : 0;
    return room;
}

/* Copies: pages could be moved to where large ones may begin, but libraries that watch a
 * process's mappings (UCX) lose the place where they are to go. */
BRIO_ERR brio_room_need(struct brio_room *room, size_t bytes)
{
    size_t want = room->bytes ? room->bytes : SMALLEST;
    struct brio_room more = {.mem = NULL};
    if (bytes <= room->bytes)
        return BRIO_OK;
    while (want < bytes && want <= SIZE_MAX / 4)
        want *= 2;
    if (want >= bytes)
        more = want < LARGE ? get_small(want) : get_large(want < KEPT ? KEPT : want);
    if (!more.mem)
        return brio_fail(BRIO_ENOMEM, "cannot allocate %zu bytes", bytes);
    if (room->mem)
        memcpy(more.mem, room->mem, room->bytes);
    brio_room_free(room);
    *room = more;
    return BRIO_OK;
}

void brio_room_free(struct brio_room *room)
{
    if (room->bytes == KEPT)
        swap_kept(room);
    if (room->bytes >= LARGE)
        munmap(room->mem, room->bytes);
    else
        free(room->mem);
    *room = (struct brio_room){.mem = NULL};
}

void brio_room_finalize(void)
{
    struct brio_room room = {.mem = NULL};
    swap_kept(&room);
    if (room.mem)
        munmap(room.mem, room.bytes);
}
