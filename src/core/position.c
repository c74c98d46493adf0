/* The individual and the shared file pointer, and what an offset in a view means. */
#include "comm/verdict.h"
#include "core/core.h"
#include "core/file.h"
#include "core/op.h"
#include "core/shared.h"

static BRIO_ERR forbid_sequential(const struct brio_file *f)
{
    if (f->amode & MPI_MODE_SEQUENTIAL)
        return brio_fail(BRIO_EUNSUPOP, "in sequential mode only the shared pointer is used");
    return BRIO_OK;
}

/* Where a seek goes, given where the pointer stands and how long the file is. */
static BRIO_ERR find_target(const struct brio_file *f, brio_off off, int whence, brio_off from,
                            brio_off size, brio_off *out)
{
    brio_off base = 0, target;
    if (whence == MPI_SEEK_CUR)
        base = from;
    else if (whence == MPI_SEEK_END)
        base = brio_view_end(&f->view, size);
    else if (whence != MPI_SEEK_SET)
        return brio_fail(BRIO_EARG, "whence %d", whence);
    if (!brio_add(base, off, &target) || target < 0)
        return brio_fail(BRIO_EARG, "a seek by %lld to before the beginning", (long long)off);
    *out = target;
    return BRIO_OK;
}

/* The size of the file if the seek is from its end, as far as this rank knows it: a cache may
 * keep back what others have written. */
static BRIO_ERR ask_size(struct brio_file *f, int whence, enum brio_err mine, brio_off *size)
{
    return !mine && whence == MPI_SEEK_END ? brio_file_get_size(f, size) : mine;
}

BRIO_ERR brio_file_seek(struct brio_file *f, brio_off off, int whence)
{
    brio_off target, size = 0;
    enum brio_err err = ask_size(f, whence, forbid_sequential(f), &size);
    if (err)
        return err;
    pthread_mutex_lock(&f->lock);
    err = find_target(f, off, whence, f->pointer, size, &target);
    if (!err)
        f->pointer = target;
    pthread_mutex_unlock(&f->lock);
    return err;
}

BRIO_ERR brio_file_get_position(struct brio_file *f, brio_off *out)
{
    enum brio_err err = forbid_sequential(f);
    if (err)
        return err;
    pthread_mutex_lock(&f->lock);
    *out = f->pointer;
    pthread_mutex_unlock(&f->lock);
    return BRIO_OK;
}

BRIO_ERR brio_file_get_byte_offset(struct brio_file *f, brio_off off, brio_off *out)
{
    const struct brio_view *view = &f->view;
    brio_off pos, byte = 0;
    if (off < 0)
        return brio_fail(BRIO_EARG, "offset %lld", (long long)off);
    enum brio_err err = brio_view_place(view, off, 0, &pos);
    if (err)
        return err;
    if (view->map->size > 0)
        byte = brio_map_offset(view->map, pos);
    if (byte == BRIO_OFF_MAX || !brio_add(byte, view->disp, &byte))
        return brio_fail(BRIO_EARG, "offset %lld is beyond what a file can hold",
                         (long long)off);
    *out = byte;
    return BRIO_OK;
}

/* Collective. Where the ranks keep logs, these are emptied, and all move the pointer. */
static BRIO_ERR seek_after_logs(struct brio_file *f, brio_off off, int whence)
{
    struct brio_verdict v;
    brio_off target = 0, pos, size = 0;
    enum brio_err err = brio_shared_settle(f);
    if (err)
        return err;
    brio_verdict_init(&v, ask_size(f, whence, BRIO_OK, &size));
    v.most = size;
    err = brio_verdict_settle(&v, &f->team);
    if (err)
        return err;
    if (f->team.rank == 0)
        err = find_target(f, off, whence, brio_shared_position(f), v.most, &target);
    if (!err && f->team.rank == 0)
        err = brio_view_place(&f->view, target, 0, &pos);
    err = brio_follow(&f->team, err);
    if (err)
        return err;
    PMPI_Bcast(&target, 1, MPI_INT64_T, 0, f->team.comm);
    brio_shared_move(f, target);
    return BRIO_OK;
}

/* Collective. Rank 0 moves the pointer between two agreements: when all have come, and
 * before anyone leaves. */
BRIO_ERR brio_file_seek_shared(struct brio_file *f, brio_off off, int whence)
{
    struct brio_verdict v;
    brio_off size = 0;
    brio_op_await_turn(f);
    brio_op_together(f);
    enum brio_err err = brio_shared_need(f);
    if (!err && whence != MPI_SEEK_SET && whence != MPI_SEEK_CUR && whence != MPI_SEEK_END)
        err = brio_fail(BRIO_EARG, "whence %d", whence);
    if (!err && whence == MPI_SEEK_SET && off < 0)
        err = brio_fail(BRIO_EARG, "a seek to %lld", (long long)off);
    err = ask_size(f, whence, err, &size);
    brio_verdict_init(&v, err);
    v.most = size;
    brio_verdict_same(&v, "the offset", off);
    brio_verdict_same(&v, "whence", whence);
    err = brio_verdict_settle(&v, &f->team);
    if (err)
        return err;
    if (brio_file_log(f))
        return seek_after_logs(f, off, whence);
    if (f->team.rank == 0) {
        const struct brio_sharedfp *sharedfp = brio_file_sharedfp(f);
        brio_off from = 0, target = 0;
        err = sharedfp->add(f->sharedfp, 0, &from);
        if (!err)
            err = find_target(f, off, whence, from, v.most, &target);
        if (!err)
            err = sharedfp->set(f->sharedfp, target);
        brio_shared_touch(f);
    }
    return brio_follow(&f->team, err);
}

BRIO_ERR brio_file_get_position_shared(struct brio_file *f, brio_off *out)
{
    enum brio_err err = brio_shared_need(f);
    f->shared_known = true;
    return err ? err : brio_file_sharedfp(f)->add(f->sharedfp, 0, out);
}
