/* FLASH I/O's checkpoint, and the door through which HDF5 does it where it is installed. */
#ifndef BRIO_BENCH_FLASH_H
#define BRIO_BENCH_FLASH_H

#include "work/work.h"

struct flash {
    int side; /* cells of a block's side */
    int variables;
    long long blocks; /* of this rank */
    long long before; /* blocks of lower ranks */
    long long all;    /* blocks */
    void *file;       /* HDF5's */
};

/* HDF5 in place of MPI-IO: collective, and wrong bytes of the file by HDF5's own POSIX driver.
 * Without HDF5 at build time, there is none. */
extern const bool flash_has_hdf5;
void flash_hdf5_open(struct job *job);
void flash_hdf5_move(struct job *job, int call, int write);
void flash_hdf5_close(struct job *job);
long long flash_hdf5_verify(struct job *job);

#endif
