#!/bin/bash
# Brio on CephFS, measured: ceph.sh BUILD_DIR [RANKS]
# Starts a cluster on this machine (tools/ceph-cluster: 3 OSDs that keep their data in memory).
#   peers    tile and blockcyclic through libcephfs, against the MPIs' own I/O through a ceph-fuse
#            mount: the same name, `ceph:/...', is Ceph's for Brio and a link to the mount for all
#            others. Writes end with a sync.
#   owners   a collective write by fcoll/ioserver (one owner for each server) and by two_phase,
#            whose domains begin at stripes, or anywhere; then, for each of them, what the OSDs
#            remember: requests, and ranks they came from.
# Settings:
#   PARTS            which of peers owners (default: both)
#   MPIS             which of openmpi mpich (default: all that were built)
#   REPETITIONS      (default 5)
#   BRIO_TEST_FUSE   options for ceph-fuse; "cached": as it comes, with its caches on
set -eu
[ $# -ge 1 ] || { sed -n '2s/.*: //p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
ranks=${2:-4}
here=$(cd "$(dirname "$0")" && pwd)
tools=${here%/*/*}/tools
if [ -z "${BRIO_TEST_MOUNT:-}" ]; then
    [ "${BRIO_TEST_FUSE:-}" = cached ] &&
        export BRIO_TEST_FUSE="--client_oc=true --fuse_disable_pagecache=false"
    exec "$tools/ceph-cluster" -f "$0" "$build" "$ranks"
fi
mpis=${MPIS:-$(sed -n 's/^BRIO_MPIS_FOUND:[^=]*=//p' "$build/CMakeCache.txt" | tr ';' ' ')}
parts=${PARTS:-peers owners}
reps=${REPETITIONS:-5}
stripes=(--set striping_factor=3 --set striping_unit=1m)
dir=$(mktemp -d "${TMPDIR:-/tmp}/brio-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP
cd "$dir"
ln -s "$BRIO_TEST_MOUNT" ceph:
ln -s "$build" build # LD_PRELOAD cannot hold a path with a space
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_hwloc_base_binding_policy=none PMIX_MCA_gds=${PMIX_MCA_gds:-hash}
mkdir -p ceph:/bench

bench() { # MPI WORKLOAD OPTIONS...
    local mpi=$1 work=$2
    shift 2
    "$build/brio" bench "$work" -n "$ranks" --mpi "$mpi" --dir ceph:/bench --reps "$reps" \
        "${stripes[@]}" "$@"
}

launch() { # MPI WITH PROGRAM WORDS...: with Brio, or without it if WITH is "own"
    local mpi=$1 preload=$dir/build/libbrio-$1.so command
    [ "$2" = own ] && preload=
    shift 2
    if [ "$mpi" = openmpi ]; then
        command=(mpirun.openmpi --oversubscribe -x "LD_PRELOAD=$preload")
        command+=(-x OMPI_MCA_mpi_yield_when_idle=1)
    else
        preload=${preload:+$preload:}$dir/build/libbrio-yield.so
        command=(mpirun.mpich -genv LD_PRELOAD "$preload")
    fi
    command -v "${command[0]}" >/dev/null || command[0]=mpirun
    timeout -k 5 120 "${command[@]}" -n "$ranks" "$@" </dev/null
}

# ROMIO refuses names with an unknown word before a colon: so two names, and runs in turn.
in_turn() { # MPI WORKLOAD OPTIONS...
    local mpi=$1 i way what
    shift
    for i in 1 2 3; do
        launch "$mpi" brio build/brio-bench-"$mpi" "$@" --reps="$reps" \
            --hint=striping_factor=3 --hint=striping_unit=1m --file=ceph:/bench/turn >>brio.times
        launch "$mpi" own build/brio-bench-"$mpi" "$@" --reps="$reps" \
            --file="$BRIO_TEST_MOUNT/bench/turn" >>own.times
    done
    echo "$*, $mpi, $ranks ranks, medians of $((3 * reps)):"
    for what in write read; do
        for way in brio own; do
            awk -v dir=$what '$1 == "time" && $2 >= 0 && $3 == dir { print $4 }' $way.times |
                sort -g | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'
        done | paste -s | awk -v dir=$what '{ printf "  %s: Brio %.4f s, the MPI %.4f s: %.2f x\n",
            dir, $1, $2, $2 / $1 }'
    done
    rm -f ./*.times
}

peers() {
    if [ "$1" = openmpi ]; then
        bench "$1" tile --size=16m --element=64 --sync --against ompio
        bench "$1" blockcyclic --size=16m --bx=64 --sync --against ompio
    else
        in_turn "$1" tile --size=16m --element=64 --sync=yes
        in_turn "$1" blockcyclic --size=16m --bx=64 --sync=yes
    fi
}

owners() {
    local way osd clients requests in out set=striping_factor=12,striping_unit=1m
    echo "collective write of 48 MiB in pieces of 10000 bytes, $1, $ranks ranks:"
    launch "$1" brio "$dir/build/bench/ceph-$1" ceph:/bench/owners 48 "$reps" \
        "unaligned:fcoll=two_phase,cb_block_size=1,$set" "aligned:fcoll=two_phase,$set" \
        "ioserver:fcoll=ioserver,$set" | sed 's/^/  /'
    for way in unaligned aligned ioserver; do
        "$tools/ceph-requests" "ceph:/bench/owners.$way" |
            while read -r osd clients requests in out; do
                echo "  $way: OSD $osd has $((requests / reps)) requests a write, of" \
                    "$((out / requests / 1024)) KiB, from $clients ranks"
            done
        rm "ceph:/bench/owners.$way"
    done
}

for mpi in $mpis; do
    for part in $parts; do $part "$mpi"; done
done
