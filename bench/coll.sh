#!/bin/bash
# Contiguous collective calls against plain pwrite and pread: coll.sh BUILD_DIR [RANKS...]
# For each MPI that was built, with Brio and with the MPI's own I/O, on 2 and 4 ranks. The
# ratio is of medians, collective time to plain time in the same run: 1.00 is free.
set -eu
[ $# -ge 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
shift
counts=${*:-2 4}
repetitions=${REPETITIONS:-15}
dir=$(mktemp -d "${BRIO_BENCH_DIR:-${TMPDIR:-/tmp}}/brio-coll.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP
unset LD_PRELOAD
ln -s "$build" "$dir/build" # LD_PRELOAD cannot hold a path with a space
cores=$(nproc)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_hwloc_base_binding_policy=none PMIX_MCA_gds=${PMIX_MCA_gds:-hash}

run() { # MPI RANKS PRELOAD
    local mpi=$1 ranks=$2 preload=$3 yield=$dir/build/libbrio-yield.so command
    if [ "$mpi" = openmpi ]; then
        command=("$(command -v mpirun.openmpi || echo mpirun)" --oversubscribe -n "$ranks")
        [ "$ranks" -gt "$cores" ] && command+=(-x OMPI_MCA_mpi_yield_when_idle=1)
        command+=(${preload:+-x "LD_PRELOAD=$preload"})
    else
        [ "$ranks" -gt "$cores" ] && [ -e "$yield" ] && preload=${preload:+$preload:}$yield
        command=("$(command -v mpirun.mpich || echo mpirun)" -n "$ranks")
        command+=(${preload:+-genv LD_PRELOAD "$preload"})
    fi
    timeout 200 "${command[@]}" "$dir/build/bench/coll-$mpi" "$dir" "$repetitions" </dev/null
    rm -f "$dir"/*.dat
}

echo "contiguous collective calls and plain pwrite/pread by the same ranks, in one run,"
echo "median of $repetitions, $cores cores"
for mpi in openmpi mpich; do
    [ -x "$build/bench/coll-$mpi" ] && [ -e "$build/libbrio-$mpi.so" ] || continue
    for ranks in $counts; do
        for preload in "$dir/build/libbrio-$mpi.so" ""; do
            run "$mpi" "$ranks" "$preload" >"$dir/out" || { cat "$dir/out" >&2; exit 1; }
            case $preload:$(sed -n 's/^io //p' "$dir/out") in
            :Brio* | ?*:[!B]*) echo "coll: not the I/O that was asked for" >&2; exit 1 ;;
            esac
            awk -v mpi="$mpi" -v ranks="$ranks" '
            $1 == "io" { printf "\n  %-44s %12s %12s %8s\n", mpi ", " ranks " ranks, " substr($0, 4),
                "plain", "collective", "ratio" }
            $1 == "result" { name = $2; gsub(/-/, " ", name)
                printf "  %-5s %-38s %6.0f MiB/s %6.0f MiB/s %8.2f\n", $3, name,
                    $4 / 1048576 / $5, $4 / 1048576 / $6, $6 / $5 }' "$dir/out"
        done
    done
done
