#!/bin/bash
# brio merge after a job was killed: what was synced stays, what was spilled is merged, twice is
# harmless, damage is set aside, and a running job is left alone. A job may be killed while it
# merges: every record is then in the file once at most, at its place. What others wrote after it
# was killed is not replaced. A later job that uses the shared pointer is told what was left.
. "$BRIO_SOURCE/test/tools/lib.sh"
ranks=$1
brio=$BRIO_BUILD/brio
cat >job.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
enum { WORDS = 100, SYNCED = 50, SPILLED = 40, MORE = 45, MOST = 64 };
static void fill(int *rec, int rank, int seq)
{
    for (int i = 0; i < WORDS; i++)
        rec[i] = i == 0 ? rank : i == 1 ? seq : rank * 100003 + seq * 101 + i;
}
/* Records of each rank behind each other's, every second record of a strided view's. Holes may
 * be where records were in memory only. */
static int check(const char *path, int ranks)
{
    static const int hole[WORDS];
    int next[MOST] = {0}, rec[WORDS], want[WORDS], n = 0, bad = 0;
    FILE *f = fopen(path, "r");
    fseek(f, 20, SEEK_SET);
    for (; fread(rec, sizeof rec, 1, f) == 1; n++) {
        int r = rec[0];
        if (memcmp(rec, hole, sizeof rec) == 0) {
            fseek(f, sizeof rec, SEEK_CUR);
            continue;
        }
        if (r >= 0 && r < ranks && next[r] >= SYNCED + SPILLED && rec[1] > next[r])
            next[r] = rec[1];
        if (r < 0 || r >= ranks || rec[1] != next[r])
            bad = 1;
        else
            fill(want, r, next[r]++);
        if (bad || memcmp(rec, want, sizeof rec))
            return printf("record %d is broken: rank %d, %d\n", n, rec[0], rec[1]), 1;
        if (n < SYNCED * ranks && rec[1] >= SYNCED)
            return printf("record %d was not synced\n", n), 1;
        fseek(f, sizeof rec, SEEK_CUR);
    }
    for (int r = 0; r < ranks; r++)
        printf("%s%d", r ? " " : "records ", next[r]);
    printf("\n");
    return 0;
}
/* A later job opens the file twice and uses the shared pointer on ranks from `first` on. */
static void come_later(const char *path, int rank, int first)
{
    for (int i = 0; i < 2; i++) {
        MPI_File fh;
        if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY, MPI_INFO_NULL, &fh))
            MPI_Abort(MPI_COMM_WORLD, 9);
        MPI_File_write_at(fh, rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE);
        if (rank >= first)
            MPI_File_write_shared(fh, "y", 1, MPI_CHAR, MPI_STATUS_IGNORE);
        MPI_File_close(&fh);
    }
    MPI_Finalize();
}
int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "check") == 0)
        return check(argv[2], atoi(argv[3]));
    int rank, rec[WORDS];
    MPI_File fh;
    MPI_Datatype block, gap;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "later") == 0)
        return come_later(argv[2], rank, atoi(argv[3])), 0;
    MPI_Type_contiguous(WORDS, MPI_INT, &block);
    MPI_Type_create_resized(block, 0, 2 * sizeof rec, &gap);
    MPI_Type_commit(&gap);
    if (MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL,
                      &fh))
        MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_File_set_view(fh, 20, MPI_INT, gap, "native", MPI_INFO_NULL);
    for (int i = 0; i < SYNCED + MORE; i++) {
        fill(rec, rank, i);
        if (MPI_File_write_shared(fh, rec, WORDS, MPI_INT, MPI_STATUS_IGNORE))
            MPI_Abort(MPI_COMM_WORLD, 9);
        if (i == SYNCED - 1)
            MPI_File_sync(fh);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "sleep") == 0) {
        if (rank == 0)
            fclose(fopen("asleep", "w"));
        sleep(300);
    }
    if (strcmp(argv[1], "merge") == 0) { /* at the first write behind record n of the file */
        const rlim_t end = 20 + 2 * sizeof rec * (rlim_t)atoi(argv[3]);
        const struct rlimit limit = {end, end};
        signal(SIGXFSZ, SIG_DFL);
        setrlimit(RLIMIT_FSIZE, &limit);
        MPI_File_sync(fh);
    }
    raise(SIGKILL);
}
END
mpicc -o job job.c || exit 1
export BRIO_SHAREDFP=individual BRIO_INDIVIDUAL_MEMORY=4096 BRIO_PRELOAD=1
# A job of its own directory would take the side files with it.
run() {
    BRIO_TEST_LIMIT=40 "$BRIO_RUN" "$mpi" "$ranks" "$PWD/job" "$1" "$PWD/$2" ${3:+$3} >said 2>&1
}
all() { echo "records$(for ((i = 0; i < ranks; i++)); do printf ' %s' "$1"; done)"; }

run kill data
ls .data.brio-meta* >/dev/null || wrong killed "no side files"
cp data before
expect synced 0 "^$(all 50)\$" ./job check data "$ranks"
mkdir copy interrupted
cp -p data .data.brio-* copy
cp -p data .data.brio-* interrupted
expect merge 0 "data: $((40 * ranks)) records, $((16000 * ranks)) bytes merged" "$brio" merge data
expect merged 0 "^$(all 90)\$" ./job check data "$ranks"
ls -A | grep -q brio- && wrong tidy "side files are left"
cp data after
expect twice 0 'nothing to merge' "$brio" merge data
expect unchanged 0 '' cmp data after

# The same side files give the same file, and over what a merge has begun to write, too.
cp after copy/data
expect again 0 'bytes merged' "$brio" merge copy/data
expect same 0 '' cmp copy/data after

# Interrupted when all was merged and only some side files were gone.
meta=$(cd interrupted && ls .data.brio-meta0-*)
touch "interrupted/.data.brio-done-${meta##*-}"
rm interrupted/.data.brio-*0-*
expect rest_goes 0 '' "$brio" merge interrupted/data
expect not_again 0 '' cmp interrupted/data before
ls -A interrupted | grep -q brio- && wrong tidy_again "side files are left"

# Killed while it merges: before the first record of the merge, in the middle, at its end.
for at in $((50 * ranks)) $((70 * ranks)) $((95 * ranks - 1)); do
    run merge "cut$at" "$at"
    ls .cut"$at".brio-meta* >/dev/null || wrong "cut_$at" "no side files"
    expect "finish_$at" 0 "cut$at: $((40 * ranks)) records, .* merged" "$brio" merge "cut$at"
    expect "whole_$at" 0 '^records( 9[0-5])+$' ./job check "cut$at" "$ranks"
    cp "cut$at" after
    expect "again_$at" 0 'nothing to merge' "$brio" merge "cut$at"
    expect "same_$at" 0 '' cmp "cut$at" after
done

# Others wrote the file after the job was killed: over its records, and anew but less of it.
run kill late
head -c 200000 /dev/urandom >other
cat other >late
expect late 1 'late: .*changed by others.* other data at byte .*--force' "$brio" merge late
expect late_kept 0 '' cmp late other
expect late_forced 0 'bytes merged' "$brio" merge --force late
cmp -s late other && wrong late_forced "nothing was merged"
# Zeros are data, a hole is not.
run kill zeros
head -c 200000 /dev/zero >>zeros
cp zeros other
expect zeros 1 'zeros: .*changed by others.* other data at byte' "$brio" merge zeros
expect zeros_kept 0 '' cmp zeros other
rm -f .zeros*
run kill hole
truncate -s 4M hole
expect hole 0 "hole: $((40 * ranks)) records, .* merged" "$brio" merge hole
expect hole_filled 0 "^$(all 90)\$" ./job check hole "$ranks"

# A later job is told of them, once, and only if it uses the shared pointer, whoever does.
run kill told
words='brio: [^ ]*/told: a job that was killed .*/\.told\.brio-meta.*brio merge [^ ]*/told'
BRIO_SHAREDFP='' expect not_used 0 '' "$BRIO_RUN" "$mpi" "$ranks" "$PWD/job" later "$PWD/told" "$ranks"
for first in 0 1; do
    BRIO_SHAREDFP=$([ $first = 0 ] && echo individual) expect "told_$first" 0 "$words" \
        "$BRIO_RUN" "$mpi" "$ranks" "$PWD/job" later "$PWD/told" "$first"
    [ "$(grep -c 'was killed' said)" = 1 ] || wrong "told_once_$first" "more than once"
done
rm -f .told*
BRIO_SHAREDFP='' expect none_left 0 '' "$BRIO_RUN" "$mpi" "$ranks" "$PWD/job" later "$PWD/told" 0
run kill less
echo anew >less
expect less 1 'changed by others.* has 5 bytes, and had' "$brio" merge less
expect less_kept 0 '^anew$' cat less
expect less_left 0 'brio-meta' ls -A
rm -f .less*

# One byte of one entry of the last rank.
run kill hurt
meta=$(ls .hurt.brio-meta$((ranks - 1))-*)
size=$(stat -c %s "$meta")
printf '\377' | dd of="$meta" bs=1 seek=$((size - 48 * 5)) conv=notrunc status=none
expect damage 1 'record 35 is damaged' "$brio" merge hurt
expect kept 0 'damaged' ls -A
expect rest 0 "^records.* 85\$" ./job check hurt "$ranks"
expect no_more 0 'nothing to merge' "$brio" merge hurt
rm -f .hurt*

# The header of rank 0: nothing is guessed.
run kill head
printf '\377' | dd of="$(ls .head.brio-meta0-*)" bs=1 seek=20 conv=notrunc status=none
cp head before
expect header 1 'header is damaged' "$brio" merge head
expect untouched 0 '' cmp head before
rm -f .head*

# A job that runs.
BRIO_TEST_LIMIT=300 "$BRIO_RUN" "$mpi" "$ranks" "$PWD/job" sleep "$PWD/busy" >said.job 2>&1 &
job=$!
for _ in $(seq 200); do [ -e asleep ] && break; sleep 0.1; done
expect running 1 'still runs' "$brio" merge busy
kill -TERM "$job" 2>/dev/null
wait "$job" 2>/dev/null
expect no_file 1 'nowhere: No such file' "$brio" merge nowhere
expect usage 2 'brio merge' "$brio" merge
finish
