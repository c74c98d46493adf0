/* What is done once per process: being ready before the first open, and tidying up inside
 * MPI_Finalize, through an attribute on MPI_COMM_SELF, whose callback MPI calls first. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/room.h"
#include "comm/attic.h"
#include "core/file.h"
#include "core/handle.h"
#include "core/op.h"
#include "lane/pool.h"
#include "sharedfp/addproc.h"
#include "sharedfp/attend.h"
#include "sharedfp/rma.h"
#include "type/flatten.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;

/* Files should have been closed before; what is kept back of one would be lost without a word.
 * In the order in which they were opened, which is the same on all ranks that share two. */
static void close_files(void)
{
    for (struct brio_file *f; (f = brio_handle_oldest()) != NULL;) {
        if (f->team.rank == 0)
            brio_log(BRIO_WARN, "%s is still open in MPI_Finalize, and closed now", f->path);
        if (brio_file_close(f) != BRIO_OK)
            brio_log(BRIO_WARN, "%s", brio_err_text());
    }
}

static int tidy_up(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    close_files();
    brio_progress_finalize();
    brio_attend_finalize();
    brio_addproc_finalize();
    brio_rma_finalize();
    brio_pool_finalize();
    brio_flatten_finalize();
    brio_attic_finalize();
    brio_room_finalize();
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
