#!/bin/bash
# A C++ program, with the old MPI:: bindings where the MPI still carries them.
. "${0%/*}/lib.sh"
cxx=$(tool mpicxx)

# The headers of the old bindings do not pass -Wextra.
build() { "$cxx" -std=c++17 -O1 -g -Wall -D_GNU_SOURCE "$@" -I"${clients%/*}" "$clients/cxx.cc" -o cxx; }
build -DMPI_CXX_BINDINGS 2>build.log || build
with_brio "$ranks" ./cxx
