#!/bin/bash
# fs/lustre over a look-alike (test/shim/lustre.c): what is asked for at creation, what becomes of
# the answer, and that data comes back through stripes. It is no test of Lustre.
ranks=$1
. "$BRIO_SOURCE/test/tools/lib.sh"
cc=$(command -v "mpicc.$BRIO_MPI" || command -v mpicc) || { echo "skipped: no mpicc"; exit 77; }
test=$BRIO_SOURCE/test
"$cc" -std=gnu17 -O1 -fvisibility=hidden -shared -fPIC "$test/shim/lustre.c" -o liblook.so -ldl &&
    "$cc" -std=gnu17 -O1 "$test/mpi/lustre_prog.c" -o prog || exit 1
mkdir -p root
if ! python3 -c 'import os; os.setxattr("root", "user.look_alike", b"x")' 2>/dev/null; then
    echo "skipped: no user attributes on this file system" >&2
    exit 77
fi
export LOOK_ALIKE_ROOT=$PWD/root LOOK_ALIKE_LOG=$PWD/log BRIO_VERBOSE=1

# with NAME FACTOR UNIT: the program on a new file, or on one that is there
with() {
    LD_PRELOAD=$PWD/liblook.so:$BRIO_LIB BRIO_TEST_LIMIT=60 \
        "$BRIO_RUN" "$BRIO_MPI" "$ranks" "$PWD/prog" "$PWD/root/$1" "$2" "$3"
}
asked() { # NAME PATTERN: what the file system was asked, since the last time
    if grep -Eqx -e "$2" log; then echo "ok $1"; else cp log said; wrong "$1" "not asked: $2"; fi
    rm -f log
}

expect striped 0 '^0 wrong' with striped 4 1048576
for line in 'brio_fs lustre' 'brio_fcache stripe' 'brio_fcoll ioserver'; do
    grep -qx "$line" said || wrong "striped, $line" "is not so"
done
asked stripes_asked_for 'set magic bd10bd0 stripe 1048576 count 4'
expect there_already 0 '^0 wrong' with striped 2 65536
grep -qx 'brio_fcoll ioserver' said || wrong there_already "its stripes are not known"
grep -q set log && wrong there_already "stripes asked for again"
asked layout_asked_once get
expect not_asked 0 '^0 wrong' with plain 0 0
grep -q set log && wrong not_asked "stripes asked for"
grep -qx 'brio_fcache none' said || wrong not_asked "stripes that are not there"
expect rounded_up 0 'striping_unit is 131072 instead of 100000' with rounded 3 100000
asked rounded_up_asked 'set magic bd10bd0 stripe 131072 count 3'
export LOOK_ALIKE_REFUSES=1
expect refused 0 'does not stripe it over 5 servers' with refused 5 65536
grep -q '^0 wrong' said || wrong refused "no data"
finish
