#!/bin/bash
# The sweep, shortened, once for every collective module there is: a module that fails must
# still bring all ranks to the end of the call.
set -u
ranks=$1
shift
. "$BRIO_SOURCE/test/fault/lib.sh"
modules=$("$BRIO_BUILD/brio" info | awk '/^[a-z]/ {on = $1 == "fcoll"} on && /^  [a-z]/ {print $1}')
[ -n "$modules" ] || { echo "FAIL: brio info lists no fcoll modules"; exit 1; }
bad=0
for module in $modules; do
    if BRIO_FCOLL=$module TORTURE_SECONDS=8 torture 60 malloc pwrite:ENOSPC pread:EIO >out 2>&1; then
        echo "ok $module: $(grep -c '^ok' out) sweeps"
    else
        echo "FAIL $module: exit $?"
        grep -v '^ok' out | head -20
        bad=1
    fi
done
exit $bad
