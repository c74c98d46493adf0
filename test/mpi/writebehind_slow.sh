#!/bin/bash
# cache=auto where writes are costly: the same mixes, in a directory made slow by a preloaded
# library of the benchmarks.
set -eu
ranks=$1
delay=$BRIO_BUILD/bench/delay.so
[ -e "$delay" ] || { echo "skipped: the benchmarks were not built" >&2; exit 77; }
cd "$BRIO_TEST_DIR"
mkdir slow
ln -s "$delay" delay.so # LD_PRELOAD cannot hold a path with a space
export BRIO_TEST_ROOT=$PWD/slow DELAY_DIR=$PWD/slow DELAY_US=30 BRIO_CASES=6
LD_PRELOAD=$PWD/delay.so "$BRIO_RUN" "$BRIO_MPI" "$ranks" "$BRIO_BUILD/test/mpi/writebehind-$BRIO_MPI" \
    auto_finds_out auto_mixes shared_pointers
