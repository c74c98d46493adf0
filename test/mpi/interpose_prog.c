/* A program that is watched by a tool: interpose.sh. Exits 0 if the I/O was right and, as the
 * small number of the handle tells, Brio's. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    MPI_File fh;
    MPI_Status status;
    MPI_Request request;
    int in[4] = {0}, out[4] = {1, 2, 3, 4}, n = 0;
    MPI_Init(&argc, &argv);
    MPI_File_open(MPI_COMM_WORLD, "interposed.dat", MPI_MODE_CREATE | MPI_MODE_RDWR,
                  MPI_INFO_NULL, &fh);
    int ours = (uintptr_t)fh > 0 && (uintptr_t)fh < (uintptr_t)1 << 30;
    MPI_File_write_at(fh, 0, out, 2, MPI_INT, &status);
    MPI_File_write_at(fh, 8, out + 2, 2, MPI_INT, &status);
    MPI_File_iread_at(fh, 0, in, 4, MPI_INT, &request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &n);
    MPI_File_close(&fh);
    MPI_Finalize();
    printf("brio: %s\n", ours ? "yes" : "no");
    return !(ours && n == 4 && memcmp(in, out, sizeof in) == 0 && fh == MPI_FILE_NULL);
}
