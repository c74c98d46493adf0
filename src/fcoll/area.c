/* Layout of the shared memory. */
#include "fcoll/area.h"

enum {
    PAGE = 4096,
    DESKS = 2 * BRIO_DESK
};

static size_t round_up(size_t n)
{
    return (n + PAGE - 1) / PAGE * PAGE;
}

static size_t gates_end(int nranks)
{
    return sizeof(struct brio_area) + (size_t)nranks * BRIO_BUFFERS * sizeof(struct brio_gate);
}

static size_t bells_end(int nranks)
{
    return gates_end(nranks) + (size_t)nranks * sizeof(struct brio_doorbell);
}

static size_t head_bytes(int nranks)
{
    return round_up(bells_end(nranks) + sizeof(struct brio_berths) +
                    (size_t)nranks * sizeof(int32_t));
}

struct brio_bell *brio_area_bell(const struct brio_crew *crew, int nranks, int rank)
{
    char *bells = crew->region.mem + gates_end(nranks);
    return &((struct brio_doorbell *)(void *)bells)[rank].bell;
}

void brio_area_call(const struct brio_crew *crew, int nranks)
{
    for (int rank = 0; rank < nranks; rank++)
        if (crew->crew_of[rank] == crew->mine)
            brio_bell_ring(brio_area_bell(crew, nranks, rank));
    brio_bell_ring(&brio_area_of(crew)->over);
}

struct brio_berths *brio_area_berths(const struct brio_crew *crew, int nranks)
{
    return (struct brio_berths *)(void *)(crew->region.mem + bells_end(nranks));
}

static size_t buffer_bytes(brio_off bytes)
{
    return round_up((size_t)bytes + BRIO_BOX_HEAD);
}

static size_t corner_bytes(brio_off bytes)
{
    return BRIO_BUFFERS * buffer_bytes(bytes) + DESKS;
}

size_t brio_area_bytes(int nranks, int nowners, brio_off bytes)
{
    return head_bytes(nranks) + (size_t)nowners * corner_bytes(bytes);
}

char *brio_area_desk(const struct brio_crew *crew, int nranks, brio_off bytes, int owner)
{
    return crew->region.mem + head_bytes(nranks) + (size_t)owner * corner_bytes(bytes);
}

char *brio_area_buffer(const struct brio_crew *crew, int nranks, brio_off bytes, int owner,
                       size_t k)
{
    return brio_area_desk(crew, nranks, bytes, owner) + DESKS +
           k % BRIO_BUFFERS * buffer_bytes(bytes);
}
