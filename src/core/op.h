/* Nonblocking operations as core itself uses them; what mpi/ may do is in core.h. */
#ifndef BRIO_CORE_OP_H
#define BRIO_CORE_OP_H

#include "core/core.h"
#include "lane/lane.h"
#include "lane/pool.h"

/* The call that the operation is for. */
const struct brio_call *brio_op_call(const struct brio_op *op);

/* Waits until it is done, driving what this thread may drive. */
void brio_op_await(struct brio_op *op);

struct brio_ready;

/* Where in the file the access is, and for some ordered calls all of it: true if it is over,
 * with *result. *err is what is wrong here, before and after. Collective for ordered calls. */
bool brio_access_place(struct brio_file *f, const struct brio_call *call, enum brio_err *err,
                       struct brio_ready *r, struct brio_result *result);

/* Collective: begins an access of the file's fcoll module, behind all that this rank has
 * written before. `mine` is what is already wrong here, its text this thread's last. */
void brio_access_begin(struct brio_file *f, const struct brio_io *io, enum brio_err mine,
                       enum brio_wait how);

/* Collective, blocking: runs the file's fcoll module on this thread. No collective operation
 * may be under way. */
struct brio_result brio_access_run(struct brio_file *f, const struct brio_io *io,
                                   enum brio_err mine);

/* Collective, blocking: takes part in the call with nothing but the failure, so that the
 * other ranks learn of it. Returns err. */
enum brio_err brio_access_refuse(struct brio_file *f, const struct brio_call *call,
                                 enum brio_err err);

/* Waits for all operations / all collective operations begun on the file. */
void brio_op_drain(struct brio_file *f);
void brio_op_await_turn(struct brio_file *f);

/* How the calling thread may wait for other ranks: not where it drives nothing, while it has
 * operations that nobody else drives. Another rank may have to see one of them through before
 * it comes. */
enum brio_wait brio_progress_wait(void);

/* How long there was nothing to do. */
struct brio_pause {
    unsigned seen; /* steps of operations so far that got something done */
    int idle;      /* looks since then */
};

/* Between two looks of one that waits: drives, then rests, the longer the less there is to do.
 */
void brio_progress_rest(struct brio_pause *pause);

/* Collective. Before a call in which ranks wait for each other inside of MPI: if only calls
 * drive, comes back when all ranks are there, and drives till then. */
void brio_op_together(struct brio_file *f);

/* Ends the threads; everything must be done. */
void brio_progress_finalize(void);

#endif
