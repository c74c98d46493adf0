/* From Brio's error codes to MPI's. */
#ifndef BRIO_MPI_ERRORS_H
#define BRIO_MPI_ERRORS_H

#include <mpi.h>

#include "base/base.h"

/* An MPI error code of the class that belongs to `err`, whose MPI_Error_string is this
 * thread's error text. The text stays until eight more failures of the same kind. */
int brio_error_code(enum brio_err err);

/* Puts rank and file in front of this thread's error text; path may be NULL. */
void brio_error_where(MPI_Comm comm, const char *path);

#endif
