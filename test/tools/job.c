/* A job for the tests of brio report: collective and independent writes on two files. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COUNT = 20000
};

int main(int argc, char **argv)
{
    static int buf[COUNT];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int f = 1; f < argc; f++) {
        MPI_File fh;
        MPI_Datatype type;
        MPI_File_open(MPI_COMM_WORLD, argv[f], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &fh);
        for (int i = 0; i < 500; i++)
            MPI_File_write_at(fh, (MPI_Offset)(i * size + rank) * 100, buf, 25, MPI_INT,
                              MPI_STATUS_IGNORE);
        MPI_Type_vector(COUNT, 1, size, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_File_set_view(fh, rank * (MPI_Offset)sizeof(int), MPI_INT, type, "native",
                          MPI_INFO_NULL);
        for (int i = 0; i < 10; i++)
            MPI_File_write_at_all(fh, 0, buf, COUNT, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_read_at_all(fh, 0, buf, COUNT, MPI_INT, MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
        MPI_File_close(&fh);
    }
    MPI_Finalize();
    return 0;
}
