#!/bin/bash
# Collective patterns through Brio and through the MPIs' own I/O: collective.sh BUILD_DIR [RANKS...]
# Runs cyclic, tile, btio and s3d with Brio and with OMPIO and ROMIO (Open MPI) or ROMIO
# (MPICH), in turn, on 2 and 4 ranks if none are said. Every run measures the limit, too: the
# same bytes by plain contiguous pwrite and pread; speeds are parts of it, so that runs at
# different times can be compared. Settings:
#   PATTERNS         which of cyclic tile btio s3d (default: all)
#   MPIS             which of openmpi mpich (default: all that were built)
#   ROUNDS           how often all of it is done, medians over the rounds (default 1)
#   REPETITIONS      of each measurement within a run (default 3)
#   SIZE             small (default), or large: paper sizes as far as the machine allows
#   BRIO_BENCH_DIR   where the files go (default: TMPDIR or /tmp)
#   SECONDS_EACH     after which a run is given up (default 15; the peers can be very slow)
set -eu
[ $# -ge 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
shift
counts=${*:-2 4}
patterns=${PATTERNS:-cyclic tile btio s3d}
reps=${REPETITIONS:-3}
dir=$(mktemp -d "${BRIO_BENCH_DIR:-${TMPDIR:-/tmp}}/brio-collective.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP
unset LD_PRELOAD
ln -s "$build" "$dir/build" # LD_PRELOAD cannot hold a path with a space
cores=$(nproc)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_hwloc_base_binding_policy=none PMIX_MCA_gds=${PMIX_MCA_gds:-hash}

arguments() { # PATTERN: what follows the file's name
    case ${SIZE:-small}:$1 in
    small:cyclic) echo 8 "$reps" 256 16 1 ;; # the slowest last: it may be given up
    small:tile) echo 32 "$reps" ;;
    small:btio) echo 48 5 "$reps" ;;
    small:s3d) echo 24 2 "$reps" ;;
    large:cyclic) echo 128 "$reps" 4096 256 64 16 4 1 ;;
    large:tile) echo 400 "$reps" ;;
    large:btio) echo 102 40 "$reps" ;;
    large:s3d) echo 50 10 "$reps" ;;
    *) echo "collective: no pattern $1 of size ${SIZE:-small}" >&2; exit 2 ;;
    esac
}

run() { # MPI IO RANKS PATTERN: lines "io | what | write | limit | read | limit"
    local mpi=$1 io=$2 ranks=$3 pattern=$4 preload= command
    [ "$io" = brio ] && preload=$dir/build/libbrio-$mpi.so
    if [ "$mpi" = openmpi ]; then
        command=("$(command -v mpirun.openmpi || echo mpirun)" --oversubscribe -n "$ranks")
        [ "$ranks" -gt "$cores" ] && command+=(-x OMPI_MCA_mpi_yield_when_idle=1)
        [ "$io" = romio ] && command+=(--mca io romio321)
        [ "$io" = ompio ] && command+=(--mca io ompio)
        command+=(${preload:+-x "LD_PRELOAD=$preload"})
    else
        [ "$ranks" -gt "$cores" ] && preload=${preload:+$preload:}$dir/build/libbrio-yield.so
        command=("$(command -v mpirun.mpich || echo mpirun)" -n "$ranks")
        command+=(${preload:+-genv LD_PRELOAD "$preload"})
    fi
    # shellcheck disable=SC2046 # the arguments are words
    timeout "${SECONDS_EACH:-15}" "${command[@]}" "$dir/build/bench/$pattern-$mpi" "$dir/file" \
        $(arguments "$pattern") </dev/null >"$dir/out" 2>"$dir/err" || {
        local code=$?
        if [ $code = 124 ]; then echo "$io gave up: $pattern" >&2; else
            cat "$dir/err" >&2; echo "collective: $pattern with $io: exit $code" >&2; exit 1; fi
    }
    sed -n "s/^ranks [0-9]* \(.*\): write \([0-9.]*\) of \([0-9.]*\) .*, read \([0-9.]*\) of \([0-9.]*\) .*/$io|\1|\2|\3|\4|\5/p" \
        "$dir/out"
    rm -f "$dir"/file*
}

# Brio's part, the best of the others, and what Brio is against that.
table='
function median(list,    v, n, i, j, x) {
    n = split(list, v, " ")
    for (i = 2; i <= n; i++) { x = v[i] + 0; for (j = i - 1; j > 0 && v[j] + 0 > x; j--) v[j + 1] = v[j]; v[j + 1] = x }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
{ if (!($2 in seen)) { seen[$2] = 1; order[++n] = $2 }
  if (!($1 in ios)) { ios[$1] = 1; io[++m] = $1 }
  w[$1, $2] = w[$1, $2] " " $3 / $4; r[$1, $2] = r[$1, $2] " " $5 / $6 }
function line(what, dir, a,    i, best, b, k) {
    printf "  %-24s %-5s", what, dir
    for (i = 1; i <= m; i++) {
        if (!((io[i], what) in a)) { printf " %8s", "-"; continue }
        k = median(a[io[i], what])
        printf k < 0.1 ? " %8.4f" : " %8.2f", k
        if (io[i] == "brio") b = k; else if (k > best) best = k
    }
    if (best > 0) printf " %9.1f x\n", b / best; else printf " %11s\n", "-"
}
END {
    printf "\n  %-30s", title
    for (i = 1; i <= m; i++) printf " %8s", io[i]
    printf " %11s\n", "brio/best"
    for (i = 1; i <= n; i++) { line(order[i], "write", w); line(order[i], "read", r) }
}'

echo "collective patterns, parts of the limit (plain contiguous access by the same ranks),"
echo "median of $reps, $cores cores, in $dir"
for mpi in ${MPIS:-openmpi mpich}; do
    [ -x "$build/bench/tile-$mpi" ] && [ -e "$build/libbrio-$mpi.so" ] || continue
    if [ "$mpi" = openmpi ]; then ios="brio ompio romio"; else ios="brio romio"; fi
    for ranks in $counts; do
        : >"$dir/all"
        for _ in $(seq "${ROUNDS:-1}"); do
            for pattern in $patterns; do
                for io in $ios; do run "$mpi" "$io" "$ranks" "$pattern" >>"$dir/all"; done
            done
        done
        awk -F'|' -v title="$mpi, $ranks ranks" "$table" "$dir/all"
    done
done
