#!/bin/bash
# The shared-pointer benchmark of paper 000: sharedfp.sh BUILD_DIR [RANKS...]
# For each record length: plain pwrite at known places by the same ranks, Brio with each
# module, and the MPI's own I/O; MB/s of the fastest of the repetitions, until the file is
# closed, and the ratio to plain. Settings: BRIO_BENCH_DIR, REPETITIONS, MODES ("1 2"),
# LENGTHS (bytes per rank), TOTAL (bytes of all ranks), READ=1.
set -eu
[ $# -ge 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
shift
counts=${*:-2 4}
repetitions=${REPETITIONS:-3} modes=${MODES:-1 2} lengths=${LENGTHS:-64 4096 65536 262144}
total=${TOTAL:-67108864} most=${LOOPS:-20000}
dir=$(mktemp -d "${BRIO_BENCH_DIR:-${TMPDIR:-/tmp}}/brio-sharedfp.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP
unset LD_PRELOAD
ln -s "$build" "$dir/build" # LD_PRELOAD cannot hold a path with a space
cores=$(nproc)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_hwloc_base_binding_policy=none PMIX_MCA_gds=${PMIX_MCA_gds:-hash}

run() { # MPI RANKS PRELOAD ARGS...
    local mpi=$1 ranks=$2 preload=$3 yield=$dir/build/libbrio-yield.so command
    shift 3
    if [ "$mpi" = openmpi ]; then
        command=("$(command -v mpirun.openmpi || echo mpirun)" --oversubscribe -n "$ranks")
        [ "$ranks" -gt "$cores" ] && command+=(-x OMPI_MCA_mpi_yield_when_idle=1)
        command+=(${preload:+-x "LD_PRELOAD=$preload"})
    else
        [ "$ranks" -gt "$cores" ] && [ -e "$yield" ] && preload=${preload:+$preload:}$yield
        command=("$(command -v mpirun.mpich || echo mpirun)" -n "$ranks")
        command+=(${preload:+-genv LD_PRELOAD "$preload"})
    fi
    timeout "${LIMIT:-120}" "${command[@]}" "$dir/build/bench/sharedfp-$mpi" -f "$dir/data" \
        -n "$repetitions" -e ${READ:+-r} "$@" </dev/null 2>"$dir/err"
}

seconds() { awk '$1 == "result" { print $NF }'; }

echo "shared pointer, fastest of $repetitions until closed, $cores cores, ${READ:+reads, }MB/s (ratio to plain)"
for mpi in openmpi mpich; do
    [ -x "$build/bench/sharedfp-$mpi" ] && [ -e "$build/libbrio-$mpi.so" ] || continue
    lib=$dir/build/libbrio-$mpi.so
    for ranks in $counts; do
        for mode in $modes; do
            names=(plain sm rma lockedfile)
            [ "$mpi" = openmpi ] && names+=(addproc)
            [ -z "${READ:-}" ] && [ -n "${INDIVIDUAL:-}" ] && names+=(individual)
            names+=("own")
            printf '\n%s, %s ranks, mode %s' "$mpi" "$ranks" "$mode"
            printf ' %14s' "${names[@]}"
            echo
            for length in $lengths; do
                loops=$((total / length / ranks))
                [ "$loops" -gt "$most" ] && loops=$most
                printf '%10s bytes x %6s' "$length" "$loops"
                plain=
                for name in "${names[@]}"; do
                    case $name in
                    plain) t=$(run "$mpi" "$ranks" "" -d "$length" -i "$loops" -m 0 | seconds) || t= ;;
                    own) t=$(run "$mpi" "$ranks" "" -d "$length" -i "$loops" -m "$mode" | seconds) || t= ;;
                    *) t=$(BRIO_SHAREDFP=$name run "$mpi" "$ranks" "$lib" -d "$length" -i "$loops" \
                        -m "$mode" | seconds) || t= ;;
                    esac
                    [ "$name" = plain ] && plain=$t
                    awk -v t="$t" -v p="$plain" -v b=$((length * loops * ranks)) 'BEGIN {
                        if (t > 0 && p > 0) printf " %7.0f (%4.2f)", b / t / 1e6, p / t
                        else printf " %14s", "-" }'
                done
                echo
            done
        done
    done
done
