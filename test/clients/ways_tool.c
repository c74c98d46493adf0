/* A profiling tool as there are many (Darshan, for one): it wraps some MPI_File_ functions,
 * forwards to the PMPI_ ones, and at the end appends what it saw to the file TOOL_LOG. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int opens, writes, reads;

int MPI_File_open(MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *fh)
{
    opens++;
    return PMPI_File_open(comm, name, amode, info, fh);
}

int MPI_File_write_at_all(MPI_File fh, MPI_Offset off, const void *buf, int count,
                          MPI_Datatype type, MPI_Status *status)
{
    writes++;
    return PMPI_File_write_at_all(fh, off, buf, count, type, status);
}

int MPI_File_read_at(MPI_File fh, MPI_Offset off, void *buf, int count, MPI_Datatype type,
                     MPI_Status *status)
{
    reads++;
    return PMPI_File_read_at(fh, off, buf, count, type, status);
}

int MPI_Finalize(void)
{
    FILE *log = fopen(getenv("TOOL_LOG"), "a");
    if (log) {
        fprintf(log, "%d %d %d\n", opens, writes, reads);
        fclose(log);
    }
    return PMPI_Finalize();
}
