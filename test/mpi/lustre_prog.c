/* Writes a file that is to be striped, collectively and each rank alone, and reads it back.
 * Says what modules were chosen. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tell(MPI_File fh, const char *key)
{
    MPI_Info info;
    char value[256] = "?";
    int there;
    MPI_File_get_info(fh, &info);
    MPI_Info_get(info, key, 255, value, &there);
    MPI_Info_free(&info);
    printf("%s %s\n", key, value);
}

int main(int argc, char **argv)
{
    enum {
        PIECE = 1000,
        COUNT = 700
    };
    int rank, size, bad = 0, all;
    MPI_File fh;
    MPI_Info info;
    MPI_Datatype piece, view;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Info_create(&info);
    MPI_Info_set(info, "striping_factor", argv[2]);
    MPI_Info_set(info, "striping_unit", argv[3]);
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh)) {
        fprintf(stderr, "no open\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Info_free(&info);
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)size * PIECE, &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(fh, (MPI_Offset)rank * PIECE, MPI_BYTE, view, "native", MPI_INFO_NULL);
    unsigned char *data = malloc(PIECE * COUNT), *got = calloc(PIECE, COUNT);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < PIECE * COUNT; i++)
            data[i] = (unsigned char)(rank * 31 + i * 7 + i / 1000 + turn);
        MPI_Offset at = (MPI_Offset)turn * PIECE * COUNT;
        bad += MPI_File_write_at_all(fh, at, data, PIECE * COUNT, MPI_BYTE,
                                     MPI_STATUS_IGNORE) != MPI_SUCCESS;
        memset(got, 0, PIECE * COUNT);
        bad += MPI_File_read_at_all(fh, at, got, PIECE * COUNT, MPI_BYTE, MPI_STATUS_IGNORE) !=
               MPI_SUCCESS;
        bad += memcmp(data, got, PIECE * COUNT) != 0;
        memset(got, 0, PIECE * COUNT);
        bad += MPI_File_read_at(fh, at, got, PIECE * COUNT, MPI_BYTE, MPI_STATUS_IGNORE) !=
               MPI_SUCCESS;
        bad += memcmp(data, got, PIECE * COUNT) != 0;
    }
    if (rank == 0) {
        tell(fh, "brio_fs");
        tell(fh, "brio_fcache");
        tell(fh, "brio_fcoll");
    }
    MPI_File_close(&fh);
    MPI_Type_free(&piece);
    MPI_Type_free(&view);
    free(data);
    free(got);
    MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", all);
    MPI_Finalize();
    return all != 0;
}
