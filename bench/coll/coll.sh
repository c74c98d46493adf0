#!/bin/bash
# Collective I/O beside the MPI's own and beside the limit: coll.sh BUILD_DIR [PART...]
# Parts (default: all), each on both MPIs, all contenders of a line in one run, by turns:
#   cyclic  block-cyclic floats, Bx = 1 to 4096, SIZE bytes; how flat the speeds are
#   tile    MPI-TILE-IO, elements of 64 B (32 MB) and 1 MB (64 MB)
#   bt      NPB BT-IO, each CLASS, 40 steps, on square numbers of ranks
#   s3d     S3D checkpoints, 50^3 points a rank
#   short   16 KiB a rank, by rewriting and reading again
# A line says how many times as fast as the better peer Brio is, and which part of the limit it
# reaches (the median of what the repetitions of one round say), and is marked with `!' where that is less than what
# CONTRIBUTING.md promises. Settings:
#   MPIS      which of openmpi mpich (default: both that were built)
#   RANKS     (default "2 4 8")
#   STARTS    of all programs, 5 repetitions each (default 4)
#   SIZE      of cyclic (default 64m)
#   CLASS     of bt (default "W A")
#   BRIO_BENCH_DIR   where the files go (default: TMPDIR or /tmp)
set -eu
[ $# -ge 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
shift
dir=$(mktemp -d "${BRIO_BENCH_DIR:-${TMPDIR:-/tmp}}/brio-coll.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# bench MPI RANKS PEERS LEAST-OF-PEER LEAST-OF-LIMIT FLAT WORDS...: a line for each case and
# direction. 0: nothing is promised.
bench() {
    local mpi=$1 ranks=$2 peers=$3 peer=$4 limit=$5 flat=$6
    shift 6
    "$build/brio" bench "$@" -n "$ranks" --mpi "$mpi" --starts "${STARTS:-4}" --reps 5 \
        ${peers:+--against "$peers"} --dir "$dir" --csv 2>"$dir/err" |
        awk -F, -v mpi="$mpi" -v ranks="$ranks" -v peer="$peer" -v limit="$limit" -v flat="$flat" '
            function median(list,   a, n, i, j, t) {
                n = split(list, a, " ")
                for (i = 2; i <= n; i++)
                    for (j = i; j > 1 && a[j] + 0 < a[j - 1] + 0; j--) {
                        t = a[j]; a[j] = a[j - 1]; a[j - 1] = t
                    }
                return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
            }
            function ratio(row, name,   a, b, n, i, all) { # of rounds
                n = split(times[row "|" name], b, " ")
                split(times[row "|brio"], a, " ")
                for (i = 1; i <= n && a[i] > 0; i++) all = all " " b[i] / a[i]
                return median(all)
            }
            NR == 1 { next }
            {
                split($0, quoted, "\"") # a case may have commas
                name = quoted[4]
                row = quoted[2] "|" $(NF - 3)
                if (!(row in times)) order[++nrows] = row
                times[row]
                times[row "|" name] = times[row "|" name] " " $(NF - 1)
                seen[name]
            }
            END {
                for (i = 1; i <= nrows; i++) {
                    row = order[i]
                    split(row, word, "|")
                    mine = median(times[row "|brio"])
                    of = ratio(row, "limit")
                    best = 0
                    for (c in seen)
                        if (c != "brio" && c != "limit" && times[row "|" c] != "") {
                            t = ratio(row, c)
                            if (best == 0 || t < best) { best = t; name = c }
                        }
                    printf "%-8s %d  %-28s %-5s %9.3f ms  %4.2f of the limit%s", mpi, ranks,
                        word[1], word[2], mine * 1e3, of, (limit && of < limit ? " !" : "  ")
                    if (best)
                        printf "  %5.2f x %s%s", best, name, (peer && best < peer ? " !" : "")
                    print ""
                    d = word[2]
                    if (!(d in fast) || mine < fast[d]) fast[d] = mine
                    if (!(d in slow) || mine > slow[d]) slow[d] = mine
                }
                for (d in fast)
                    if (flat)
                        printf "%-8s %d  slowest to fastest, %s: %.2f%s\n", mpi, ranks, d,
                            slow[d] / fast[d], (slow[d] / fast[d] > flat ? " !" : "")
            }'
    grep -v '^$' "$dir/err" | grep -iE 'error|fail|gave up|wrong' >&2 || true
}

# What is promised of patterns: 2 x the better peer and half of the limit where ranks share
# cores, else no less than the better peer.
pattern() { # MPI RANKS WORDS...
    local peers=ompio,romio
    [ "$1" = openmpi ] || peers=mpich
    if [ "$2" -gt 2 ]; then bench "$1" "$2" $peers 2 0.5 0 "${@:3}"
    else bench "$1" "$2" $peers 1 0 0 "${@:3}"; fi
}

for part in ${*:-cyclic tile bt s3d short}; do
    for mpi in ${MPIS:-openmpi mpich}; do
        [ -e "$build/libbrio-$mpi.so" ] || continue
        for n in ${RANKS:-2 4 8}; do
            case $part in
            cyclic)
                least=0.35
                [ "$n" -gt 2 ] || least=0.5
                bench "$mpi" "$n" "" 0 $least 1.6 blockcyclic --bx 1,4,16,64,256,4096 \
                    --size "${SIZE:-64m}" ;;
            tile)
                pattern "$mpi" "$n" tile --element 64 --size 32m
                pattern "$mpi" "$n" tile --element 1m --size 64m ;;
            bt)
                for class in ${CLASS:-W A}; do
                    [ "$n" != 4 ] || pattern "$mpi" "$n" btio --class "$class" --steps 40
                done ;;
            s3d) pattern "$mpi" "$n" s3d --side 50 ;;
            short)
                peers=ompio,romio
                [ "$mpi" = openmpi ] || peers=mpich
                bench "$mpi" "$n" $peers 1 0 0 latency --length 16k --calls 200 ;;
            *) echo "coll.sh: there is no part $part" >&2; exit 2 ;;
            esac
        done
    done
done
