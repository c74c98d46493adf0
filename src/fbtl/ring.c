/* io_uring by its three system calls and two shared rings. The iovecs of a request lie in its
 * slot, and the number of the slot comes back with the completion. */
#include "fbtl/ring.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

enum {
    DEPTH = 64,    /* requests in flight; a power of two */
    SLOT_IOV = 64, /* pieces of memory of one request */
    SLOT_BYTES = 1 << 20
};

struct slot {
    struct brio_stretch s;
    brio_off before; /* data bytes of the access that come before it */
    struct iovec iov[SLOT_IOV];
};

struct brio_ring {
    int fd;
    char *rings;
    size_t rings_bytes;
    struct io_uring_sqe *sqes;
    size_t sqes_bytes;
    unsigned *sq_tail, *sq_array, *cq_head, *cq_tail;
    unsigned sq_mask, cq_mask;
    struct io_uring_cqe *cqes;

    unsigned unsent; /* requests written and not yet told to the kernel */
    int nfree;       /* slots that no request uses: free[0 .. nfree-1] */
    unsigned char free[DEPTH];
    struct slot slots[DEPTH];
};

static BRIO_ERR map_rings(struct brio_ring *r, const struct io_uring_params *p)
{
    size_t sq = p->sq_off.array + p->sq_entries * sizeof(unsigned);
    size_t cq = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);
    const int prot = PROT_READ | PROT_WRITE, how = MAP_SHARED | MAP_POPULATE;
    r->rings_bytes = sq > cq ? sq : cq;
    r->sqes_bytes = p->sq_entries * sizeof(struct io_uring_sqe);
    void *rings = mmap(NULL, r->rings_bytes, prot, how, r->fd, IORING_OFF_SQ_RING);
    if (rings == MAP_FAILED)
        return brio_fail_errno(errno, "mmap of an io_uring");
    r->rings = rings;
    void *sqes = mmap(NULL, r->sqes_bytes, prot, how, r->fd, IORING_OFF_SQES);
    if (sqes == MAP_FAILED)
        return brio_fail_errno(errno, "mmap of an io_uring's requests");
    r->sqes = sqes;
    r->sq_tail = (unsigned *)(void *)(r->rings + p->sq_off.tail);
    r->sq_array = (unsigned *)(void *)(r->rings + p->sq_off.array);
    r->sq_mask = *(unsigned *)(void *)(r->rings + p->sq_off.ring_mask);
    r->cq_head = (unsigned *)(void *)(r->rings + p->cq_off.head);
    r->cq_tail = (unsigned *)(void *)(r->rings + p->cq_off.tail);
    r->cq_mask = *(unsigned *)(void *)(r->rings + p->cq_off.ring_mask);
    r->cqes = (struct io_uring_cqe *)(void *)(r->rings + p->cq_off.cqes);
    return BRIO_OK;
}

BRIO_ERR brio_ring_new(int fd, struct brio_ring **out)
{
    struct io_uring_params p;
    void *mem;
    enum brio_err err = brio_calloc(1, sizeof(struct brio_ring), &mem);
    if (err)
        return err;
    struct brio_ring *r = mem;
    memset(&p, 0, sizeof p);
    r->fd = (int)syscall(SYS_io_uring_setup, DEPTH, &p);
    if (r->fd < 0) {
        (void)brio_fail_errno(errno, "io_uring_setup");
        goto unsupported;
    }
    if (!(p.features & IORING_FEAT_SINGLE_MMAP)) {
        (void)brio_fail(BRIO_EUNSUPOP, "an io_uring of a kernel before Linux 5.4");
        goto unsupported;
    }
    if (map_rings(r, &p))
        goto unsupported;
    /* The kernel need not look the descriptor up for every request, then. */
    if (syscall(SYS_io_uring_register, r->fd, IORING_REGISTER_FILES, &fd, 1) < 0) {
        (void)brio_fail_errno(errno, "io_uring_register");
        goto unsupported;
    }
    for (int i = 0; i < DEPTH; i++)
        r->free[r->nfree++] = (unsigned char)i;
    *out = r;
    return BRIO_OK;
unsupported:
    brio_ring_free(r);
    return BRIO_EUNSUPOP;
}

void brio_ring_free(struct brio_ring *r)
{
    if (!r)
        return;
    if (r->sqes)
        munmap(r->sqes, r->sqes_bytes);
    if (r->rings)
        munmap(r->rings, r->rings_bytes);
    if (r->fd >= 0)
        close(r->fd);
    free(r);
}

/* ---- What is in memory ---------------------------------------------------------------- */

brio_off brio_ring_at_hand(const struct brio_port *port, const struct iovec *iov,
                           const struct brio_stretch *s)
{
    brio_off n = preadv2(port->fd, iov, s->niov, s->off, RWF_NOWAIT);
    if (n > 0)
        brio_count_call(port->stats, BRIO_READ, s->off, n, port->block);
    return n < 0 ? -errno : n;
}

/* ---- One access ---------------------------------------------------------------------- */

struct access {
    struct brio_ring *ring;
    const struct brio_port *port;
    const struct brio_io *io;
    struct brio_walk walk;
    brio_off issued; /* data bytes that requests have been written for */
    brio_off good;   /* no byte before this one has failed */
    enum brio_err err;
    char text[BRIO_ERR_TEXT];
};

static void add_request(struct access *a, int number)
{
    struct brio_ring *r = a->ring;
    struct slot *slot = &r->slots[number];
    unsigned tail = *r->sq_tail, at = tail & r->sq_mask;
    r->sqes[at] = (struct io_uring_sqe){
        .opcode = IORING_OP_READV,
        .flags = IOSQE_FIXED_FILE,
        .off = (__u64)slot->s.off,
        .addr = (__u64)(uintptr_t)slot->iov,
        .len = (unsigned)slot->s.niov,
        .user_data = (__u64)number,
    };
    r->sq_array[at] = at;
    __atomic_store_n(r->sq_tail, tail + 1, __ATOMIC_RELEASE);
    r->unsent++;
}

/* Requests for the next stretches, as long as there are slots. False if there are no more
 * stretches. */
static bool fill(struct access *a)
{
    struct brio_ring *r = a->ring;
    while (r->nfree > 0) {
        int number = r->free[r->nfree - 1];
        struct slot *slot = &r->slots[number];
        if (!brio_walk_next(&a->walk, SLOT_BYTES, SLOT_IOV, slot->iov, &slot->s))
            return false;
        slot->before = a->issued;
        a->issued += slot->s.len;
        if (brio_ring_at_hand(a->port, slot->iov, &slot->s) == slot->s.len)
            continue;
        r->nfree--;
        add_request(a, number);
    }
    return true;
}

/* A stretch that was not moved whole, once more. */
static void repair(struct access *a, struct slot *slot)
{
    struct brio_result r = brio_move_vector(a->port, BRIO_READ, slot->iov, &slot->s);
    if (r.bytes == slot->s.len || slot->before + r.bytes >= a->good)
        return;
    a->good = slot->before + r.bytes;
    a->err = r.err;
    if (r.err)
        brio_err_save(a->text);
}

static void harvest(struct access *a)
{
    struct brio_ring *r = a->ring;
    unsigned head = *r->cq_head, tail = __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE);
    for (; head != tail; head++) {
        const struct io_uring_cqe *cqe = &r->cqes[head & r->cq_mask];
        int number = (int)cqe->user_data;
        struct slot *slot = &r->slots[number];
        if (cqe->res == slot->s.len)
            brio_count_call(a->port->stats, BRIO_READ, slot->s.off, slot->s.len,
                            a->port->block);
        else
            repair(a, slot);
        r->free[r->nfree++] = (unsigned char)number;
    }
    __atomic_store_n(r->cq_head, head, __ATOMIC_RELEASE);
}

/* Tells the kernel what is new and waits for something to be done. */
static int enter(struct brio_ring *r)
{
    int n =
        (int)syscall(SYS_io_uring_enter, r->fd, r->unsent, 1, IORING_ENTER_GETEVENTS, NULL, 0);
    if (n < 0)
        return errno == EINTR ? 0 : errno;
    r->unsent -= (unsigned)n;
    return 0;
}

/* The kernel takes no more: requests that it has not seen are done by the port. */
static void give_up(struct access *a)
{
    struct brio_ring *r = a->ring;
    unsigned tail = *r->sq_tail;
    for (; r->unsent > 0; r->unsent--) {
        int number = (int)r->sqes[--tail & r->sq_mask].user_data;
        repair(a, &r->slots[number]);
        r->free[r->nfree++] = (unsigned char)number;
    }
    __atomic_store_n(r->sq_tail, tail, __ATOMIC_RELEASE);
}

struct brio_result brio_ring_read(struct brio_ring *ring, const struct brio_port *port,
                                  const struct brio_io *io)
{
    struct access a = {.ring = ring, .port = port, .io = io, .good = io->bytes};
    bool more = true;
    brio_walk_init(&a.walk, io);
    while (more || ring->nfree < DEPTH) {
        if (more)
            more = fill(&a);
        if (ring->nfree < DEPTH && enter(ring))
            give_up(&a);
        harvest(&a);
        more = more && a.good == io->bytes;
    }
    if (a.err)
        brio_err_restore(a.text);
    return (struct brio_result){a.err, a.good};
}
