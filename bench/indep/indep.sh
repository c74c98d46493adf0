#!/bin/bash
# bench/indep/indep.sh BUILD_DIR [DIR]: independent access with the MPI's own I/O and with Brio,
# in turn, on both MPIs, and the ratios. DIR holds the file (default: a temporary one).
set -eu
[ $# -ge 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
dir=$(mktemp -d "${2:-${TMPDIR:-/tmp}}/brio-indep.XXXXXX")
trap 'rm -rf "$dir"' EXIT
ln -s "$build" "$dir/build" # LD_PRELOAD cannot hold a path with a space
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# run MPI LIBRARY-OR-NOTHING WORDS...
run() {
    local mpi=$1 lib=$2
    shift 2
    if [ "$mpi" = openmpi ]; then
        mpirun.openmpi --oversubscribe -n 1 ${lib:+-x "LD_PRELOAD=$lib"} \
            "$build/bench/indep-$mpi" "$dir/file" "$@"
    else
        mpirun.mpich -n 1 ${lib:+-genv LD_PRELOAD "$lib"} \
            "$build/bench/indep-$mpi" "$dir/file" "$@"
    fi
}

for mpi in openmpi mpich; do
    [ -x "$build/bench/indep-$mpi" ] || continue
    lib=$dir/build/libbrio-$mpi.so
    [ -e "$lib" ] || { echo "indep.sh: there is no $build/libbrio-$mpi.so" >&2; exit 1; }
    own=$dir/own-$mpi brio=$dir/brio-$mpi
    # Open MPI's own blocks take a minute each: once is enough to compare with.
    if [ "$mpi" = openmpi ]; then passes=1; else passes=5; fi
    for words in small view blocks; do
        INDEP_PASSES=5 run "$mpi" "$lib" $words >>"$brio"
        INDEP_PASSES=$passes run "$mpi" "" $words >>"$own"
    done
    sed "s/^/$mpi own /" "$own"
    sed "s/^/$mpi brio /" "$brio"
    awk -v mpi="$mpi" 'NR == FNR { own[$1] = $2; next }
        $3 == "s" && $2 > 0 { printf "%s speedup %s %.2f x\n", mpi, $1, own[$1] / $2 }' \
        "$own" "$brio"
done
