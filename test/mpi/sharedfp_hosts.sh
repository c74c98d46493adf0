#!/bin/bash
# Shared and ordered calls between hosts.
set -u
ranks=$1
failed=0
. "$BRIO_SOURCE/test/mpi/lib.sh"

shared=(write_records outstanding read_records order_of_messages seek)
modules="lockedfile"
if [ "$BRIO_MPI" = mpich ]; then
    modules="rma $modules" # Open MPI has no windows over TCP
else
    modules="$modules addproc"
fi
run "" "$few" shared "${shared[@]}"
run "" "$ranks" ordered
for module in $modules; do
    run $module "$few" shared "${shared[@]}"
    run $module "$few" ordered
done
run "" "$few" sharedfp_individual records order_of_messages stages views
exit $failed
