#!/bin/bash
# The nonblocking, split and ordered tests where Brio may not use threads: the thread level
# that the program asked for is not raised (BRIO_THREADS=0), all progress is in the calls.
set -u
ranks=$1
export BRIO_THREADS=0
code=0
for prog in nonblocking split ordered shared coll_beside; do
    "$BRIO_RUN" "$BRIO_MPI" "$ranks" "$BRIO_BUILD/test/mpi/$prog-$BRIO_MPI" || code=1
done
exit $code
