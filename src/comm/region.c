/* Rank 0 makes an anonymous memory file and says so in the shared slot; after an agreement
 * the others map it by way of /proc; after another it is everybody's. */
#include "comm/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "comm/verdict.h"

void brio_region_init(struct brio_region *r, const struct brio_team *team,
                      struct brio_page_slot *slot, const struct brio_page_ref *ref)
{
    *r = (struct brio_region){.team = team, .slot = slot, .pid = ref->pid, .fd = -1};
}

void brio_region_close(struct brio_region *r)
{
    if (r->mem)
        munmap(r->mem, r->bytes);
    if (r->fd >= 0)
        close(r->fd);
    r->mem = NULL;
    r->bytes = 0;
    r->fd = -1;
}

static BRIO_ERR map_memory(struct brio_region *r, int fd)
{
    void *p = mmap(NULL, r->wanted, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return brio_fail_errno(errno, "mmap of %zu bytes of shared memory", r->wanted);
    r->mem = p;
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
    atomic_store(&r->slot->region_fd, fd);
    return BRIO_OK;
}

static BRIO_ERR find_memory(struct brio_region *r)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/%lld/fd/%d", (long long)r->pid,
             (int)atomic_load(&r->slot->region_fd));
    int fd = open(name, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return brio_fail_errno(errno, "open of %s", name);
    enum brio_err err = map_memory(r, fd);
    close(fd);
    return err;
}

static void agree(struct brio_region *r, enum brio_wait how)
{
    r->reduce.n = 1;
    r->reduce.in[0] = brio_verdict_vote(r->team, r->err);
    brio_reduce_start(&r->reduce, r->team, how);
}

void brio_region_need(struct brio_region *r, size_t bytes, enum brio_wait how)
{
    r->err = BRIO_OK;
    r->stage = BRIO_REGION_READY;
    if (bytes <= r->bytes)
        return;
    brio_region_close(r);
    r->wanted = bytes;
    if (r->team->rank == 0)
        r->err = make_memory(r);
    r->stage = BRIO_REGION_MAKING;
    agree(r, how);
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
        agree(r, how);
    }
    if (r->stage == BRIO_REGION_MAPPING) {
        if (!brio_reduce_done(&r->reduce, how))
            return false;
        if (!r->err)
            r->err = brio_verdict_read(r->reduce.out[0]);
        if (r->err)
            brio_region_close(r);
        r->stage = BRIO_REGION_READY;
    }
    *out = r->err;
    return true;
}
