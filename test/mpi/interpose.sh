#!/bin/bash
# A tool that wraps MPI_File_* keeps working above Brio: preloaded in front of it, and linked
# into the program.
set -u
here=$BRIO_SOURCE/test/mpi
cc=$(command -v "mpicc.$BRIO_MPI" || command -v mpicc) || { echo "skipped: no mpicc"; exit 77; }
bad=0
"$cc" -O1 "$here/interpose_prog.c" -o prog &&
    "$cc" -O1 -shared -fPIC -D_GNU_SOURCE -DTOOL_PRELOADED "$here/interpose_tool.c" -o tool.so -ldl &&
    "$cc" -O1 "$here/interpose_prog.c" "$here/interpose_tool.c" -o prog_with_tool || exit 1

try() { # CASE PRELOAD PROG
    LD_PRELOAD=$2 "$BRIO_RUN" "$BRIO_MPI" 1 "$PWD/$3" >out.$1 2>&1
    local code=$?
    if [ $code -eq 0 ] && grep -q "^tool: 1 opens, 2 writes, 1 closes, 1 waits" out.$1; then
        echo "ok $1"
    else
        echo "FAIL $1: exit $code"
        cat out.$1
        bad=1
    fi
}
try preloaded "$PWD/tool.so:$BRIO_LIB" prog
try linked "$BRIO_LIB" prog_with_tool
exit $bad
