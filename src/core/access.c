/* Blocking and split data access. */
#include "comm/verdict.h"
#include "core/explain.h"
#include "core/file.h"
#include "core/op.h"
#include "core/ordered.h"
#include "core/ready.h"
#include "core/tally.h"

void brio_access_begin(struct brio_file *f, const struct brio_io *io, enum brio_err mine,
                       enum brio_wait how)
{
    char text[BRIO_ERR_TEXT];
    brio_phase_begin(f->stats, io->bytes);
    if (mine)
        brio_err_save(text);
    enum brio_err settled = brio_file_cache(f)->settle(&f->plain, io);
    if (!settled)
        settled = brio_settle_now(&f->settle);
    if (mine)
        brio_err_restore(text);
    brio_file_fcoll(f)->start(f->fcoll, io, mine ? mine : settled, how);
}

struct brio_result brio_access_run(struct brio_file *f, const struct brio_io *io,
                                   enum brio_err mine)
{
    const struct brio_fcoll *fcoll = brio_file_fcoll(f);
    struct brio_result result = {.err = BRIO_OK};
    struct brio_pause pause = {.idle = 0};
    bool done = false;
    brio_access_begin(f, io, mine, BRIO_BLOCK);
    for (;;) {
        fcoll->step(f->fcoll, brio_progress_wait(), &done, &result);
        if (done)
            break;
        brio_progress_rest(&pause);
    }
    brio_explain_access(f, io->dir, result);
    brio_phase(f->stats, BRIO_PHASE_NONE);
    return result;
}

bool brio_access_place(struct brio_file *f, const struct brio_call *call, enum brio_err *err,
                       struct brio_ready *r, struct brio_result *result)
{
    if (call->coll && call->ptr == BRIO_SHARED)
        brio_op_together(f);
    if (brio_ordered_serves(f, call))
        return brio_ordered_run(f, err, r, result);
    *err = brio_ready_place(f, call, *err, r);
    return false;
}

/* Collective. brio_agree, by a rank that may have more to do. */
static enum brio_err agree(struct brio_file *f, enum brio_err mine)
{
    struct brio_pause pause = {.idle = 0};
    struct brio_verdict v;
    enum brio_err verdict;
    brio_verdict_init(&v, mine);
    brio_verdict_start(&v, &f->team);
    while (!brio_verdict_done(&v, brio_progress_wait(), &verdict))
        brio_progress_rest(&pause);
    return verdict;
}

BRIO_ERR brio_access(struct brio_file *f, const struct brio_call *call, brio_off *bytes)
{
    struct brio_ready r;
    struct brio_result result = {.err = BRIO_OK};
    struct brio_tally tally;
    *bytes = 0;
    brio_tally_begin(f, &tally);
    if (call->coll)
        brio_op_await_turn(f);
    enum brio_err err = brio_ready_make(f, call, &r);
    if (!brio_access_place(f, call, &err, &r, &result)) {
        if (call->coll)
            result = brio_access_run(f, &r.io, err);
        else if (err)
            result.err = err;
        else
            result = brio_ready_move(f, &r);
    }
    *bytes = brio_ready_finish(&r, &result);
    brio_ready_free(&r);
    if (brio_ready_converts(f, call))
        result.err = agree(f, result.err);
    brio_tally_access(f, call, result.err, *bytes, &tally);
    return result.err;
}

enum brio_err brio_access_refuse(struct brio_file *f, const struct brio_call *call,
                                 enum brio_err err)
{
    struct brio_ready r = {.io = {.dir = call->dir}, .type = MPI_DATATYPE_NULL};
    struct brio_result result;
    brio_op_await_turn(f);
    if (!brio_access_place(f, call, &err, &r, &result))
        result = brio_access_run(f, &r.io, err);
    return brio_ready_converts(f, call) ? agree(f, result.err) : result.err;
}

BRIO_ERR brio_split_begin(struct brio_file *f, const struct brio_call *call)
{
    if (f->split)
        return brio_fail(BRIO_EIO, "a split collective is already under way on this file");
    struct brio_op *op;
    enum brio_err err = brio_op_new(f, call, &op);
    if (err)
        return err;
    f->split = op;
    brio_op_start(op, NULL, NULL);
    return BRIO_OK;
}

BRIO_ERR brio_split_end(struct brio_file *f, enum brio_dir dir, enum brio_ptr ptr,
                        const void *buf, brio_off *bytes)
{
    *bytes = 0;
    if (!f->split)
        return brio_fail(BRIO_EIO, "no split collective was begun on this file");
    const struct brio_call *begun = brio_op_call(f->split);
    if (begun->dir != dir || begun->ptr != ptr)
        return brio_fail(BRIO_EIO, "this end does not belong to the split collective begun");
    if (begun->buf != buf)
        return brio_fail(BRIO_EIO, "begin and end of a split collective name other buffers");
    brio_op_await(f->split);
    enum brio_err err = brio_op_result(f->split, bytes);
    brio_op_free(f->split);
    f->split = NULL;
    return err;
}
