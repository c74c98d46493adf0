#!/bin/bash
# Fortran in its three bindings.
. "${0%/*}/lib.sh"
fc=$(tool mpifort)

for binding in MPIFH MPI F08; do
    mkdir $binding
    # Calls without an interface differ in the types of their buffers: only a warning.
    "$fc" -O1 -g -Wall -Wno-unused -fallow-argument-mismatch -J $binding \
        -DBIND_$binding -DMPI_IS_$mpi "$clients/fortran.F90" -o fortran-$binding 2>build.log || {
        cat build.log
        fail "the $binding binding does not compile"
    }
    echo "binding $binding"
    with_brio "$ranks" ./fortran-$binding
done
