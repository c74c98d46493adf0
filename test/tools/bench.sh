#!/bin/bash
# brio bench: every workload, tiny and verified, beside the MPI's own I/O; what it prints; that
# wrong options and wrong bytes are noticed, and that one that takes too long is given up.
. "$BRIO_SOURCE/test/tools/lib.sh"
brio=$BRIO_BUILD/brio
[ -x "$BRIO_BUILD/brio-bench-$mpi" ] || { echo "skipped: built without benchmarks" >&2; exit 77; }
mkdir tmp
export TMPDIR=$PWD/tmp
own=mpich
[ "$mpi" = openmpi ] && own=ompio

# sound NAME KEY...: ./said is JSON of one run in which every contender was measured, none wrote
# or read a wrong byte, and the keys are among the labels.
sound() {
    command -v python3 >/dev/null || return 0
    python3 - "$@" <<'END' || wrong "$1" "not the JSON that it should be"
import json, sys
(run,) = json.load(open("said"))["runs"]
assert run["cases"], "no cases"
for case in run["cases"]:
    labels = [one["label"] for one in case["contenders"]]
    assert labels[0] == "limit", labels
    assert all(name in labels for name in sys.argv[2:]), labels
    for one in case["contenders"]:
        assert one["state"] == "ok", one
        assert one["io"].split()[0] in ("Brio", "OMPIO", "ROMIO", "POSIX"), one
        assert (one["io"].startswith("Brio")) == bool(one["modules"]), one
        dirs = [one[d] for d in ("write", "read") if one[d]["seconds"]]
        assert dirs, one
        for d in dirs:
            assert len(d["seconds"]) == run["repetitions"] and d["wrong_bytes"] == 0, d
            assert all(0 < t < 60 for t in d["seconds"]) and d["mb_per_s"] > 0, d
END
}

while read -r name options; do
    set -- $options
    expect "$name" 0 '"wrong_bytes": 0' "$brio" bench "$@" --mpi "$mpi" --reps 1 --limit 100 --verify --json
    sound "$name"
done <<'END'
tile        tile -n 3 --size 200k --element 64,1k
tile_rows   tile -n 2 --tile 5x7 --element 24 --access pieces
btio        btio -n 4 --class S --steps 3
btio_indep  btio -n 5 --side 9 --steps 2 --access indep
btio_simple btio -n 4 --side 8 --steps 2 --access pieces --fresh
flash       flash -n 3 --blocks 2 --side 4 --variables 3
s3d         s3d -n 4 --side 5 --checkpoints 2
cyclic      blockcyclic -n 3 --size 20k --bx 7,1
cyclic_list blockcyclic -n 2 --size 20k --bx 3 --access indep
latency     latency -n 3 --length 1,100 --calls 4
noncontig   noncontig -n 2 --size 20k --block 4,100 --memory gaps
noncontig_c noncontig -n 3 --size 20k --block 12 --access coll --gap 0
small       small -n 2 --record 100 --records 10 --sync
ordered     sharedfp -n 3 -d 3000 -i 5 -m 2 -v 20
shared      sharedfp -n 2 -d 3000 -i 5 -m 1 -v 20
nonblocking sharedfp -n 2 -d 3000 -i 5 -m 3
split       sharedfp -n 2 --total 8k -i 4 -m 4 --per-rank
stays_open  sharedfp -n 2 -d 3000 -i 5 -m 1 -v 20 --whole no
END
expect aggregators 0 '"wrong_bytes": 0' "$brio" bench aggregators -n 2 --mpi "$mpi" --reps 1 \
    --size 100k --json
sound aggregators brio cb_nodes=1 cb_nodes=2
if ldd "$BRIO_BUILD/brio-bench-$mpi" | grep -q hdf5; then
    expect flash_hdf5 0 'through HDF5' "$brio" bench flash -n 2 --blocks 1 --side 4 \
        --variables 2 --through hdf5 --mpi "$mpi" --reps 1 --verify --json
    sound flash_hdf5
fi

expect against 0 "^  $own +[0-9]" "$brio" bench tile -n 2 --size 100k --element 64 --mpi "$mpi" \
    --against "$own,files" --reps 5
expect modules 0 '^  two_phase +[0-9]' "$brio" bench tile -n 2 --size 100k --element 64 \
    --mpi "$mpi" --each fcoll --variant 'tuned:cb_nodes=1,--access=indep' --reps 1
expect csv 0 '^tile,2,".*",64,[0-9]+,"brio",Brio [0-9.]+,.*,read,2,[0-9.]+,' "$brio" bench tile \
    -n 2 --size 100k --element 64 --mpi "$mpi" --reps 2 --csv
expect numbers_of_ranks 0 '^tile: 3 ranks' "$brio" bench tile -n 1,3 --size 10k --element 64 \
    --mpi "$mpi" --reps 1
expect starts 0 ',read,4,[0-9.]+,' "$brio" bench tile -n 2 --size 100k --element 64 --mpi "$mpi" \
    --reps 2 --starts 2 --csv
expect series 0 '^sharedfp: 1 ranks' "$brio" bench sharedfp --series 3 -n 1 --loops 2 --total 4k \
    --mpi "$mpi" --reps 1
expect file 0 'shared|ordered|mode 1' "$brio" bench sharedfp -n 1 -f "$PWD/mine" -d 1k -i 2 \
    --mpi "$mpi" --reps 1

expect spoiled 1 'brio: 2 bytes were wrong' "$brio" bench tile -n 2 --size 100k --element 64 \
    --mpi "$mpi" --reps 1 --spoil
expect spoiled_records 1 'bytes were wrong' "$brio" bench sharedfp -n 2 -d 4k -i 4 \
    --mpi "$mpi" --reps 1 --spoil --only write
expect gives_up 0 'gave up after 0.01 s: below' "$brio" bench small -n 1 --record 8 \
    --records 200000 --mpi "$mpi" --reps 1 --limit 0.01

expect slow 0 '^  brio +0.00[0-9]' "$brio" bench small -n 1 --record 64 --records 10 --slow 20000 \
    --reps 1 --only write --mpi "$mpi"
grep -q 'takes 20000 us longer' said || wrong slow "does not say so"
expect lists 0 'blockcyclic' "$brio" bench
expect help 0 '--against' "$brio" help bench
expect help_of_one 0 '--element=' "$brio" bench tile --help
expect no_workload 2 'no workload .frob' "$brio" bench frob
expect bad_option 2 'cannot use .--frob' "$brio" bench tile --frob 4
expect bad_letter 2 'cannot use .-z' "$brio" bench tile -z 4
expect bad_value 2 'takes S, W, A, B or C' "$brio" bench btio --class X
expect bad_number 2 'takes numbers' "$brio" bench tile --size 4q
expect bad_ranks 2 '-n takes numbers of ranks' "$brio" bench tile -n 0
expect bad_mode 2 '1 2 3 4' "$brio" bench sharedfp -m 5
expect bad_series 2 '1 to 4' "$brio" bench sharedfp --series 5
expect series_of_another 2 'for sharedfp' "$brio" bench tile --series 1
expect bad_peer 2 'ompio, romio, mpich' "$brio" bench tile --against lustre
expect bad_variant 2 'LABEL:NAME=VALUE' "$brio" bench tile --variant fcoll
expect bad_framework 2 'no framework' "$brio" bench tile --each frob
expect bad_directory 2 'cannot make a directory' "$brio" bench tile --dir /nowhere

left=$(find tmp mine* -mindepth 1 2>/dev/null)
[ -z "$left" ] || wrong leaves_nothing "$left"
finish
