/* A tool as Darshan is one: it wraps MPI_File_* and passes the calls on to PMPI_File_*. Linked
 * into the program, or (with TOOL_PRELOADED) a library loaded in front of Brio. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int opens, writes, closes, waits;

#ifdef TOOL_PRELOADED
#define PASS(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))
#else
#define PASS(name) name
#endif

int MPI_File_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *fh)
{
    opens++;
    return PASS(PMPI_File_open)(comm, path, amode, info, fh);
}

int MPI_File_write_at(MPI_File fh, MPI_Offset off, const void *buf, int count,
                      MPI_Datatype type, MPI_Status *status)
{
    writes++;
    return PASS(PMPI_File_write_at)(fh, off, buf, count, type, status);
}

int MPI_File_close(MPI_File *fh)
{
    closes++;
    return PASS(PMPI_File_close)(fh);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    waits++;
    return PASS(PMPI_Wait)(request, status);
}

int MPI_Finalize(void)
{
    printf("tool: %d opens, %d writes, %d closes, %d waits\n", opens, writes, closes, waits);
    fflush(stdout);
    return PASS(PMPI_Finalize)();
}
