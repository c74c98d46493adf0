/* A small program that is run in every way in which a user can put Brio under a program. It
 * knows nothing of Brio but the key that shows who serves a file. */
#include "clients.h"

int main(int argc, char **argv)
{
    clients_begin(&argc, &argv);
    const char *path = argc > 1 ? argv[1] : "ways.dat";
    MPI_File fh;
    int mine[64], got[64];
    MPI_Offset size = -1;
    for (int i = 0; i < 64; i++)
        mine[i] = test_rank * 64 + i;
    int err = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                            MPI_INFO_NULL, &fh);
    CHECK(err == MPI_SUCCESS, "open %s: %d", path, err);
    if (err == MPI_SUCCESS) {
        check_served(fh);
        err = MPI_File_write_at_all(fh, test_rank * (MPI_Offset)sizeof mine, mine, 64, MPI_INT,
                                    MPI_STATUS_IGNORE);
        CHECK(err == MPI_SUCCESS, "write_at_all: %d", err);
        MPI_File_sync(fh);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_sync(fh);
        int other = (test_rank + 1) % test_nranks;
        err = MPI_File_read_at(fh, other * (MPI_Offset)sizeof got, got, 64, MPI_INT,
                               MPI_STATUS_IGNORE);
        CHECK(err == MPI_SUCCESS && got[0] == other * 64 && got[63] == other * 64 + 63,
              "read_at: %d, first %d", err, got[0]);
        MPI_File_get_size(fh, &size);
        CHECK(size == test_nranks * (MPI_Offset)sizeof mine, "size %lld", (long long)size);
        MPI_File_close(&fh);
    }
    return clients_end("ways");
}
