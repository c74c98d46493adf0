/* Bytes that can be recognised, for the tests of what peers get wrong. */
#ifndef BRIO_TEST_PEERS_H
#define BRIO_TEST_PEERS_H

#include "fault/expect.h"

/* The bytes [off, off+n) of a file full of a pattern of its own for every `salt`; no byte of
 * it is 0. */
static inline void pattern(char *buf, MPI_Offset off, int n, int salt)
{
    for (int i = 0; i < n; i++)
        buf[i] = (char)(1 + ((off + i) * 7 + (off + i) / 251 + salt * 31) % 255);
}

/* Rank 0 writes without MPI; all wait. Collective. */
static inline void write_plainly(const char *path, MPI_Offset off, const char *buf,
                                 MPI_Offset n)
{
    if (test_rank == 0) {
        int fd = open(path, O_WRONLY);
        ssize_t put = pwrite(fd, buf, (size_t)n, (off_t)off);
        CHECK(put == n, "cannot write %s", path);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

#endif
