/* The completion calls. If Brio has nothing under way they are the MPI's own. Otherwise they
 * drive Brio's operations while they wait, and tell failures of file operations to the
 * file's error handler instead of MPI_COMM_WORLD's. */
#include <sched.h>
#include <time.h>

#include "mpi/entry.h"
#include "mpi/next.h"
#include "mpi/request.h"

static _Thread_local bool driving; /* inside brio_progress, called from here */

static inline bool quiet(void)
{
    return atomic_load_explicit(&brio_requests_live, memory_order_relaxed) == 0 &&
           brio_progress_pending() == 0;
}

/* ---- One completion call ----------------------------------------------------------------- */

struct session {
    bool mine; /* one of the requests is Brio's */
    bool poll; /* wait by testing and driving instead of in the MPI's own wait */
    int rounds;
    struct brio_done *done;
};

/* Asking the MPI each time would cost more than the wait. */
static bool threaded(void)
{
    static _Atomic int level = -1;
    if (level < 0)
        level = brio_real_thread_level();
    return level == MPI_THREAD_MULTIPLE;
}

/* With threads of its own Brio needs no driving, but then waiting for a file by testing and
 * napping leaves the processor to those threads; and MPICH's MPI_Waitall does not stand a
 * generalized request that another thread completes meanwhile. Where only messages are waited
 * for, the MPI's own wait is faster. */
static struct session begin(int n, const MPI_Request *requests)
{
    struct session s = {.mine = brio_requests_mark(n, requests) > 0};
    s.poll = !driving && (s.mine || (brio_progress_pending() > 0 && !threaded()));
    return s;
}

static void drive(void)
{
    driving = true;
    brio_progress();
    driving = false;
}

/* Between two tests: at first only the processor is offered to others, then we sleep, each
 * time twice as long up to 100 microseconds. */
static void rest(struct session *s)
{
    enum {
        YIELDS = 200,
        LONGEST = 100000
    };
    drive();
    int over = s->rounds++ - YIELDS;
    if (over < 0) {
        sched_yield();
        return;
    }
    long ns = over < 7 ? 1000L << over : LONGEST;
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static inline void watch(const struct session *s)
{
    if (s->mine)
        brio_collect_begin();
}

static inline void unwatch(struct session *s)
{
    if (s->mine)
        s->done = brio_collect_end();
}

/* Nothing was completed after all, or the call does not complete. */
static void forget(struct session *s)
{
    brio_done_drop(s->done);
    s->done = NULL;
}

/* The failure of an operation, told to its file's handler. */
static int deliver(const struct brio_done *done)
{
    brio_done_text(done);
    return brio_raise(done->fh, done->err);
}

/* Ends a call that completes one request. */
static int end_one(struct session *s, int rc)
{
    for (const struct brio_done *d = s->done; d; d = d->next) {
        if (d->err != BRIO_OK && rc == MPI_SUCCESS)
            rc = deliver(d);
    }
    forget(s);
    return rc;
}

/* Where the status of request `index` is among n of them; where[] is NULL if all are there. */
static int find_status(int index, int n, const int *where)
{
    int i = where ? 0 : index;
    while (i < n && where && where[i] != index)
        i++;
    return i < n ? i : -1;
}

/* Ends a call that completes many, n of them now. If one has failed and the MPI knows of no
 * failure, it has not filled in the statuses' error fields. */
static int end_many(struct session *s, int rc, int n, const int *where, MPI_Status *statuses)
{
    for (const struct brio_done *d = s->done; d; d = d->next) {
        if (d->err == BRIO_OK)
            continue;
        int code = deliver(d);
        if (statuses != MPI_STATUSES_IGNORE) {
            for (int i = 0; rc == MPI_SUCCESS && i < n; i++)
                statuses[i].MPI_ERROR = MPI_SUCCESS;
            int at = find_status(d->index, n, where);
            if (at >= 0)
                statuses[at].MPI_ERROR = code;
        }
        if (rc == MPI_SUCCESS)
            rc = MPI_ERR_IN_STATUS;
    }
    forget(s);
    return rc;
}

/* ---- The tests -----------------------------------------------------------------------------
 */

static int test_once(struct session *s, MPI_Request *request, int *flag, MPI_Status *status)
{
    watch(s);
    int rc = BRIO_NEXT(PMPI_Test)(request, flag, status);
    unwatch(s);
    if (rc == MPI_SUCCESS && !*flag)
        forget(s);
    return rc;
}

static int test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct session s = begin(1, request);
    if (s.poll)
        drive();
    int rc = test_once(&s, request, flag, status);
    return end_one(&s, rc);
}

static int test_all_once(struct session *s, int n, MPI_Request *requests, int *flag,
                         MPI_Status *statuses)
{
    watch(s);
    int rc = BRIO_NEXT(PMPI_Testall)(n, requests, flag, statuses);
    unwatch(s);
    if (rc == MPI_SUCCESS && !*flag)
        forget(s);
    return rc;
}

static int test_all(int n, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    struct session s = begin(n, requests);
    if (s.poll)
        drive();
    int rc = test_all_once(&s, n, requests, flag, statuses);
    return end_many(&s, rc, n, NULL, statuses);
}

static int test_any_once(struct session *s, int n, MPI_Request *requests, int *index, int *flag,
                         MPI_Status *status)
{
    watch(s);
    int rc = BRIO_NEXT(PMPI_Testany)(n, requests, index, flag, status);
    unwatch(s);
    if (rc == MPI_SUCCESS && !*flag)
        forget(s);
    return rc;
}

static int test_any(int n, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    struct session s = begin(n, requests);
    if (s.poll)
        drive();
    int rc = test_any_once(&s, n, requests, index, flag, status);
    return end_one(&s, rc);
}

static int test_some_once(struct session *s, int n, MPI_Request *requests, int *nout,
                          int *indices, MPI_Status *statuses)
{
    watch(s);
    int rc = BRIO_NEXT(PMPI_Testsome)(n, requests, nout, indices, statuses);
    unwatch(s);
    return rc;
}

static int test_some(int n, MPI_Request *requests, int *nout, int *indices,
                     MPI_Status *statuses)
{
    struct session s = begin(n, requests);
    if (s.poll)
        drive();
    int rc = test_some_once(&s, n, requests, nout, indices, statuses);
    return end_many(&s, rc, s.done ? *nout : 0, indices, statuses);
}

/* Completes nothing: a failure is told by the call that does. */
static int get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct session s = begin(1, &request);
    if (s.poll)
        drive();
    watch(&s);
    int rc = BRIO_NEXT(PMPI_Request_get_status)(request, flag, status);
    unwatch(&s);
    forget(&s);
    return rc;
}

/* ---- The waits -----------------------------------------------------------------------------
 */

static int wait(MPI_Request *request, MPI_Status *status)
{
    int rc, flag = 0;
    struct session s = begin(1, request);
    if (!s.poll) {
        watch(&s);
        rc = BRIO_NEXT(PMPI_Wait)(request, status);
        unwatch(&s);
        return end_one(&s, rc);
    }
    while ((rc = test_once(&s, request, &flag, status)) == MPI_SUCCESS && !flag)
        rest(&s);
    return end_one(&s, rc);
}

static int wait_all(int n, MPI_Request *requests, MPI_Status *statuses)
{
    int rc, flag = 0;
    struct session s = begin(n, requests);
    if (!s.poll) {
        watch(&s);
        rc = BRIO_NEXT(PMPI_Waitall)(n, requests, statuses);
        unwatch(&s);
        return end_many(&s, rc, n, NULL, statuses);
    }
    while ((rc = test_all_once(&s, n, requests, &flag, statuses)) == MPI_SUCCESS && !flag)
        rest(&s);
    return end_many(&s, rc, n, NULL, statuses);
}

static int wait_any(int n, MPI_Request *requests, int *index, MPI_Status *status)
{
    int rc, flag = 0;
    struct session s = begin(n, requests);
    if (!s.poll) {
        watch(&s);
        rc = BRIO_NEXT(PMPI_Waitany)(n, requests, index, status);
        unwatch(&s);
        return end_one(&s, rc);
    }
    while ((rc = test_any_once(&s, n, requests, index, &flag, status)) == MPI_SUCCESS && !flag)
        rest(&s);
    return end_one(&s, rc);
}

static int wait_some(int n, MPI_Request *requests, int *nout, int *indices,
                     MPI_Status *statuses)
{
    int rc;
    struct session s = begin(n, requests);
    if (!s.poll) {
        watch(&s);
        rc = BRIO_NEXT(PMPI_Waitsome)(n, requests, nout, indices, statuses);
        unwatch(&s);
        return end_many(&s, rc, s.done ? *nout : 0, indices, statuses);
    }
    while ((rc = test_some_once(&s, n, requests, nout, indices, statuses)) == MPI_SUCCESS &&
           *nout == 0)
        rest(&s);
    return end_many(&s, rc, s.done ? *nout : 0, indices, statuses);
}

/* ---- Entry points ---------------------------------------------------------------------------
 */

#pragma GCC visibility push(default)

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return quiet() ? BRIO_NEXT(MPI_Wait)(request, status) : wait(request, status);
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return quiet() ? BRIO_NEXT(PMPI_Wait)(request, status) : wait(request, status);
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
    return quiet() ? BRIO_NEXT(MPI_Waitall)(n, requests, statuses)
                   : wait_all(n, requests, statuses);
}

int PMPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
    return quiet() ? BRIO_NEXT(PMPI_Waitall)(n, requests, statuses)
                   : wait_all(n, requests, statuses);
}

int MPI_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status)
{
    return quiet() ? BRIO_NEXT(MPI_Waitany)(n, requests, index, status)
                   : wait_any(n, requests, index, status);
}

int PMPI_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status)
{
    return quiet() ? BRIO_NEXT(PMPI_Waitany)(n, requests, index, status)
                   : wait_any(n, requests, index, status);
}

int MPI_Waitsome(int n, MPI_Request requests[], int *nout, int indices[], MPI_Status statuses[])
{
    return quiet() ? BRIO_NEXT(MPI_Waitsome)(n, requests, nout, indices, statuses)
                   : wait_some(n, requests, nout, indices, statuses);
}

int PMPI_Waitsome(int n, MPI_Request requests[], int *nout, int indices[],
                  MPI_Status statuses[])
{
    return quiet() ? BRIO_NEXT(PMPI_Waitsome)(n, requests, nout, indices, statuses)
                   : wait_some(n, requests, nout, indices, statuses);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    return quiet() ? BRIO_NEXT(MPI_Test)(request, flag, status) : test(request, flag, status);
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    return quiet() ? BRIO_NEXT(PMPI_Test)(request, flag, status) : test(request, flag, status);
}

int MPI_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    return quiet() ? BRIO_NEXT(MPI_Testall)(n, requests, flag, statuses)
                   : test_all(n, requests, flag, statuses);
}

int PMPI_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    return quiet() ? BRIO_NEXT(PMPI_Testall)(n, requests, flag, statuses)
                   : test_all(n, requests, flag, statuses);
}

int MPI_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    return quiet() ? BRIO_NEXT(MPI_Testany)(n, requests, index, flag, status)
                   : test_any(n, requests, index, flag, status);
}

int PMPI_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    return quiet() ? BRIO_NEXT(PMPI_Testany)(n, requests, index, flag, status)
                   : test_any(n, requests, index, flag, status);
}

int MPI_Testsome(int n, MPI_Request requests[], int *nout, int indices[], MPI_Status statuses[])
{
    return quiet() ? BRIO_NEXT(MPI_Testsome)(n, requests, nout, indices, statuses)
                   : test_some(n, requests, nout, indices, statuses);
}

int PMPI_Testsome(int n, MPI_Request requests[], int *nout, int indices[],
                  MPI_Status statuses[])
{
    return quiet() ? BRIO_NEXT(PMPI_Testsome)(n, requests, nout, indices, statuses)
                   : test_some(n, requests, nout, indices, statuses);
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    return quiet() ? BRIO_NEXT(MPI_Request_get_status)(request, flag, status)
                   : get_status(request, flag, status);
}

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    return quiet() ? BRIO_NEXT(PMPI_Request_get_status)(request, flag, status)
                   : get_status(request, flag, status);
}

#pragma GCC visibility pop
