#!/bin/bash
# MPI_ERRORS_ARE_FATAL and MPI_ERRORS_ABORT end the job with a message and a failure.
set -u
bad=0
for how in fatal abort; do
    "$BRIO_RUN" "$BRIO_MPI" 1 "$BRIO_BUILD/test/mpi/errhandler-$BRIO_MPI" $how >out.$how 2>&1
    code=$?
    if [ $code -eq 0 ] || [ $code -eq 124 ] || grep -q "still here" out.$how ||
        ! grep -q "brio: rank 0, file /nonexistent/brio/file: .*No such file" out.$how; then
        echo "FAIL $how: exit $code"
        cat out.$how
        bad=1
    else
        echo "ok $how"
    fi
done
exit $bad
