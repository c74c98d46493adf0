/* What is done once per process: being ready before the first open, and tidying up inside
 * MPI_Finalize, through an attribute on MPI_COMM_SELF, whose callback MPI calls first. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "comm/attic.h"
#include "core/core.h"
#include "core/op.h"
#include "lane/pool.h"
#include "sharedfp/addproc.h"
#include "sharedfp/attend.h"
#include "sharedfp/rma.h"
#include "type/flatten.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;

static int tidy_up(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    brio_progress_finalize();
    brio_attend_finalize();
    brio_addproc_finalize();
    brio_rma_finalize();
    brio_pool_finalize();
    brio_flatten_finalize();
    brio_attic_finalize();
    return MPI_SUCCESS;
}

bool brio_process_ready(void)
{
    int begun = 0, ended = 0;
    PMPI_Initialized(&begun);
    PMPI_Finalized(&ended);
    return begun && !ended;
}

BRIO_ERR brio_process_init(void)
{
    enum brio_err err = BRIO_OK;
    if (!brio_process_ready())
        return brio_fail(BRIO_EINTERN, "MPI is not initialised");
    pthread_mutex_lock(&lock);
    if (keyval == MPI_KEYVAL_INVALID &&
        (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, tidy_up, &keyval, NULL) !=
             MPI_SUCCESS ||
         PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL) != MPI_SUCCESS))
        err = brio_fail(BRIO_EINTERN, "no attribute from MPI");
    pthread_mutex_unlock(&lock);
    return err;
}

/* `brio run` wants to know whether any rank loaded the library. */
__attribute__((constructor)) static void leave_mark(void)
{
    const char *path = getenv("BRIO_RUN_MARK");
    int fd = path && *path ? open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1;
    if (fd >= 0)
        close(fd);
}
