/* Bytes by libpvfs2, whose requests name many places in the file and in memory at once, and go
 * to all servers concerned at the same time. Requests of too many pieces hang, or lose data
 * and tell nobody: so they are cut, and what they say to have moved is checked. */
#include <errno.h>
#include <string.h>

#include "fbtl/batch.h"
#include "fbtl/bites.h"
#include "fbtl/fbtl.h"
#include "fs/pvfs2.h"

enum {
    MAX_CALL = 64 << 20, /* lengths of pieces are of 32 bits */
    /* One piece may have more stripes than a request may have pieces; but not if the bytes are
     * so few that they go with the request, which is where pieces are counted. */
    SHORT_STRIPE = 4096,
    /* Bytes of a server that may come with its answer: 16 KiB by TCP. */
    SMALL = 32 << 10
};

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (strcmp(facts->store, BRIO_STORE_PVFS2) != 0)
        return brio_answer(-1, "the file is not opened by fs/pvfs2");
    return brio_answer(50, "the file is opened by fs/pvfs2");
}

static const struct brio_calls calls = {
    .name = {[BRIO_READ] = {"PVFS_sys_read", "PVFS_sys_read"},
             [BRIO_WRITE] = {"PVFS_sys_write", "PVFS_sys_write"}}};

/* Where in memory: the base that the places are counted from is put into *base. */
static int describe_memory(const struct brio_pvfs2_lib *lib, const struct brio_batch *b,
                           char **base, PVFS_Request *out)
{
    int32_t len[BRIO_BATCH_PIECES];
    PVFS_size at[BRIO_BATCH_PIECES];
    *base = b->mem[0].iov_base;
    for (int i = 1; i < b->nmem; i++)
        if ((char *)b->mem[i].iov_base < *base)
            *base = b->mem[i].iov_base;
    for (int i = 0; i < b->nmem; i++) {
        len[i] = (int32_t)b->mem[i].iov_len;
        at[i] = (char *)b->mem[i].iov_base - *base;
    }
    return b->nmem == 1 ? lib->Request_contiguous(len[0], *lib->byte, out)
                        : lib->Request_hindexed(b->nmem, len, at, *lib->byte, out);
}

static int describe_file(const struct brio_pvfs2_lib *lib, const struct brio_batch *b,
                         PVFS_Request *out)
{
    int32_t len[BRIO_BATCH_PIECES];
    PVFS_size at[BRIO_BATCH_PIECES];
    for (int i = 0; i < b->nfile; i++) {
        len[i] = (int32_t)b->file[i].len;
        at[i] = b->file[i].off;
    }
    return lib->Request_hindexed(b->nfile, len, at, *lib->byte, out);
}

/* One request: how many bytes were moved, or a negative errno. */
static brio_off transfer(const struct brio_pvfs2_file *f, enum brio_dir dir,
                         const struct brio_batch *b)
{
    const struct brio_pvfs2_lib *lib = brio_pvfs2_begin();
    PVFS_Request file = NULL, mem = NULL;
    PVFS_sysresp_io r = {0};
    char *base;
    bool listed = b->nfile > 1;
    int failed = describe_memory(lib, b, &base, &mem);
    if (!failed && listed)
        failed = describe_file(lib, b, &file);
    if (!failed)
        failed = lib->sys_io(f->ref, listed ? file : *lib->byte, listed ? 0 : b->file[0].off,
                             base, mem, &lib->who, &r,
                             dir == BRIO_READ ? PVFS_IO_READ : PVFS_IO_WRITE, NULL);
    if (mem)
        lib->Request_free(&mem);
    if (file)
        lib->Request_free(&file);
    brio_pvfs2_end();
    return failed ? -brio_pvfs2_errno(failed) : r.total_completed;
}

/* Whether the servers may all send the bytes along with their answers. If one of them has fewer
 * than it should, since nobody wrote the last ones, the library then puts zeros over others
 * that are there: seen with OrangeFS 2.10, not with a single server, nor with more bytes. */
static bool is_unsafe(const struct brio_pvfs2_file *f, enum brio_dir dir,
                      const struct brio_batch *b)
{
    brio_off most;
    return dir == BRIO_READ && f->nobjects > 1 && b->bytes / f->nobjects <= SMALL &&
           !brio_batch_is_one(b, f->strip, f->nobjects, &most) && most <= SMALL;
}

static brio_off call(const struct brio_port *port, enum brio_dir dir, const struct iovec *iov,
                     int niov, brio_off off)
{
    const struct brio_pvfs2_file *f = port->handle;
    struct brio_batch b;
    brio_batch_vector(iov, niov, off, port->most, f->strip, &b);
    if (is_unsafe(f, dir, &b))
        brio_batch_vector(iov, niov, off, f->strip - off % f->strip, f->strip, &b);
    return transfer(f, dir, &b);
}

/* Whether all bytes were moved. */
static bool move_batch(const struct brio_pvfs2_file *f, enum brio_dir dir,
                       const struct brio_batch *b)
{
    struct brio_batch part;
    bool fine = true;
    if (!is_unsafe(f, dir, b))
        return transfer(f, dir, b) == b->bytes;
    for (int from = 0; fine && brio_batch_part(b, f->strip, f->nobjects, &from, &part);)
        fine = transfer(f, dir, &part) == part.bytes;
    return fine;
}

/* Where a pattern turns back, or a request did not move all of its bytes, piece by piece: only
 * then it is certain which ones were moved. */
static struct brio_result stretches(const struct brio_port *port, const struct brio_io *io)
{
    const struct brio_pvfs2_file *f = port->handle;
    struct brio_walk walk;
    struct brio_batch b;
    struct brio_result all = {BRIO_OK, 0};
    if (!io->file->monotone)
        return brio_move_stretches(port, io);
    brio_walk_init(&walk, io);
    while (brio_batch_next(&walk, port->most, f->strip, &b)) {
        struct brio_result r = {BRIO_OK, b.bytes};
        if (move_batch(f, io->dir, &b)) {
            brio_count_call(port->stats, io->dir, b.file[0].off, b.bytes, port->block);
        } else {
            struct brio_io left = brio_bites_rest(io, all.bytes);
            left.bytes = b.bytes;
            r = brio_move_stretches(port, &left);
        }
        all.bytes += r.bytes;
        all.err = r.err;
        if (r.bytes < b.bytes)
            break;
    }
    return all;
}

static BRIO_ERR open_pvfs2(const struct brio_store *store, const void *conf,
                           struct brio_lane *out)
{
    const struct brio_bites_conf *c = conf;
    const struct brio_pvfs2_file *f = store->handle;
    enum brio_err err = brio_bites_lane(store, out);
    if (err)
        return err;
    struct brio_bites *b = out->self;
    b->port.move = call;
    b->port.most =
        f->strip > 0 && f->strip < SHORT_STRIPE ? f->strip * (BRIO_BATCH_PIECES - 1) : MAX_CALL;
    b->port.calls = &calls;
    b->stretches = stretches;
    b->sieve = (struct brio_sieve){
        .read = c->ds_read, .write = BRIO_OFF_NEVER, .read_window = c->rd_window};
    return BRIO_OK;
}

const struct brio_fbtl brio_fbtl_pvfs2 = {
    .base = {.name = "pvfs2",
             .about = "the requests of libpvfs2, of up to 64 pieces each",
             .hints = brio_bites_hints,
             .conf_size = sizeof(struct brio_bites_conf),
             .query = query},
    .open = open_pvfs2,
    .close = brio_bites_free,
};
