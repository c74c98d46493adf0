/* Rank 0 makes an anonymous memory file and says so in the shared slot; after an agreement
 * the others map it by way of /proc; after another it is everybody's. */
#include "comm/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mem.h"
#include "comm/verdict.h"

enum {
    CHUNK = 64 << 10 /* bytes that are touched together */
};

void brio_region_init(struct brio_region *r, const struct brio_team *team,
                      struct brio_page_slot *slot, const struct brio_page_ref *ref)
{
    *r = (struct brio_region){.team = team, .slot = slot, .pid = ref->pid, .fd = -1};
}

static void let_go(struct brio_region *r, bool keep)
{
    const struct brio_spare spare = {
        .id = r->id, .mem = r->mem, .bytes = r->bytes, .fd = r->fd, .had = r->had};
    if (keep)
        brio_attic_put(&spare);
    else
        brio_spare_free(&spare);
    r->mem = NULL;
    r->had = NULL;
    r->bytes = 0;
    r->fd = -1;
}

void brio_region_close(struct brio_region *r)
{
    let_go(r, r->second_hand && r->mem);
}

static void use(struct brio_region *r, const struct brio_spare *spare)
{
    r->id = spare->id;
    r->mem = spare->mem;
    r->bytes = spare->bytes;
    r->had = spare->had;
    r->fd = spare->fd;
}

static BRIO_ERR map_memory(struct brio_region *r, int fd)
{
    _Atomic char *had;
    enum brio_err err = brio_calloc(r->wanted / CHUNK + 1, 1, (void **)&had);
    if (err)
        return err;
    void *p = mmap(NULL, r->wanted, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        free((void *)had);
        return brio_fail_errno(errno, "mmap of %zu bytes of shared memory", r->wanted);
    }
    r->mem = p;
    r->had = had;
    r->bytes = r->wanted;
    return BRIO_OK;
}

static BRIO_ERR make_memory(struct brio_region *r)
{
    int fd = memfd_create("brio", MFD_CLOEXEC);
    if (fd < 0)
        return brio_fail_errno(errno, "memfd_create");
    enum brio_err err;
    if (ftruncate(fd, (off_t)r->wanted) != 0)
        err = brio_fail_errno(errno, "shared memory of %zu bytes", r->wanted);
    else
        err = map_memory(r, fd);
    if (err) {
        close(fd);
        return err;
    }
    r->fd = fd;
    if (!r->second_hand || getrandom(&r->id, sizeof r->id, 0) != sizeof r->id)
        r->id = 0;
    return BRIO_OK;
}

/* By rank 0. */
static BRIO_ERR get_memory(struct brio_region *r)
{
    struct brio_spare spare;
    enum brio_err err = BRIO_OK;
    if (r->second_hand && brio_attic_own(r->wanted, &spare))
        use(r, &spare);
    else
        err = make_memory(r);
    if (!err) {
        atomic_store(&r->slot->region_fd, r->fd);
        atomic_store(&r->slot->region_id, r->id);
    }
    return err;
}

static BRIO_ERR find_memory(struct brio_region *r)
{
    char name[64];
    struct brio_spare spare;
    int64_t id = atomic_load(&r->slot->region_id);
    if (r->second_hand && brio_attic_find(id, r->wanted, &spare)) {
        use(r, &spare);
        return BRIO_OK;
    }
    snprintf(name, sizeof name, "/proc/%lld/fd/%d", (long long)r->pid,
             (int)atomic_load(&r->slot->region_fd));
    int fd = open(name, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return brio_fail_errno(errno, "open of %s", name);
    enum brio_err err = map_memory(r, fd);
    close(fd);
    r->id = id;
    return err;
}

static void agree(struct brio_region *r)
{
    r->reduce.n = 1;
    r->reduce.in[0] = brio_verdict_vote(r->team, r->err);
    brio_reduce_start(&r->reduce, r->team);
}

void brio_region_need(struct brio_region *r, size_t bytes)
{
    r->err = BRIO_OK;
    r->stage = BRIO_REGION_READY;
    if (bytes <= r->bytes)
        return;
    brio_region_close(r);
    r->wanted = bytes;
    if (r->team->rank == 0)
        r->err = get_memory(r);
    r->stage = BRIO_REGION_MAKING;
    agree(r);
}

bool brio_region_step(struct brio_region *r, enum brio_wait how, enum brio_err *out)
{
    if (r->stage == BRIO_REGION_MAKING) {
        if (!brio_reduce_done(&r->reduce, how))
            return false;
        if (!r->err)
            r->err = brio_verdict_read(r->reduce.out[0]);
        if (!r->err && r->team->rank != 0)
            r->err = find_memory(r);
        r->stage = BRIO_REGION_MAPPING;
        agree(r);
    }
    if (r->stage == BRIO_REGION_MAPPING) {
        if (!brio_reduce_done(&r->reduce, how))
            return false;
        if (!r->err)
            r->err = brio_verdict_read(r->reduce.out[0]);
        if (r->err)
            let_go(r, false);
        r->stage = BRIO_REGION_READY;
    }
    *out = r->err;
    return true;
}

void brio_region_touch(struct brio_region *r, size_t at, size_t n)
{
    for (size_t i = at / CHUNK; i * CHUNK < at + n; i++) {
        if (atomic_load_explicit(&r->had[i], memory_order_relaxed))
            continue;
        atomic_store_explicit(&r->had[i], 1, memory_order_relaxed);
        size_t rest = r->bytes - i * CHUNK;
        (void)madvise(r->mem + i * CHUNK, rest < CHUNK ? rest : CHUNK, MADV_POPULATE_WRITE);
    }
}
