#!/bin/bash
# Shared and ordered calls between hosts; the argument says how many.
set -u
hosts=$1
ranks=4
failed=0
. "$BRIO_SOURCE/test/mpi/lib.sh"
if [ "$BRIO_MPI" = openmpi ]; then
    # Without Brio, too, MPI_Comm_split_type stalls if two hosts have two ranks each, and with the
    # same loopback much else.
    if [ "$HOSTS_OWN_SPACE" = names ]; then ranks=$hosts; elif [ "$hosts" = 2 ]; then ranks=3; fi
fi

shared=(write_records outstanding read_records order_of_messages seek through_a_view
    separate_pointers)
modules="lockedfile"
if [ "$BRIO_MPI" = mpich ]; then
    modules="rma $modules" # Open MPI has no windows over TCP
else
    modules="$modules addproc"
fi
run "" "$hosts" shared "${shared[@]}"
run "" "$hosts" ordered
for module in $modules; do
    run $module "$hosts" shared "${shared[@]}"
    run $module "$hosts" ordered
done
run "" "$hosts" sharedfp_individual records order_of_messages stages views
exit $failed
