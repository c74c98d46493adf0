/* The one body behind all data accesses. */
#include "mpi/access.h"

#include "mpi/request.h"

void brio_status_set(MPI_Status *status, brio_off bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    PMPI_Status_set_elements_x(status, MPI_BYTE, bytes);
    PMPI_Status_set_cancelled(status, 0);
}

int brio_mpi_access(MPI_File fh, enum brio_how how, const struct brio_call *call,
                    union brio_answer answer)
{
    brio_off bytes = 0;
    enum brio_err err = BRIO_EFILE;
    struct brio_file *f = brio_from_handle(fh);
    if (f && how == BRIO_BLOCKING) {
        err = brio_access(f, call, &bytes);
        brio_status_set(answer.status, bytes);
    } else if (f && how == BRIO_BEGUN) {
        err = brio_split_begin(f, call);
    } else if (f && how == BRIO_STARTED) {
        err = brio_request_start(f, call, answer.request);
    } else if (how == BRIO_STARTED && answer.request) {
        *answer.request = MPI_REQUEST_NULL;
    }
    return brio_leave(fh, err);
}

int brio_mpi_end(MPI_File fh, enum brio_dir dir, enum brio_ptr ptr, const void *buf,
                 MPI_Status *status)
{
    brio_off bytes = 0;
    struct brio_file *f = brio_from_handle(fh);
    if (!f)
        return brio_leave(fh, BRIO_EFILE);
    enum brio_err err = brio_split_end(f, dir, ptr, buf, &bytes);
    brio_status_set(status, bytes);
    return brio_leave(fh, err);
}
