#!/bin/bash
# Parallel netCDF-4: what Brio writes, the MPI's own I/O reads, and the other way round.
. "${0%/*}/lib.sh"
only_openmpi "parallel netCDF"
need_pc netcdf-mpi libnetcdf-mpi-dev

# The .pc file does not name the directory of its own headers.
cc -I"$(pkg-config --variable=libdir netcdf-mpi)/netcdf/mpi/include" "$clients/netcdf4.c" -o netcdf4 \
    $(pkg-config --cflags --libs netcdf-mpi)

with_brio "$ranks" ./netcdf4 write brio.nc
with_brio "$ranks" ./netcdf4 read brio.nc
natively "$ranks" ./netcdf4 read brio.nc
natively "$ranks" ./netcdf4 write native.nc
with_brio 2 ./netcdf4 read native.nc
if command -v h5diff >/dev/null; then
    h5diff -q brio.nc native.nc || fail "h5diff: Brio's file differs from the native one"
fi
