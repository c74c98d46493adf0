#!/bin/bash
# Parallel HDF5: what Brio writes, the MPI's own I/O reads, and the other way round.
. "${0%/*}/lib.sh"
need_pc hdf5-$mpi libhdf5-$mpi-dev

cc $(pkg-config --cflags hdf5-$mpi) "$clients/hdf5.c" -o hdf5 $(pkg-config --libs hdf5-$mpi)

with_brio "$ranks" ./hdf5 write brio.h5
with_brio "$ranks" ./hdf5 read brio.h5
natively "$ranks" ./hdf5 read brio.h5
natively "$ranks" ./hdf5 write native.h5
with_brio "$ranks" ./hdf5 read native.h5
with_brio 2 ./hdf5 read native.h5
if command -v h5diff >/dev/null; then
    h5diff -q brio.h5 native.h5 || fail "h5diff: Brio's file differs from the native one"
fi
