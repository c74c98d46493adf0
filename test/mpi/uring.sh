#!/bin/bash
# Whole operations by fbtl/uring on a disk that is short, full or broken: as with fbtl/posix, whose
# every call tells, no byte is claimed that is not there, and all that is there is. The disk is a file
# on a loop device; a part of it that is cut off gives real errors, inside the kernel's rings, too.
ranks=$1
. "$BRIO_SOURCE/test/tools/lib.sh"
cc=$(command -v "mpicc.$BRIO_MPI" || command -v mpicc) || { echo "skipped: no mpicc"; exit 77; }
if [ -z "${URING_OWN_SPACE:-}" ]; then
    unshare --mount --propagation private true 2>/dev/null &&
        URING_OWN_SPACE=1 exec unshare --mount --propagation private "$0" "$@"
    echo "skipped: no mount namespace of our own" >&2
    exit 77
fi
"$cc" -std=gnu17 -O1 -D_GNU_SOURCE "$BRIO_SOURCE/test/mpi/uring_prog.c" -o prog || exit 1
mkdir disk
truncate -s 64M image
if ! mkfs.ext4 -q -O ^has_journal -m 0 image 2>said || ! mount -o loop image disk 2>>said; then
    echo "skipped: no disk of our own: $(tail -n 1 said)" >&2
    exit 77
fi
trap 'umount -l disk 2>/dev/null' EXIT

# by MODULE WORDS...: the program with that fbtl; collective accesses are each rank's own
by() {
    local module=$1
    shift
    BRIO_FBTL=$module BRIO_FCOLL=individual BRIO_PRELOAD=1 BRIO_TEST_LIMIT=60 \
        "$BRIO_RUN" "$BRIO_MPI" "$ranks" "$PWD/prog" "$1" "$PWD/$2" "$3" 2>errors
}

# alike NAME RING PATTERN WORDS...: both say the same, one line of it is PATTERN; no byte is wrong;
# RING is what rank 0 of uring says of its ring.
alike() {
    local name=$1 ring=$2 pattern=$3
    shift 3
    by posix "$@" | grep '^rank' | sort >plain
    by uring "$@" >said
    if ! cmp -s plain <(grep '^rank' said | sort) || [ ! -s plain ]; then
        { echo "posix:"; cat plain; echo "uring:"; cat errors; } >>said
        wrong "$name" "not as posix"
    elif [ "$(grep -c ' 0 wrong$' said)" != "$ranks" ]; then
        wrong "$name" "claims what is not there"
    elif ! grep -Eq -e "$pattern" said; then
        wrong "$name" "did not say $pattern"
    elif [ "$ring" != any ] && ! grep -qx "ring $ring" said; then
        wrong "$name" "ring is not $ring"
    else
        echo "ok $name"
    fi
}

expect make 0 '' by posix make disk/data 36
by uring read disk/data 36 >said
if ! grep -qx 'ring 1' said; then
    echo "skipped: the kernel has no io_uring for us" >&2
    exit 77
fi
alike whole 1 "rank $((ranks - 1)): fine, [1-9]" read disk/data 36
alike whole_collective 1 "rank $((ranks - 1)): fine, [1-9]" read_all disk/data 36
mv disk/data disk/short
truncate -s 18700001 disk/short
alike short 1 "rank $((ranks - 1)): fine, 0 bytes" read disk/short 36
alike short_collective 1 "rank $((ranks - 1)): fine, 0 bytes" read_all disk/short 36
rm disk/short
fallocate -l 30M disk/ballast
for module in posix uring; do
    expect "full_$module" 0 'rank [0-9]+: space, [0-9]+ bytes, 0 wrong' by "$module" write disk/new 120
    grep -q ' [1-9][0-9]* wrong' said && wrong "full_$module" "claims what is not there"
    rm -f disk/new
done
rm disk/ballast
expect make_again 0 '' by posix make disk/data 48
sync
truncate -s 33M image # the rest of the disk is gone
alike broken any 'rank [0-9]+: io, [0-9]+ bytes' read disk/data 48
alike broken_collective any 'rank [0-9]+: (io|[0-9]+), [0-9]+ bytes' read_all disk/data 48
finish
