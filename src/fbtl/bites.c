/* Each bite moved the way that the sieve names. */
#include "fbtl/bites.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "fbtl/mapped.h"
#include "lane/task.h"
#include "type/pack.h"

struct brio_bite_buffer {
    size_t size;
    char data[] __attribute__((aligned(BRIO_LINE)));
};

/* NULL if there is no memory. Wherever in a line the data begins, there is room. */
static struct brio_bite_buffer *take_buffer(struct brio_bites *p, brio_off size)
{
    struct brio_bite_buffer *b = atomic_exchange(&p->spare, NULL);
    if (b && b->size >= (size_t)size)
        return b;
    free(b);
    size_t whole = (sizeof *b + (size_t)size + 2 * BRIO_LINE - 1) / BRIO_LINE * BRIO_LINE;
    b = aligned_alloc(BRIO_LINE, whole);
    if (b)
        b->size = whole - sizeof *b - BRIO_LINE;
    return b;
}

static void give_buffer(struct brio_bites *p, struct brio_bite_buffer *b)
{
    free(atomic_exchange(&p->spare, b));
}

static struct brio_result pack(struct brio_bites *p, const struct brio_io *io)
{
    struct brio_bite_buffer *b = take_buffer(p, io->bytes);
    if (!b)
        return p->stretches(&p->port, io);
    struct brio_io packed = *io;
    packed.mem = p->flat;
    packed.mem_pos = 0;
    packed.buf = b->data;
    if (io->dir == BRIO_WRITE)
        brio_pack(b->data, io->mem, io->buf, io->mem_pos, io->bytes);
    struct brio_result r = p->stretches(&p->port, &packed);
    if (io->dir == BRIO_READ && r.bytes > 0)
        brio_unpack(io->buf, io->mem, b->data, io->mem_pos, r.bytes);
    give_buffer(p, b);
    brio_count(p->port.stats, BRIO_N_COPIED, r.bytes);
    return r;
}

struct brio_io brio_bites_rest(const struct brio_io *io, brio_off moved)
{
    struct brio_io r = *io;
    r.pos += moved;
    r.mem_pos += moved;
    r.bytes -= moved;
    return r;
}

/* Data begins where it does in a line of the file (fbtl/even.h). A failure in the window may
 * have been in a gap; reading the rest piece by piece tells. */
static struct brio_result read_window(struct brio_bites *p, const struct brio_io *io,
                                      const struct brio_bite *bite)
{
    struct brio_cursor file, mem;
    struct brio_bite_buffer *b = take_buffer(p, bite->hi - bite->lo);
    if (!b)
        return p->stretches(&p->port, io);
    char *data = b->data + bite->lo % BRIO_LINE;
    struct brio_result got =
        brio_move_flat(&p->port, BRIO_READ, data, bite->lo, bite->hi - bite->lo);
    brio_off n = io->bytes, end = bite->lo + got.bytes;
    if (end < bite->hi)
        n = brio_map_below(io->file, end - io->base) - io->pos;
    if (n > 0) {
        brio_cursor_init(&file, io->file, io->pos);
        brio_cursor_init(&mem, io->mem, io->mem_pos);
        /* Where offset 0 of the pattern would be; a number, for it may be nowhere. */
        uintptr_t origin = (uintptr_t)data + (uintptr_t)(io->base - bite->lo);
        brio_copy(io->buf, &mem, (const void *)origin, &file, n);
    }
    give_buffer(p, b);
    brio_count(p->port.stats, BRIO_N_COPIED, n);
    brio_count(p->port.stats, BRIO_N_HOLES, got.bytes - n);
    if (got.err == BRIO_OK)
        return (struct brio_result){BRIO_OK, n};
    struct brio_io left = brio_bites_rest(io, n);
    struct brio_result r = p->stretches(&p->port, &left);
    r.bytes += n;
    return r;
}

static struct brio_result move_bite(struct brio_bites *p, const struct brio_io *io,
                                    const struct brio_bite *bite)
{
    if (bite->way == BRIO_WAY_PACK)
        return pack(p, io);
    if (bite->way == BRIO_WAY_WINDOW && io->dir == BRIO_READ)
        return read_window(p, io, bite);
    if (bite->way == BRIO_WAY_WINDOW && brio_mapped_write(&p->port, io, bite->lo, bite->hi))
        return (struct brio_result){BRIO_OK, io->bytes};
    return p->stretches(&p->port, io);
}

struct brio_result brio_bites_move(struct brio_bites *p, const struct brio_io *io)
{
    struct brio_result all = {BRIO_OK, 0};
    while (all.bytes < io->bytes) {
        struct brio_io left = brio_bites_rest(io, all.bytes);
        struct brio_bite bite;
        brio_sieve_next(&p->sieve, &left, &bite);
        left.bytes = bite.bytes;
        struct brio_result r = move_bite(p, &left, &bite);
        all.bytes += r.bytes;
        all.err = r.err;
        if (r.bytes < bite.bytes)
            break;
    }
    return all;
}

/* True if the access is one piece on that side; *off is then where it begins. */
static inline bool one_piece(const struct brio_map *map, brio_off pos, brio_off bytes,
                             brio_off *off)
{
    if (!map->contiguous)
        return brio_map_is_piece(map, pos, bytes, off);
    *off = pos;
    return true;
}

bool brio_bites_flat(struct brio_bites *p, const struct brio_io *io, struct brio_result *r)
{
    brio_off off, at;
    if (io->bytes <= 0)
        *r = (struct brio_result){BRIO_OK, 0};
    else if (one_piece(io->file, io->pos, io->bytes, &off) &&
             one_piece(io->mem, io->mem_pos, io->bytes, &at))
        *r = brio_move_flat(&p->port, io->dir, (char *)io->buf + at, io->base + off, io->bytes);
    else
        return false;
    return true;
}

struct brio_result brio_bites_any(void *self, const struct brio_io *io)
{
    struct brio_result r;
    return brio_bites_flat(self, io, &r) ? r : brio_bites_move(self, io);
}

/* ---- The lane --------------------------------------------------------------------------- */

const struct brio_hint brio_bites_hints[] = {
    {.name = "ds_read",
     .aliases = "romio_ds_read",
     .kind = BRIO_HINT_SWITCH,
     .offset = offsetof(struct brio_bites_conf, ds_read),
     .def = "automatic",
     .help = "Read small pieces that lie close together with the gaps between them."},
    {.name = "ind_rd_buffer_size",
     .kind = BRIO_HINT_BYTES,
     .offset = offsetof(struct brio_bites_conf, rd_window),
     .def = "1m",
     .min = 4096,
     .max = 1 << 30,
     .help = "Bytes of the file read at once with the gaps."},
    {.name = NULL},
};

static void submit(void *self, const struct brio_io *io, enum brio_wait how,
                   struct brio_ticket *ticket)
{
    struct brio_bites *p = self;
    brio_task_submit(p->move, p, p->port.stats, io, how, ticket);
}

static void reap(void *self, struct brio_ticket *ticket, enum brio_wait how)
{
    (void)self;
    brio_task_reap(ticket, how);
}

static BRIO_ERR flush(void *self)
{
    (void)self;
    return BRIO_OK;
}

static const struct brio_lane_ops ops = {submit, reap, flush};

BRIO_ERR brio_bites_lane(const struct brio_store *store, struct brio_lane *out)
{
    void *mem;
    enum brio_err err = brio_calloc(1, sizeof(struct brio_bites), &mem);
    if (err)
        return err;
    struct brio_bites *p = mem;
    atomic_init(&p->spare, NULL);
    p->port = brio_port_of(store);
    p->move = brio_bites_any;
    p->stretches = brio_move_stretches;
    err = brio_map_bytes(1, &p->flat);
    if (err) {
        free(p);
        return err;
    }
    *out = (struct brio_lane){.ops = &ops, .self = p};
    return BRIO_OK;
}

void brio_bites_free(struct brio_lane *lane)
{
    struct brio_bites *p = lane->self;
    brio_map_unref(p->flat);
    free(atomic_load(&p->spare));
    free(p);
    lane->self = NULL;
}
