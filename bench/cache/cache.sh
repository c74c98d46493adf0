#!/bin/bash
# Small independent accesses with and without a cache: cache.sh BUILD_DIR [RANKS...]
# Over a store where every call costs DELAY microseconds more (it stands for a parallel file
# system; a preloaded library delays and counts the calls) and over the file system as it is:
# independent writes of 1 and 4 KiB with and without each cache; BTIO and S3D, one call for
# each contiguous run or for each row, with write-behind, against the MPIs' own collective I/O;
# small reads of a shared region, with and without a cache. Ratios are of medians within one
# run, or of three runs of each in turn. Settings:
#   DELAY            microseconds (default 50)
#   PARTS            which of writes patterns reads (default: all)
#   MPIS             which of openmpi mpich (default: all that were built)
#   REPETITIONS      of each measurement (default 3)
#   SIZE_MB          MiB written through the slow store (default 8; four times that as it is)
#   PATTERNS         (default: btio and s3d, each also by rows; class A, and 50^3 points a rank
#                    as in paper 001)
#   BRIO_BENCH_DIR   where the files go (default: TMPDIR or /tmp)
#   SECONDS_EACH     after which a run is given up (default 30)
set -eu
[ $# -ge 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
shift
counts=${*:-2 4 8}
delay=${DELAY:-50}
reps=${REPETITIONS:-3}
dir=$(mktemp -d "${BRIO_BENCH_DIR:-${TMPDIR:-/tmp}}/brio-cache.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP
unset LD_PRELOAD
ln -s "$build" "$dir/build" # LD_PRELOAD cannot hold a path with a space
mkdir "$dir/slow" "$dir/plain"
cores=$(nproc)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_hwloc_base_binding_policy=none PMIX_MCA_gds=${PMIX_MCA_gds:-hash}
export DELAY_STRIPE=1048576 DELAY_LOG=$dir/log

# MPI IO RANKS WHERE PATTERN WAYS REPS: lines "way seconds"; the counts are in $dir/log.
run() {
    local mpi=$1 io=$2 ranks=$3 where=$4 preload command
    preload=$dir/build/bench/delay.so
    [ "$io" = brio ] && preload=$preload:$dir/build/libbrio-$mpi.so
    export DELAY_DIR=$dir/$where DELAY_US=0
    [ "$where" = slow ] && DELAY_US=$delay
    rm -f "$dir/log"
    if [ "$mpi" = openmpi ]; then
        command=("$(command -v mpirun.openmpi || echo mpirun)" --oversubscribe -n "$ranks")
        [ "$ranks" -gt "$cores" ] && command+=(-x OMPI_MCA_mpi_yield_when_idle=1)
        [ "$io" = romio ] && command+=(--mca io romio321)
        [ "$io" = ompio ] && command+=(--mca io ompio)
        command+=(-x "LD_PRELOAD=$preload")
    else
        [ "$ranks" -gt "$cores" ] && preload=$preload:$dir/build/libbrio-yield.so
        command=("$(command -v mpirun.mpich || echo mpirun)" -n "$ranks")
        command+=(-genv LD_PRELOAD "$preload")
    fi
    timeout "${SECONDS_EACH:-30}" "${command[@]}" "$dir/build/bench/cache-$mpi" \
        "$dir/$where/file" "$5" "$7" "$6" </dev/null >"$dir/out" 2>"$dir/err" || {
        local code=$?
        if [ $code = 124 ]; then echo "$io gave up: $5" >&2; return; fi
        cat "$dir/err" >&2; echo "cache: $5 with $io: exit $code" >&2; exit 1
    }
    sed -n "s/^ranks [0-9]* [^ ]* \([^ ]*\): \([0-9.]*\) s.*/\1 \2/p" "$dir/out"
    rm -f "$dir/$where"/file*
}

# Calls for each GiB, and how many parts of a hundred are aligned, from the log.
calls() { # DIRECTION
    [ -e "$dir/log" ] || { echo "0 0"; return; }
    awk -v read="$1" '{ if (read == "reads") { n += $8; b += $10 } else { n += $2; b += $4; a += $6 } }
        END { printf "%.0f %.1f\n", b ? n * 1073741824 / b : 0, n ? 100 * a / n : 0 }' "$dir/log"
}

small_writes() { # MPI RANKS
    local where bytes count t u w c
    for where in slow plain; do
        for bytes in 1024 4096; do
            count=$((${SIZE_MB:-8} * 1048576 / bytes / $2))
            [ "$where" = plain ] && count=$((count * 4))
            # Apart: memory that one cache leaves to the next file is not the other's.
            t=$(run "$1" brio "$2" "$where" "blocks:$bytes:$count" none,writebehind,auto "$reps"
                run "$1" brio "$2" "$where" "blocks:$bytes:$count" none,coherent "$reps" |
                    sed 's/^none/beside/')
            run "$1" brio "$2" "$where" "blocks:$bytes:$count" none 1 >/dev/null
            u=$(calls writes)
            run "$1" brio "$2" "$where" "blocks:$bytes:$count" writebehind 1 >/dev/null
            w=$(calls writes)
            run "$1" brio "$2" "$where" "blocks:$bytes:$count" coherent 1 >/dev/null
            c=$(calls writes)
            awk -v what="$1, $2 ranks, $bytes bytes, $where" -v u="$u" -v w="$w" -v c="$c" '
                { t[$1] = $2 }
                END { split(u, a, " "); split(w, b, " "); split(c, d, " ")
                    printf "  %-38s %6.2f x %6.2f x %6.2f x %9d %6d %6d %6.1f %%\n", what,
                        t["none"] / t["writebehind"], t["none"] / t["auto"],
                        t["beside"] / t["coherent"], a[1], b[1], d[1], b[2] }' <<<"$t"
        done
    done
}

patterns() { # MPI RANKS
    local where pattern io ios turn way
    if [ "$1" = openmpi ]; then ios="brio ompio romio"; else ios="brio romio"; fi
    for where in slow plain; do
        for pattern in ${PATTERNS:-btio:64:5 btiorows:64:5 s3d:50:1 s3drows:50:1}; do
            for turn in 1 2 3; do
                for io in $ios; do
                    way=coll
                    [ "$io" = brio ] && way=writebehind
                    run "$1" "$io" "$2" "$where" "$pattern" "$way" "$reps" | sed "s/[^ ]*/$io/"
                done
            done | sort -k1,1 -k2,2g | awk -v what="$1, $2 ranks, $pattern, $where" '
                { t[$1, n[$1]++] = $2 }
                END {
                    for (io in n) {
                        m = t[io, int(n[io] / 2)]
                        if (io == "brio") mine = m
                        else if (!best || m < best) best = m
                    }
                    if (best && mine)
                        printf "  %-38s %8.4f s %8.4f s %8.2f x\n", what, mine, best, best / mine
                }'
        done
    done
}

small_reads() { # MPI RANKS
    local bytes t u c
    for bytes in 1024 4096; do
        t=$(run "$1" brio "$2" slow "reads:$bytes:2000" none,coherent "$reps")
        run "$1" brio "$2" slow "reads:$bytes:2000" none 1 >/dev/null
        u=$(calls reads)
        run "$1" brio "$2" slow "reads:$bytes:2000" coherent 1 >/dev/null
        c=$(awk -v all=$((bytes * 2000 * $2)) '{ n += $8 }
            END { printf "%.0f", n * 1073741824 / all }' "$dir/log")
        awk -v what="$1, $2 ranks, $bytes bytes, slow" -v u="$u" -v c="$c" '{ t[$1] = $2 }
            END { split(u, a, " ")
                printf "  %-38s %8.2f x %10d -> %6d\n", what, t["none"] / t["coherent"], a[1], c }' <<<"$t"
    done
}

each() { # FUNCTION
    local mpi ranks
    for mpi in ${MPIS:-openmpi mpich}; do
        [ -x "$build/bench/cache-$mpi" ] && [ -e "$build/libbrio-$mpi.so" ] || continue
        for ranks in $counts; do "$1" "$mpi" "$ranks"; done
    done
}

echo "median of $reps, $cores cores, in $dir; slow: every call costs $delay us more"
for part in ${PARTS:-writes patterns reads}; do
    case $part in
    writes)
        echo "independent writes, one call for each run: writebehind, auto and coherent against"
        echo "uncached; system calls for each GiB uncached, with writebehind, with coherent;"
        echo "writes of writebehind that are aligned to 1 MiB"
        each small_writes ;;
    patterns)
        echo "one call for each run or row with write-behind, the better peer's collective I/O, ratio"
        each patterns ;;
    reads)
        echo "reads of a shared region of 4 MiB, again and again: coherent against uncached,"
        echo "calls for each GiB that the program reads, without and with"
        each small_reads ;;
    *) echo "cache: no part $part" >&2; exit 2 ;;
    esac
done
