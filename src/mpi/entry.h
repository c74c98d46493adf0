/* What all entry points share: handles, the twin names, and the one way out. An entry point
 * turns its arguments into a call of core/ and core's answer into an MPI error code; nothing
 * else happens here. */
#ifndef BRIO_MPI_ENTRY_H
#define BRIO_MPI_ENTRY_H

#include <mpi.h>

#include "brio/brio.h"
#include "core/core.h"

/* PMPI_name as a second symbol for the body of MPI_name. */
#define BRIO_TWIN(name)                                                                        \
    extern __typeof__(MPI_##name) PMPI_##name                                                  \
        __attribute__((alias("MPI_" #name), visibility("default")))

/* A handle is the number of the file, as a pointer that is never followed. */
static inline struct brio_file *brio_from_handle(MPI_File fh)
{
    return brio_file_of((int64_t)(intptr_t)fh);
}

static inline MPI_File brio_to_handle(const struct brio_file *f)
{
    return (MPI_File)(intptr_t)brio_file_handle(f);
}

/* The end of every entry point on an open file: MPI_SUCCESS, or the code of the failure after
 * the file's error handler has been called with it. BRIO_EFILE is for a handle that
 * brio_from_handle did not know. */
int brio_raise(MPI_File fh, enum brio_err err);

static inline int brio_leave(MPI_File fh, enum brio_err err)
{
    return __builtin_expect(err == BRIO_OK, 1) ? MPI_SUCCESS : brio_raise(fh, err);
}

/* The same where there is no file: MPI_FILE_NULL's handler is called. `path` may be NULL. */
int brio_leave_path(MPI_Comm comm, const char *path, enum brio_err err);

/* For a null pointer where a result should go. */
enum brio_err brio_no_room(const char *what);

#endif
