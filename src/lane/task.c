/* Each task has its own lock and condition: it is waited for by one. */
#include "lane/task.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lane/pool.h"

struct task {
    struct brio_job job; /* first: the pool gives it back */
    brio_mover *move;
    void *self;
    struct brio_stats *stats;
    struct brio_io io;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool done;
    struct brio_result result;
    char text[BRIO_ERR_TEXT];
};

static void run(struct brio_job *job)
{
    struct task *task = (struct task *)job;
    int64_t began = brio_now();
    struct brio_result r = task->move(task->self, &task->io);
    brio_count(task->stats, BRIO_N_PHASE + BRIO_PHASE_FILE, brio_now() - began);
    pthread_mutex_lock(&task->lock);
    task->result = r;
    if (r.err)
        brio_err_save(task->text);
    task->done = true;
    /* Under the lock: behind it the task may be gone. */
    pthread_cond_signal(&task->over);
    pthread_mutex_unlock(&task->lock);
}

static void free_task(struct task *task)
{
    pthread_cond_destroy(&task->over);
    pthread_mutex_destroy(&task->lock);
    free(task);
}

static bool hand_over(brio_mover *move, void *self, struct brio_stats *stats,
                      const struct brio_io *io, struct brio_ticket *ticket)
{
    void *mem;
    if (brio_calloc(1, sizeof(struct task), &mem))
        return false;
    struct task *task = mem;
    task->job.run = run;
    task->move = move;
    task->self = self;
    task->stats = stats;
    task->io = *io;
    pthread_mutex_init(&task->lock, NULL);
    pthread_cond_init(&task->over, NULL);
    ticket->done = false;
    ticket->state = task;
    if (brio_pool_submit(&task->job) == BRIO_OK)
        return true;
    free_task(task);
    return false;
}

void brio_task_submit(brio_mover *move, void *self, struct brio_stats *stats,
                      const struct brio_io *io, enum brio_wait how, struct brio_ticket *ticket)
{
    if (how == BRIO_POLL && io->bytes > 0 && hand_over(move, self, stats, io, ticket))
        return;
    brio_ticket_finish(ticket, move(self, io));
}

void brio_task_reap(struct brio_ticket *ticket, enum brio_wait how)
{
    if (ticket->done)
        return;
    struct task *task = ticket->state;
    pthread_mutex_lock(&task->lock);
    while (!task->done && how == BRIO_BLOCK)
        pthread_cond_wait(&task->over, &task->lock);
    bool done = task->done;
    pthread_mutex_unlock(&task->lock);
    if (!done)
        return;
    if (task->result.err)
        brio_err_restore(task->text);
    brio_ticket_finish(ticket, task->result);
    free_task(task);
}
