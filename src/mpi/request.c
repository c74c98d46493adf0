/* Nonblocking operations as MPI requests. A node has up to three owners: the operation until
 * it is over, the MPI until it calls the free function, and a completion call that saw it
 * finish. Which of them is last is not known: MPI_Request_free makes MPICH call the free
 * function of an operation that is still under way, and a thread of Brio's may still be in
 * MPI_Grequest_complete when the program's MPI_Wait has returned. */
#include "mpi/request.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "mpi/access.h"
#include "mpi/entry.h"
#include "mpi/errors.h"

struct node {
    struct brio_done done; /* first: a brio_done is its node */
    struct brio_op *op;
    MPI_Request handle;
    struct node *next; /* in its bucket */
    _Atomic int owners;
    _Atomic bool over; /* publishes the outcome to the thread that completes the request */
    bool told;         /* a completion call has seen it */
    bool listed;       /* and still holds it: MPICH may ask twice in one call */
};

enum {
    BUCKETS = 1024
};

_Atomic int brio_requests_live;
static struct node *bucket[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the buckets */

static _Thread_local bool collecting;
static _Thread_local struct brio_done *collected;

/* ---- Which requests are ours ------------------------------------------------------------ */

static struct node **bucket_of(MPI_Request handle)
{
    uint64_t bits = (uint64_t)(intptr_t)handle * 0x9e3779b97f4a7c15u;
    return &bucket[bits >> 54];
}

static void enter(struct node *node)
{
    struct node **at = bucket_of(node->handle);
    pthread_mutex_lock(&lock);
    node->next = *at;
    *at = node;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&brio_requests_live, 1);
}

static void leave(struct node *node)
{
    pthread_mutex_lock(&lock);
    struct node **at = bucket_of(node->handle);
    while (*at && *at != node)
        at = &(*at)->next;
    if (*at)
        *at = node->next;
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub(&brio_requests_live, 1);
}

int brio_requests_mark(int n, const MPI_Request *requests)
{
    int mine = 0;
    if (!requests)
        return 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++) {
        struct node *node = *bucket_of(requests[i]);
        while (node && node->handle != requests[i])
            node = node->next;
        if (node) {
            node->done.index = i;
            mine++;
        }
    }
    pthread_mutex_unlock(&lock);
    return mine;
}

/* ---- What the MPI calls ----------------------------------------------------------------- */

static void drop(struct node *node)
{
    brio_off bytes = 0;
    if (atomic_fetch_sub(&node->owners, 1) > 1)
        return;
    if (!node->told && brio_op_result(node->op, &bytes) != BRIO_OK)
        brio_log(BRIO_WARN, "an operation failed that nobody waited for: %s", brio_err_text());
    brio_op_free(node->op);
    free(node);
}

/* At the end of MPI_Wait, MPI_Test and their like, on the thread that called them. */
static int query(void *extra, MPI_Status *status)
{
    struct node *node = extra;
    brio_off bytes = 0;
    enum brio_err err = BRIO_OK;
    if (atomic_load(&node->over))
        err = brio_op_result(node->op, &bytes);
    brio_status_set(status, bytes);
    node->told = true;
    if (!collecting) {
        if (err == BRIO_OK)
            return MPI_SUCCESS;
        struct brio_file *f = brio_from_handle(node->done.fh);
        brio_error_where(f ? brio_file_comm(f) : MPI_COMM_WORLD, f ? brio_file_path(f) : NULL);
        return brio_error_code(err);
    }
    if (node->listed)
        return MPI_SUCCESS;
    node->listed = true;
    node->done.err = err;
    node->done.next = collected;
    collected = &node->done;
    atomic_fetch_add(&node->owners, 1);
    return MPI_SUCCESS;
}

/* When the program has given up the request. */
static int freed(void *extra)
{
    struct node *node = extra;
    leave(node);
    drop(node);
    return MPI_SUCCESS;
}

/* File accesses cannot be taken back: the request completes as if nothing had been said. */
static int cancel(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS;
}

static void notify(void *arg)
{
    struct node *node = arg;
    atomic_store(&node->over, true);
    PMPI_Grequest_complete(node->handle);
    drop(node);
}

/* ---- Starting --------------------------------------------------------------------------- */

static void set_flag(void *arg)
{
    atomic_store((atomic_bool *)arg, true);
}

/* An operation that can have no request is brought to its end here: if it is a collective
 * one, the other ranks count on it, and must learn that it failed. */
static void finish(struct brio_op *op, bool coll, enum brio_err err)
{
    atomic_bool done = false;
    if (!coll) {
        brio_op_free(op);
        return;
    }
    brio_op_refuse(op, err);
    brio_op_start(op, set_flag, &done);
    while (!atomic_load(&done)) {
        brio_progress();
        sched_yield();
    }
    brio_off bytes;
    (void)!brio_op_result(op, &bytes); /* for the text */
    brio_op_free(op);
}

static enum brio_err make(struct node *node, struct brio_op *op)
{
    node->op = op;
    node->owners = 2; /* the MPI and the operation */
    if (PMPI_Grequest_start(query, freed, cancel, node, &node->handle) != MPI_SUCCESS)
        return brio_fail(BRIO_EINTERN, "the MPI gives no generalized request");
    return BRIO_OK;
}

enum brio_err brio_request_start(struct brio_file *f, const struct brio_call *call,
                                 MPI_Request *request)
{
    void *mem = NULL;
    struct brio_op *op = NULL;
    enum brio_err err = brio_op_new(f, call, &op);
    if (err != BRIO_OK)
        goto none;
    err = request ? brio_calloc(1, sizeof(struct node), &mem) : brio_no_room("request");
    if (err == BRIO_OK)
        err = make(mem, op);
    if (err != BRIO_OK)
        goto finish_op;
    struct node *node = mem;
    node->done.fh = brio_to_handle(f);
    enter(node);
    *request = node->handle; /* before it can be over and gone */
    brio_op_start(op, notify, node);
    return BRIO_OK;

finish_op:
    free(mem);
    finish(op, call->coll, err);
none:
    if (request)
        *request = MPI_REQUEST_NULL;
    return err;
}

/* ---- Collecting ------------------------------------------------------------------------- */

void brio_collect_begin(void)
{
    collecting = true;
    collected = NULL;
}

struct brio_done *brio_collect_end(void)
{
    struct brio_done *list = collected;
    collecting = false;
    collected = NULL;
    return list;
}

void brio_done_text(const struct brio_done *done)
{
    brio_off bytes;
    (void)!brio_op_result(((const struct node *)done)->op, &bytes);
}

void brio_done_drop(struct brio_done *list)
{
    while (list) {
        struct brio_done *next = list->next;
        struct node *node = (struct node *)list;
        node->listed = false;
        drop(node);
        list = next;
    }
}
