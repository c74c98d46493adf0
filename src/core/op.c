/* Nonblocking operations and what drives them. Independent ones are done by the pool's
 * threads, which never call MPI. Collective ones need MPI: at MPI_THREAD_MULTIPLE a thread
 * of ours steps them, else the program's own calls do (brio_progress), also those that wait
 * for other ranks about another file: these may wait for ours. Collectives of one
 * file run one after the other in the order they were begun, the same on every rank;
 * collectives of different files advance side by side, for their order may differ. */
#define _GNU_SOURCE
#include "core/op.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "comm/verdict.h"
#include "core/file.h"
#include "core/explain.h"
#include "core/ready.h"
#include "core/tally.h"

struct brio_op {
    struct brio_job job; /* first, for the pool */
    struct brio_file *file;
    int handle; /* of the file, which may be closed before the operation is reaped */
    struct brio_call call;
    struct brio_tally tally;
    struct brio_ready ready;
    enum brio_err mine; /* what was wrong before it began */
    struct brio_result result;
    char text[BRIO_ERR_TEXT]; /* of mine, then of result.err */
    brio_off bytes;
    enum stage {
        WAITING,
        MOVING,
        MOVED,     /* nothing is left to be done by fcoll */
        CONVERTING /* the second verdict of a converted read is under way */
    } stage;
    struct brio_verdict verdict;
    bool over; /* with the file's lock */
    void (*notify)(void *arg);
    void *arg;
    struct brio_op *next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;           /* there is a collective to drive */
    struct brio_op *first, **last; /* collectives under way, in the order they were begun */
    struct brio_op *moved;         /* independent ones whose bytes have moved, to be closed */
    bool threaded, stop;           /* our thread drives; it is asked to end */
    pthread_t thread;
    pthread_mutex_t driving; /* one thread at a time steps collectives */
    _Atomic int pending;
    _Atomic unsigned advances; /* steps that got something done */
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .wake = PTHREAD_COND_INITIALIZER,
            .last = &engine.first,
            .driving = PTHREAD_MUTEX_INITIALIZER};

BRIO_ERR brio_op_new(struct brio_file *f, const struct brio_call *call, struct brio_op **out)
{
    struct brio_op *op;
    enum brio_err err = brio_calloc(1, sizeof *op, (void **)&op);
    if (err)
        return call->coll ? brio_access_refuse(f, call, err) : err;
    op->file = f;
    op->handle = f->handle;
    op->call = *call;
    brio_tally_begin(f, &op->tally);
    if (call->coll && call->ptr == BRIO_SHARED)
        brio_op_await_turn(f); /* for the scan that gives the places */
    err = brio_ready_make(f, call, &op->ready);
    if (brio_access_place(f, call, &err, &op->ready, &op->result))
        op->stage = MOVED;
    if (err && !call->coll) {
        brio_op_free(op);
        return err;
    }
    op->mine = err;
    if (err || op->result.err)
        brio_err_save(op->text);
    *out = op;
    return BRIO_OK;
}

void brio_op_refuse(struct brio_op *op, enum brio_err err)
{
    op->mine = err;
    op->ready.io.bytes = 0;
    brio_err_save(op->text);
}

void brio_op_free(struct brio_op *op)
{
    brio_ready_free(&op->ready);
    free(op);
}

/* What was read becomes the user's data. */
static void convert(struct brio_op *op)
{
    if (op->result.err)
        brio_err_restore(op->text);
    op->bytes = brio_ready_finish(&op->ready, &op->result);
    if (op->result.err)
        brio_err_save(op->text);
}

/* The operation is over: nothing of ours touches it or its file after notify. */
static void finish(struct brio_op *op)
{
    struct brio_file *f = op->file;
    void (*notify)(void *) = op->notify;
    void *arg = op->arg;
    if (op->stage != CONVERTING)
        convert(op);
    brio_tally_access(f, &op->call, op->result.err, op->bytes, &op->tally);
    brio_count(f->stats, BRIO_N_NONBLOCKING + (int)op->call.dir, 1);
    pthread_mutex_lock(&f->lock);
    op->over = true;
    f->nactive--;
    f->ncoll -= op->call.coll;
    pthread_mutex_unlock(&f->lock);
    atomic_fetch_sub(&engine.pending, 1);
    if (notify)
        notify(arg);
}

/* On a thread of the pool. Closing the operation may call MPI (the request, a user's
 * conversion), so below MPI_THREAD_MULTIPLE it is left to the program's thread. */
static void move_bytes(struct brio_job *job)
{
    struct brio_op *op = (struct brio_op *)job;
    op->result = brio_ready_move(op->file, &op->ready);
    if (op->result.err)
        brio_err_save(op->text);
    if (op->file->facts.thread_multiple) {
        finish(op);
        return;
    }
    pthread_mutex_lock(&engine.lock);
    op->next = engine.moved;
    engine.moved = op;
    pthread_mutex_unlock(&engine.lock);
}

/* True if no earlier collective of the same file is under way. With the lock held. */
static bool is_first_of_file(const struct brio_op *op)
{
    const struct brio_op *at = engine.first;
    while (at->file != op->file)
        at = at->next;
    return at == op;
}

static void unlink_op(struct brio_op *op)
{
    struct brio_op **at = &engine.first;
    while (*at != op)
        at = &(*at)->next;
    *at = op->next;
    if (engine.last == &op->next)
        engine.last = at;
}

static bool move(struct brio_op *op)
{
    const struct brio_fcoll *fcoll = brio_file_fcoll(op->file);
    bool done;
    if (op->stage == MOVED)
        return true;
    if (op->stage == WAITING) {
        if (op->mine)
            brio_err_restore(op->text);
        brio_access_begin(op->file, &op->ready.io, op->mine, BRIO_POLL);
        op->stage = MOVING;
    } else {
        brio_phase_resume(op->file->stats);
    }
    fcoll->step(op->file->fcoll, BRIO_POLL, &done, &op->result);
    brio_phase_pause(op->file->stats);
    if (done && op->result.err)
        brio_err_save(op->text);
    if (done)
        brio_explain_access(op->file, op->ready.io.dir, op->result);
    return done;
}

/* True if it is done. */
static bool step(struct brio_op *op)
{
    if (op->stage != CONVERTING) {
        if (!move(op))
            return false;
        if (!brio_ready_converts(op->file, &op->call))
            return true;
        convert(op);
        op->stage = CONVERTING;
        brio_verdict_init(&op->verdict, op->result.err);
        brio_verdict_start(&op->verdict, &op->file->team);
    }
    if (!brio_verdict_done(&op->verdict, BRIO_POLL, &op->result.err))
        return false;
    if (op->result.err)
        brio_err_save(op->text);
    return true;
}

/* What this rank has done in collectives of the file so far. */
static int64_t work(const struct brio_file *f)
{
    return brio_stats_get(f->stats, BRIO_N_COPIED) + brio_stats_get(f->stats, BRIO_N_WINDOWS);
}

/* Steps each collective whose turn it is, once. Only the driver takes operations off the
 * list, others append, so `op` stays where it is while it is stepped. */
static void drive(void)
{
    pthread_mutex_lock(&engine.lock);
    struct brio_op *op = engine.first;
    while (op) {
        bool done = false;
        if (is_first_of_file(op)) {
            pthread_mutex_unlock(&engine.lock);
            int64_t before = work(op->file);
            done = step(op);
            if (done || work(op->file) != before)
                atomic_fetch_add_explicit(&engine.advances, 1, memory_order_relaxed);
            pthread_mutex_lock(&engine.lock);
        }
        struct brio_op *next = op->next;
        if (done) {
            unlink_op(op);
            pthread_mutex_unlock(&engine.lock);
            finish(op);
            pthread_mutex_lock(&engine.lock);
        }
        op = next;
    }
    pthread_mutex_unlock(&engine.lock);
}

/* Rest between two looks: longer the longer nothing is done, since more ranks than cores
 * are the normal case. */
static void rest(struct brio_pause *pause)
{
    unsigned now = atomic_load_explicit(&engine.advances, memory_order_relaxed);
    if (now != pause->seen)
        *pause = (struct brio_pause){.seen = now};
    if (++pause->idle < 20) {
        sched_yield();
        return;
    }
    long nap = pause->idle < 100 ? 20 : 200;
    nanosleep(&(struct timespec){.tv_nsec = nap * 1000}, NULL);
}

static void *drive_for_ever(void *arg)
{
    struct brio_pause pause = {.idle = 0};
    (void)arg;
    pthread_mutex_lock(&engine.lock);
    while (!engine.stop) {
        if (!engine.first) {
            pthread_cond_wait(&engine.wake, &engine.lock);
            pause.idle = 0;
            continue;
        }
        pthread_mutex_unlock(&engine.lock);
        pthread_mutex_lock(&engine.driving); /* a call may be at it since before there was us */
        drive();
        pthread_mutex_unlock(&engine.driving);
        rest(&pause);
        pthread_mutex_lock(&engine.lock);
    }
    pthread_mutex_unlock(&engine.lock);
    return NULL;
}

/* With the lock held. If no thread can be had, the program's calls drive. */
static void start_thread(void)
{
    sigset_t all, old;
    if (engine.threaded)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    engine.stop = false;
    engine.threaded = pthread_create(&engine.thread, NULL, drive_for_ever, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void start_collective(struct brio_op *op)
{
    pthread_mutex_lock(&engine.lock);
    op->next = NULL;
    *engine.last = op;
    engine.last = &op->next;
    if (op->file->facts.thread_multiple)
        start_thread();
    pthread_cond_signal(&engine.wake);
    pthread_mutex_unlock(&engine.lock);
}

void brio_op_start(struct brio_op *op, void (*notify)(void *arg), void *arg)
{
    struct brio_file *f = op->file;
    op->notify = notify;
    op->arg = arg;
    atomic_fetch_add(&engine.pending, 1);
    pthread_mutex_lock(&f->lock);
    f->nactive++;
    f->ncoll += op->call.coll;
    pthread_mutex_unlock(&f->lock);
    if (op->stage == MOVED && !brio_ready_converts(f, &op->call)) {
        finish(op);
        return;
    }
    if (op->call.coll) {
        start_collective(op);
        return;
    }
    op->job.run = move_bytes;
    if (brio_pool_submit(&op->job) != BRIO_OK)
        move_bytes(&op->job);
}

enum brio_err brio_op_result(struct brio_op *op, brio_off *bytes)
{
    *bytes = op->bytes;
    if (op->result.err)
        brio_err_restore(op->text);
    return op->result.err;
}

struct brio_file *brio_op_file(struct brio_op *op)
{
    return brio_file_of(op->handle);
}

const struct brio_call *brio_op_call(const struct brio_op *op)
{
    return &op->call;
}

int brio_progress_pending(void)
{
    return atomic_load_explicit(&engine.pending, memory_order_relaxed);
}

void brio_progress(void)
{
    if (brio_progress_pending() == 0)
        return;
    pthread_mutex_lock(&engine.lock);
    struct brio_op *moved = engine.moved;
    engine.moved = NULL;
    bool mine = engine.first && !engine.threaded;
    pthread_mutex_unlock(&engine.lock);
    while (moved) {
        struct brio_op *next = moved->next;
        finish(moved);
        moved = next;
    }
    if (mine && pthread_mutex_trylock(&engine.driving) == 0) {
        drive();
        pthread_mutex_unlock(&engine.driving);
    }
}

void brio_progress_rest(struct brio_pause *pause)
{
    brio_progress();
    rest(pause);
}

enum brio_wait brio_progress_wait(void)
{
    if (brio_progress_pending() == 0)
        return BRIO_BLOCK;
    pthread_mutex_lock(&engine.lock);
    bool mine = engine.first && !engine.threaded;
    pthread_mutex_unlock(&engine.lock);
    return mine ? BRIO_POLL : BRIO_BLOCK;
}

void brio_op_together(struct brio_file *f)
{
    struct brio_reduce all = {.n = 1};
    struct brio_pause pause = {.idle = 0};
    if (!f->calls_drive)
        return;
    brio_reduce_start(&all, &f->team);
    while (!brio_reduce_done(&all, brio_progress_wait()))
        brio_progress_rest(&pause);
}

/* With the file's lock while looking: behind this the file may be gone. */
void brio_op_drain(struct brio_file *f)
{
    struct brio_pause pause = {.idle = 0};
    pthread_mutex_lock(&f->lock);
    while (f->nactive > 0) {
        pthread_mutex_unlock(&f->lock);
        brio_progress_rest(&pause);
        pthread_mutex_lock(&f->lock);
    }
    pthread_mutex_unlock(&f->lock);
}

void brio_op_await_turn(struct brio_file *f)
{
    struct brio_pause pause = {.idle = 0};
    while (atomic_load(&f->ncoll) > 0)
        brio_progress_rest(&pause);
}

void brio_op_await(struct brio_op *op)
{
    struct brio_file *f = op->file;
    struct brio_pause pause = {.idle = 0};
    pthread_mutex_lock(&f->lock);
    while (!op->over) {
        pthread_mutex_unlock(&f->lock);
        brio_progress_rest(&pause);
        pthread_mutex_lock(&f->lock);
    }
    pthread_mutex_unlock(&f->lock);
}

void brio_progress_finalize(void)
{
    pthread_mutex_lock(&engine.lock);
    bool threaded = engine.threaded;
    engine.stop = true;
    engine.threaded = false;
    pthread_cond_signal(&engine.wake);
    pthread_mutex_unlock(&engine.lock);
    if (threaded)
        pthread_join(engine.thread, NULL);
}
