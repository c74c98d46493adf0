#!/bin/bash
# The tests of shared and ordered calls again, with each module forced and on pretended nodes.
# Side files are allowed here, so the case that forbids them is left out.
set -u
ranks=$1
failed=0

run() { # SETTING... PROGRAM CASES...
    local settings=()
    while [[ $1 == *=* ]]; do settings+=("$1"); shift; done
    local program=$BRIO_BUILD/test/mpi/$1-$BRIO_MPI
    shift
    if env "${settings[@]}" "$BRIO_RUN" "$BRIO_MPI" "$ranks" "$program" "$@" >said 2>&1; then
        echo "ok ${settings[*]} ${program##*/}"
    else
        failed=1
        echo "FAIL ${settings[*]} ${program##*/}"
        sed 's/^/    /' said | head -n 30
    fi
}

shared=(write_records outstanding read_records order_of_messages seek through_a_view
    separate_pointers at_the_limit)
modules="rma lockedfile"
[ "$BRIO_MPI" = openmpi ] && modules="$modules addproc" # Debian's MPICH cannot start processes
for module in $modules; do
    for nodes in 1 2; do
        run BRIO_SHAREDFP=$module BRIO_NODES=$nodes shared "${shared[@]}"
        run BRIO_SHAREDFP=$module BRIO_NODES=$nodes ordered
    done
done
for nodes in 2 "$ranks"; do
    run BRIO_NODES=$nodes shared "${shared[@]}"
    run BRIO_NODES=$nodes ordered
    run BRIO_NODES=$nodes sharedfp
    run BRIO_NODES=$nodes sharedfp_individual
done
exit $failed
