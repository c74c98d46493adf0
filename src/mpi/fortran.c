/* Handles in Fortran: the same numbers, MPI_FILE_NULL is 0. Under Open MPI also the one
 * Fortran routine that does not pass through a C function of MPI. */
#include "mpi/entry.h"
#include "mpi/errhandler.h"
#include "mpi/next.h"

#pragma GCC visibility push(default)

MPI_Fint MPI_File_c2f(MPI_File fh)
{
    intptr_t number = (intptr_t)fh;
    if (fh == MPI_FILE_NULL)
        return 0;
    return number > 0 && number <= INT32_MAX ? (MPI_Fint)number : -1; /* -1: never a file */
}
BRIO_TWIN(File_c2f);

MPI_File MPI_File_f2c(MPI_Fint number)
{
    return number ? (MPI_File)(intptr_t)number : MPI_FILE_NULL;
}
BRIO_TWIN(File_f2c);

#ifdef OPEN_MPI
/* Open MPI's Fortran bindings make error handlers without calling the C function: mpif.h and
 * `use mpi` come by one of the first eight names, mpi_f08 by the last. */
void ompi_file_create_errhandler_f(void (*fn)(void), MPI_Fint *errhandler, MPI_Fint *ierr);

void ompi_file_create_errhandler_f(void (*fn)(void), MPI_Fint *errhandler, MPI_Fint *ierr)
{
    MPI_Fint code = MPI_ERR_OTHER;
    __typeof__(ompi_file_create_errhandler_f) *real = BRIO_NEXT(ompi_file_create_errhandler_f);
    if (real)
        real(fn, errhandler, &code);
    if (code == MPI_SUCCESS && !brio_handler_learn(PMPI_Errhandler_f2c(*errhandler), fn, true))
        code = brio_leave(MPI_FILE_NULL, BRIO_ENOMEM);
    if (ierr)
        *ierr = code;
}

#define ALSO(name)                                                                             \
    extern __typeof__(ompi_file_create_errhandler_f) name                                      \
        __attribute__((alias("ompi_file_create_errhandler_f"), visibility("default")))

ALSO(mpi_file_create_errhandler);
ALSO(mpi_file_create_errhandler_);
ALSO(mpi_file_create_errhandler__);
ALSO(MPI_FILE_CREATE_ERRHANDLER);
ALSO(pmpi_file_create_errhandler);
ALSO(pmpi_file_create_errhandler_);
ALSO(pmpi_file_create_errhandler__);
ALSO(PMPI_FILE_CREATE_ERRHANDLER);
#endif

#pragma GCC visibility pop
