#!/bin/bash
# The sweep over calls of the shared pointer, once for every sharedfp module: whatever fails, all
# ranks return, a record that is claimed is in the file once, and the next file works.
set -u
ranks=$1
shift
. "$BRIO_SOURCE/test/fault/lib.sh"
modules=$("$BRIO_BUILD/brio" info | awk '/^[^ ]/ {on = $1 == "sharedfp"} on && /^  [a-z]/ {print $1}')
[ -n "$modules" ] || { echo "FAIL: brio info lists no sharedfp modules"; exit 1; }
export BRIO_INDIVIDUAL_MEMORY=4096 BRIO_LOCKEDFILE_LIMIT=5
bad=0

# on NODES MODULE FUNCTIONS...: those that the module never calls on its own account are left out
on() {
    local nodes=$1 module=$2
    shift 2
    if BRIO_NODES=$nodes BRIO_SHAREDFP=$module TORTURE_SECONDS=10 torture 60 "$@" >out 2>&1; then
        echo "ok $module on $nodes nodes: $(grep -c '^ok' out) sweeps"
    else
        echo "FAIL $module on $nodes nodes: exit $?"
        grep -v '^ok' out | head -20
        bad=1
    fi
}

for module in $modules; do
    case $module in
    addproc) [ "$BRIO_MPI" = openmpi ] || continue ;; # Debian's MPICH cannot start processes
    esac
    functions="malloc pwrite:ENOSPC"
    [ "$module" = lockedfile ] && functions+=" fcntl:EINTR fcntl:ENOLCK fcntl:late open pread:EIO"
    on 1 "$module" $functions
    [ "$module" = sm ] || on 2 "$module" malloc
done
exit $bad
