#!/bin/bash
# Faults in what a process does only once: each in a process of its own. Every rank returns, the ranks agree, and the next file works; and each
# function was really met.
set -u
ranks=$1
. "$BRIO_SOURCE/test/fault/lib.sh"
bad=0

try() { # SPEC RANK
    rm -f met
    BRIO_FAULT=$1 BRIO_FAULT_RANK=$2 BRIO_FAULT_LOG=$PWD/met torture 60 once >out 2>&1
    local code=$?
    [ -e met ] && echo "${1%%:*}" >>reached
    if [ $code -eq 0 ]; then
        echo "ok $1 on rank $2$([ -e met ] || echo ', not met')"
    else
        echo "FAIL $1 on rank $2: exit $code"
        head -20 out
        bad=1
    fi
}

last=$((ranks - 1))
# Rank 0 owns the page of the shared pointer; the others attach to it.
for spec in memfd_create:1:ENOSYS getrandom:1:ENOSYS mmap:1:ENOMEM open:1:EACCES \
    malloc:1:ENOMEM malloc:5:ENOMEM malloc:1+:ENOMEM pthread_create:1:EAGAIN; do
    try $spec 0
done
for spec in mmap:1:ENOMEM mmap:1+:ENOMEM open:2:EMFILE malloc:2:ENOMEM malloc:3:ENOMEM \
    malloc:8:ENOMEM malloc:1+:ENOMEM pthread_create:1+:EAGAIN; do
    try $spec "$last"
done
for function in memfd_create pthread_create mmap open malloc; do
    grep -qx "$function" reached || { echo "FAIL $function was never called"; bad=1; }
done
exit $bad
