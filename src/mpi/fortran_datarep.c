/* MPI_Register_datarep from Fortran. MPICH's bindings hand the Fortran procedures to the C
 * function as if they were C functions, and Open MPI's mpi_f08 does not know its own
 * MPI_CONVERSION_FN_NULL, so the Fortran names are Brio's own under both. */
#include "mpi/entry.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "type/datarep.h"

/* A buffer comes by reference, or in mpi_f08 as a TYPE(C_PTR) by value: the same thing. */
typedef void conversion(void *userbuf, MPI_Fint *type, MPI_Fint *count, void *filebuf,
                        MPI_Offset *position, MPI_Aint *extra, MPI_Fint *ierr);
typedef void extent(MPI_Fint *type, MPI_Aint *extent, MPI_Aint *extra, MPI_Fint *ierr);

struct procedures {
    conversion *read, *write;
    extent *extent;
    MPI_Aint *extra; /* the program's own variable */
};

static int call_read(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                     MPI_Offset position, void *extra)
{
    const struct procedures *p = extra;
    MPI_Fint ftype = PMPI_Type_c2f(type), ierr = MPI_SUCCESS;
    p->read(userbuf, &ftype, &count, filebuf, &position, p->extra, &ierr);
    return ierr;
}

static int call_write(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                      MPI_Offset position, void *extra)
{
    const struct procedures *p = extra;
    MPI_Fint ftype = PMPI_Type_c2f(type), ierr = MPI_SUCCESS;
    p->write(userbuf, &ftype, &count, filebuf, &position, p->extra, &ierr);
    return ierr;
}

static int call_extent(MPI_Datatype type, MPI_Aint *out, void *extra)
{
    const struct procedures *p = extra;
    MPI_Fint ftype = PMPI_Type_c2f(type), ierr = MPI_SUCCESS;
    p->extent(&ftype, out, p->extra, &ierr);
    return ierr;
}

/* In Fortran MPI_CONVERSION_FN_NULL is a procedure of the bindings. */
static bool is_null(conversion *fn)
{
    static const char *const names[] = {"mpi_conversion_fn_null_",
                                        "__mpi_f08_callbacks_MOD_mpi_conversion_fn_null"};
    bool found = !fn;
    for (size_t i = 0; !found && i < sizeof names / sizeof names[0]; i++)
        found = (void *)fn == dlsym(RTLD_DEFAULT, names[i]);
    return found;
}

static enum brio_err register_procedures(const char *name, const struct procedures *given)
{
    void *mem;
    enum brio_err err = brio_calloc(1, sizeof *given, &mem);
    if (err != BRIO_OK)
        return err;
    struct procedures *p = memcpy(mem, given, sizeof *given);
    struct brio_datarep_fns fns = {.extra = p};
    fns.read = is_null(p->read) ? NULL : call_read;
    fns.write = is_null(p->write) ? NULL : call_write;
    fns.extent = p->extent ? call_extent : NULL;
    err = brio_datarep_register(name, &fns);
    if (err != BRIO_OK)
        free(p);
    return err;
}

#pragma GCC visibility push(default)

/* The name is `len` characters, padded with blanks; the compiler passes the length behind all
 * other arguments. ierr may be absent in mpi_f08. */
void mpi_register_datarep_(const char *name, conversion *read, conversion *write,
                           extent *file_extent, MPI_Aint *extra, MPI_Fint *ierr, size_t len);

void mpi_register_datarep_(const char *name, conversion *read, conversion *write,
                           extent *file_extent, MPI_Aint *extra, MPI_Fint *ierr, size_t len)
{
    const struct procedures given = {read, write, file_extent, extra};
    int code = MPI_ERR_OTHER;
    while (len > 0 && name[len - 1] == ' ')
        len--;
    char *text = strndup(name, len);
    if (brio_process_ready()) {
        enum brio_err err = text ? register_procedures(text, &given) : BRIO_ENOMEM;
        code = brio_leave_path(MPI_COMM_WORLD, NULL, err);
    }
    free(text);
    if (ierr)
        *ierr = code;
}

#define ALSO(name)                                                                             \
    extern __typeof__(mpi_register_datarep_) name                                              \
        __attribute__((alias("mpi_register_datarep_"), visibility("default")))

ALSO(mpi_register_datarep);
ALSO(mpi_register_datarep__);
ALSO(MPI_REGISTER_DATAREP);
ALSO(pmpi_register_datarep);
ALSO(pmpi_register_datarep_);
ALSO(pmpi_register_datarep__);
ALSO(PMPI_REGISTER_DATAREP);
#ifdef OPEN_MPI
ALSO(ompi_register_datarep_f); /* mpi_f08 comes by this name */
ALSO(MPI_Register_datarep_f);
ALSO(MPI_Register_datarep_f08);
ALSO(PMPI_Register_datarep_f);
ALSO(PMPI_Register_datarep_f08);
#else
ALSO(mpi_register_datarep_f08_);
ALSO(pmpir_register_datarep_f08_);
#endif

#pragma GCC visibility pop
