/* The one body behind all data accesses. */
#ifndef BRIO_MPI_ACCESS_H
#define BRIO_MPI_ACCESS_H

#include "mpi/entry.h"

enum brio_how {
    BRIO_BLOCKING, /* status is set */
    BRIO_STARTED,  /* request is set */
    BRIO_BEGUN     /* a split collective begins */
};

/* What the caller gets back; which member counts follows from brio_how. */
union brio_answer {
    MPI_Status *status;
    MPI_Request *request;
};

int brio_mpi_access(MPI_File fh, enum brio_how how, const struct brio_call *call,
                    union brio_answer answer);

/* The end of a split collective. */
int brio_mpi_end(MPI_File fh, enum brio_dir dir, enum brio_ptr ptr, const void *buf,
                 MPI_Status *status);

/* Says in a status how many bytes were moved; MPI_Get_count and the like then tell the truth
 * for any datatype. MPI_ERROR is left alone. */
void brio_status_set(MPI_Status *status, brio_off bytes);

#endif
