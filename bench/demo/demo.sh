#!/bin/bash
# The demonstration that `make demo` runs: demo.sh BUILD_DIR [RANKS]
# One MPI program writes and reads a 2-D array, in turn with the MPI's own I/O and with Brio
# (the same binary; Brio is preloaded), for each MPI that was built. Every file is compared
# byte by byte with one made without MPI-IO. BRIO_DEMO_DIR says where they go (default:
# TMPDIR or /tmp); about 500 MB, removed at the end.
set -eu
[ $# -ge 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
ranks=${2:-4}
need_mb=600
again_below=10 # a pair of runs that took longer than so many seconds is not repeated

die() { echo "demo: $*" >&2; exit 1; }

# The first of the usual places with enough room.
choose_dir() {
    local place free
    for place in "${BRIO_DEMO_DIR:-}" "${TMPDIR:-}" /tmp /var/tmp "$build"; do
        [ -n "$place" ] && [ -w "$place" ] || continue
        free=$(df -Pm "$place" | awk 'NR == 2 { print $4 }')
        if [ "$free" -ge "$need_mb" ]; then
            mktemp -d "$place/brio-demo.XXXXXX"
            return
        fi
    done
    return 1
}
dir=$(choose_dir) || die "no directory with $need_mb MB free: set BRIO_DEMO_DIR"
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP
unset LD_PRELOAD
ln -s "$build" "$dir/build" # LD_PRELOAD cannot hold a path with a space
libs=$dir/build

cores=$(nproc)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_hwloc_base_binding_policy=none PMIX_MCA_gds=${PMIX_MCA_gds:-hash}
[ "$ranks" -gt "$cores" ] && export OMPI_MCA_mpi_yield_when_idle=1

bold= plain=
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then bold=$'\e[1m' plain=$'\e[0m'; fi

launch() { # MPI PRELOAD ARGS...: the ranks; what they print goes to $dir/out
    local mpi=$1 preload=$2 command
    shift 2
    if [ "$mpi" = openmpi ]; then
        command=("$(command -v mpirun.openmpi || echo mpirun)" --oversubscribe -n "$ranks")
        command+=(${preload:+-x "LD_PRELOAD=$preload"})
    else
        # MPICH's waiting ranks never give up their core; where ranks share cores, both
        # sides of the comparison get a shim that does.
        if [ "$ranks" -gt "$cores" ] && [ -e "$libs/libbrio-yield.so" ]; then
            preload=${preload:+$preload:}$libs/libbrio-yield.so
        fi
        command=("$(command -v mpirun.mpich || echo mpirun)" -n "$ranks")
        command+=(${preload:+-genv LD_PRELOAD "$preload"})
    fi
    if ! timeout 100 "${command[@]}" "$build/bench/demo-$mpi" "$dir" "$@" \
        >"$dir/out" 2>"$dir/err" </dev/null; then
        cat "$dir/out" "$dir/err" >&2
        return 1
    fi
}

# one_run MPI SIDE PRELOAD: runs, keeps the results in $dir/MPI-SIDE.txt, says how long.
one_run() {
    local began=$SECONDS what
    printf '  %-8s %-12s ' "$1" "$([ "$2" = brio ] && echo "with Brio" || echo "its own I/O")"
    launch "$1" "$3" "$2" || die "the program failed ($1, $2)"
    what=$(sed -n 's/^io //p' "$dir/out")
    case $2:$what in
    brio:Brio* | own:ROMIO | own:OMPIO) ;;
    *) die "$1, $2: the I/O was done by ${what:-nobody known}" ;;
    esac
    printf '%-12s all bytes right   %3d s\n' "($what)" $((SECONDS - began))
    cat "$dir/out" >>"$dir/$1-$2.txt"
    compare "$1" "$2"
}

# Compares what a run left with the plain files, and removes it: each run then finds the
# same free memory.
compare() { # MPI SIDE
    local file kind
    for file in "$dir/$2"-*.dat; do
        kind=${file##*/$2-}
        cmp "$file" "$dir/plain-${kind%-*}.dat" || die "$1, $2: a wrong file: ${file##*/}"
        compared=$((compared + 1))
    done
    rm -f "$dir/$2"-*.dat
}

table() { # MPI: best of the runs of each side
    awk -v bold="$bold" -v plain="$plain" -v ranks="$ranks" '
    function speed(mib, s) { return sprintf(mib / s < 10 ? "%.1f" : "%.0f", mib / s) }
    FNR == 1 { side++ }
    $1 == "mpi" { mpi = substr($0, 5) }
    $1 == "io" { io[side] = substr($0, 4) }
    $1 == "result" {
        key = $2 " " $3 " " $4
        if (!(key in mib)) order[++n] = key
        mib[key] = $5 / 1048576
        if (!((side, key) in best) || $6 < best[side, key]) best[side, key] = $6
    }
    END {
        line = sprintf("%74s", ""); gsub(/ /, "-", line)
        printf "\n  %s%-35s %12s %12s %12s%s\n", bold, mpi ", " ranks " ranks", io[1], io[2],
            "Brio is", plain
        printf "  %s\n", line
        for (i = 1; i <= n; i++) {
            split(order[i], word, " ")
            label = word[1] == last ? "" : word[1] == "tiles" ? "rectangles" : "single columns"
            if (label != "" && i > 1) print ""
            last = word[1]
            ratio = best[1, order[i]] / best[2, order[i]]
            shown = ratio >= 10 ? sprintf("%.0f", ratio) : sprintf("%.1f", ratio)
            printf "  %-15s %-5s %-12s %8s MiB/s %6s MiB/s  %s%8s x%s\n", label, word[3],
                word[2], speed(mib[order[i]], best[1, order[i]]),
                speed(mib[order[i]], best[2, order[i]]), (ratio >= 1.1 ? bold : ""), shown, plain
        }
    }' "$dir/$1-own.txt" "$dir/$1-brio.txt"
}

mpis=
for mpi in openmpi mpich; do
    [ -x "$build/bench/demo-$mpi" ] && [ -e "$build/libbrio-$mpi.so" ] && mpis="$mpis $mpi"
done
[ -n "$mpis" ] || die "nothing built in $build: run cmake --build first"

cat <<END
${bold}One MPI program, its files written and read by two MPI-IO libraries${plain}

$ranks ranks write a 2-D array to one file, read what another rank wrote, and check every
element: first each rank has a rectangle of the array, then single columns (4 bytes here,
4 bytes there). The same program runs with the MPI's own I/O and with Brio, in turn.
Files in $dir ($(df -PT "$dir" | awk 'NR == 2 { print $2 }')), $cores cores.

END
# The plain files, and some pages that the system has had in its hands already.
launch "${mpis##* }" "" plain plain || die "cannot make the files to compare with"
head -c 300000000 /dev/zero >"$dir/pages" && rm "$dir/pages"

compared=0
for mpi in $mpis; do
    for pass in 1 2 3; do
        began=$SECONDS
        one_run "$mpi" own ""
        one_run "$mpi" brio "$libs/libbrio-$mpi.so"
        [ $((SECONDS - began)) -lt "$again_below" ] && [ $SECONDS -lt 40 ] || break
    done
done
for mpi in $mpis; do table "$mpi"; done
cat <<END

  All $compared files are the same, byte by byte, as files written without MPI-IO.
  Speeds are the best of the runs above, from open to close, into the page cache.
  The whole took $SECONDS s.

Your own program, unchanged:   $build/brio run -n $ranks ./your_program
END
