/* From an MPI call to an io: checks, maps, conversion, position. */
#include "core/ready.h"

#include <stdlib.h>

#include "base/mem.h"
#include "comm/verdict.h"
#include "core/shared.h"
#include "type/datarep.h"
#include "type/flatten.h"

static BRIO_ERR check_call(const struct brio_file *f, const struct brio_call *call)
{
    if (call->dir == BRIO_WRITE && f->amode & MPI_MODE_RDONLY)
        return brio_fail(BRIO_ERDONLY, "write to a file opened read-only");
    if (call->dir == BRIO_READ && f->amode & MPI_MODE_WRONLY)
        return brio_fail(BRIO_EACCESS, "read from a file opened write-only");
    if (call->ptr != BRIO_SHARED && f->amode & MPI_MODE_SEQUENTIAL)
        return brio_fail(BRIO_EUNSUPOP, "in sequential mode only the shared pointer is used");
    if (call->count < 0)
        return brio_fail(BRIO_ECOUNT, "count %lld", (long long)call->count);
    if (call->ptr == BRIO_AT && call->off < 0)
        return brio_fail(BRIO_EARG, "offset %lld", (long long)call->off);
    if (call->type == MPI_DATATYPE_NULL || !brio_type_committed(call->type))
        return brio_fail(BRIO_ETYPE, "the datatype is null or not committed");
    return call->ptr == BRIO_SHARED ? brio_shared_need(f) : BRIO_OK;
}

/* MPI_BOTTOM is address 0, so a null buffer may be right, but not if data would lie there. */
static BRIO_ERR check_buffer(const struct brio_ready *r, const void *buf)
{
    if (r->io.bytes > 0 && (intptr_t)buf + r->mem->lo < 4096)
        return brio_fail(BRIO_EARG, "no buffer for %lld bytes", (long long)r->io.bytes);
    return BRIO_OK;
}

/* The data in the file's form goes through a buffer of its own. */
static BRIO_ERR stage(struct brio_file *f, const struct brio_call *call, struct brio_ready *r)
{
    const struct brio_datarep *rep = f->view.rep;
    brio_off item, bytes;
    struct brio_map *flat = NULL;
    void *staged = NULL;
    enum brio_err err = brio_datarep_size(rep, call->type, &item);
    if (!err && !brio_mul(item, call->count, &bytes))
        err = brio_fail(BRIO_ECOUNT, "%lld items of %lld bytes", (long long)call->count,
                        (long long)item);
    if (!err)
        err = brio_calloc(1, (size_t)bytes, &staged);
    if (!err)
        err = brio_map_bytes(1, &flat);
    if (!err && call->dir == BRIO_WRITE)
        err = brio_datarep_encode(rep, call->buf, call->type, call->count, staged);
    /* The user may free the type before a nonblocking read is done. */
    if (!err && PMPI_Type_dup(call->type, &r->type) != MPI_SUCCESS)
        err = brio_fail(BRIO_ETYPE, "the datatype cannot be duplicated");
    if (err) {
        free(staged);
        brio_map_unref(flat);
        return err;
    }
    brio_map_unref(r->mem);
    r->mem = flat;
    r->staged = staged;
    r->rep = rep;
    r->buf = call->buf;
    r->count = call->count;
    r->io.mem = flat;
    r->io.buf = staged;
    r->io.bytes = bytes;
    return BRIO_OK;
}

static BRIO_ERR fill(struct brio_file *f, const struct brio_call *call, struct brio_ready *r)
{
    enum brio_err err = check_call(f, call);
    if (!err)
        err = brio_flatten(call->type, &r->mem);
    if (err)
        return err;
    r->io.mem = r->mem;
    r->io.buf = call->buf;
    if (!brio_mul(r->mem->size, call->count, &r->io.bytes))
        return brio_fail(BRIO_ECOUNT, "%lld items of %lld bytes", (long long)call->count,
                         (long long)r->mem->size);
    err = check_buffer(r, call->buf);
    if (!err && !brio_datarep_is_native(f->view.rep))
        err = stage(f, call, r);
    if (err)
        return err;
    r->etypes = f->view.etype_size == 1 ? r->io.bytes : r->io.bytes / f->view.etype_size;
    if (r->etypes * f->view.etype_size != r->io.bytes)
        return brio_fail(BRIO_EIO, "%lld bytes are no multiple of the etype's %lld",
                         (long long)r->io.bytes, (long long)f->view.etype_size);
    if (r->io.bytes > 0 && f->view.map->size == 0)
        return brio_fail(BRIO_EIO, "the view has no room for data");
    return BRIO_OK;
}

BRIO_ERR brio_ready_make(struct brio_file *f, const struct brio_call *call,
                         struct brio_ready *out)
{
    /* One by one: clearing all of it costs a small write a tenth of its time in the library. */
    out->io = (struct brio_io){.dir = call->dir, .file = f->view.map, .base = f->view.disp};
    out->mem = NULL;
    out->etypes = 0;
    out->logged = false;
    out->staged = NULL;
    out->type = MPI_DATATYPE_NULL;
    enum brio_err err = fill(f, call, out);
    if (err) {
        brio_ready_free(out);
        out->io.bytes = 0;
    }
    return err;
}

/* Collective. Places of all ranks in rank order, by a scan; the last rank knows the sum and
 * moves the pointer before anyone goes on. */
static BRIO_ERR take_ordered(struct brio_file *f, brio_off n, brio_off *at)
{
    int64_t before = 0, mine = n;
    struct {
        int64_t base;
        int64_t err;
    } word = {0, BRIO_OK};
    PMPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, f->team.comm);
    if (f->team.rank == 0)
        before = 0;
    if (f->team.rank == f->team.nranks - 1)
        word.err = brio_shared_take(f, before + mine, &word.base);
    PMPI_Bcast(&word, 2, MPI_INT64_T, f->team.nranks - 1, f->team.comm);
    if (word.err && f->team.rank != f->team.nranks - 1)
        return brio_fail((enum brio_err)word.err, "the shared pointer could not be moved");
    *at = word.base + before;
    return (enum brio_err)word.err;
}

/* Collective. The same where the ranks keep logs: once these are empty, all know where the
 * pointer stands, and all move it. */
static BRIO_ERR take_after_logs(struct brio_file *f, brio_off n, brio_off *at)
{
    int64_t before = 0, mine = n, total = 0;
    enum brio_err err = brio_shared_settle(f);
    if (err)
        return err;
    PMPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, f->team.comm);
    PMPI_Allreduce(&mine, &total, 1, MPI_INT64_T, MPI_SUM, f->team.comm);
    if (f->team.rank == 0)
        before = 0;
    err = brio_shared_stand(f, total, at);
    if (err)
        return err;
    brio_shared_move(f, *at + total);
    *at += before;
    return BRIO_OK;
}

static BRIO_ERR take_shared(struct brio_file *f, bool coll, struct brio_ready *r, brio_off *at)
{
    const struct brio_sharedlog *log = brio_file_log(f);
    brio_shared_touch(f);
    if (coll)
        return log ? take_after_logs(f, r->etypes, at) : take_ordered(f, r->etypes, at);
    if (!log)
        return brio_shared_take(f, r->etypes, at);
    *at = 0;
    r->logged = true;
    return log->append(f->sharedfp, r->io.mem, r->io.buf, r->io.bytes);
}

static BRIO_ERR take_own(struct brio_file *f, brio_off n, brio_off *at)
{
    pthread_mutex_lock(&f->lock);
    *at = f->pointer;
    bool fits = brio_add(f->pointer, n, &f->pointer);
    if (!fits)
        f->pointer = *at;
    pthread_mutex_unlock(&f->lock);
    return fits ? BRIO_OK
                : brio_fail(BRIO_EARG,
                            "%lld etypes from %lld on are beyond what a file can hold",
                            (long long)n, (long long)*at);
}

static BRIO_ERR take_position(struct brio_file *f, const struct brio_call *call,
                              struct brio_ready *r, brio_off *at)
{
    switch (call->ptr) {
    case BRIO_AT:
        *at = call->off;
        return BRIO_OK;
    case BRIO_OWN:
        return take_own(f, r->etypes, at);
    case BRIO_SHARED:
        return take_shared(f, call->coll, r, at);
    }
    return BRIO_OK;
}

BRIO_ERR brio_ready_place(struct brio_file *f, const struct brio_call *call, enum brio_err mine,
                          struct brio_ready *r)
{
    brio_off at = 0;
    bool ordered = call->coll && call->ptr == BRIO_SHARED;
    if (mine && !(ordered && brio_file_sharedfp(f)))
        return mine;
    char text[BRIO_ERR_TEXT];
    if (mine) {
        brio_err_save(text);
        r->etypes = 0;
    }
    enum brio_err err = take_position(f, call, r, &at);
    if (mine) {
        brio_err_restore(text);
        return mine;
    }
    if (!err && !r->logged)
        err = brio_view_place(&f->view, at, r->io.bytes, &r->io.pos);
    if (err)
        r->io.bytes = 0;
    return err;
}

struct brio_result brio_ready_move(struct brio_file *f, const struct brio_ready *r)
{
    if (r->logged || r->io.bytes == 0)
        return (struct brio_result){.bytes = r->io.bytes};
    int weight = brio_sample(f->stats, r->io.bytes);
    if (!weight)
        return brio_lane_access(&f->lane, &r->io);
    int64_t began = brio_now();
    struct brio_result result = brio_lane_access(&f->lane, &r->io);
    brio_count(f->stats, BRIO_N_PHASE + BRIO_PHASE_FILE, weight * (brio_now() - began));
    return result;
}

brio_off brio_ready_finish(struct brio_ready *r, struct brio_result *result)
{
    brio_off bytes = result->bytes;
    if (!r->staged)
        return bytes;
    if (r->io.dir == BRIO_READ) {
        enum brio_err err =
            brio_datarep_decode(r->rep, r->buf, r->type, r->count, r->staged, &bytes);
        if (err && !result->err)
            result->err = err;
        return err ? 0 : bytes;
    }
    /* Written: as many data bytes in memory as items are whole in the file. */
    brio_off item;
    struct brio_map *mem;
    if (brio_datarep_size(r->rep, r->type, &item) != BRIO_OK || item == 0 ||
        brio_flatten(r->type, &mem) != BRIO_OK)
        return 0;
    bytes = result->bytes / item * mem->size;
    brio_map_unref(mem);
    return bytes;
}

bool brio_ready_converts(const struct brio_file *f, const struct brio_call *call)
{
    return call->coll && call->dir == BRIO_READ && !brio_datarep_is_native(f->view.rep);
}

void brio_ready_free(struct brio_ready *r)
{
    brio_map_unref(r->mem);
    free(r->staged);
    if (r->type != MPI_DATATYPE_NULL)
        PMPI_Type_free(&r->type);
    r->mem = NULL;
    r->staged = NULL;
}
