#!/bin/bash
# A rank dies between getting a place by the shared pointer and writing there: the file has a
# hole of that one record, all others are whole, and the next job neither waits for the dead nor
# finds anything of them.
. "$BRIO_SOURCE/test/tools/lib.sh"
ranks=$1
cat >job.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
enum { WORDS = 1000, BEFORE = 20 };
static void fill(int *rec, int rank, int seq)
{
    for (int i = 0; i < WORDS; i++)
        rec[i] = i == 0 ? rank + 1 : i == 1 ? seq : rank * 100003 + seq * 101 + i;
}
/* Prints how many records and holes there are; a record that is neither is told. */
static int check(const char *path)
{
    static int rec[WORDS], want[WORDS];
    int whole = 0, holes = 0;
    FILE *f = fopen(path, "r");
    size_t n;
    while ((n = fread(rec, 1, sizeof rec, f)) == sizeof rec) {
        fill(want, rec[0] - 1, rec[1]);
        if (rec[0] > 0 && memcmp(rec, want, sizeof rec) == 0) {
            whole++;
            continue;
        }
        memset(want, 0, sizeof want);
        if (memcmp(rec, want, sizeof rec) != 0)
            return printf("record %d is broken\n", whole + holes), 1;
        holes++;
    }
    printf("%d whole, %d holes, %zu bytes over\n", whole, holes, n);
    return 0;
}
int main(int argc, char **argv)
{
    static int rec[WORDS];
    int rank, ranks, amode = MPI_MODE_WRONLY | MPI_MODE_CREATE;
    MPI_File fh;
    if (strcmp(argv[1], "check") == 0)
        return check(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(argv[1], "append") == 0)
        amode |= MPI_MODE_APPEND;
    if (MPI_File_open(MPI_COMM_WORLD, argv[2], amode, MPI_INFO_NULL, &fh))
        MPI_Abort(MPI_COMM_WORLD, 9);
    for (int i = 0; i < BEFORE; i++) {
        fill(rec, rank, i);
        if (MPI_File_write_shared(fh, rec, WORDS, MPI_INT, MPI_STATUS_IGNORE))
            MPI_Abort(MPI_COMM_WORLD, 9);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "die") == 0) {
        fill(rec, rank, BEFORE);
        if (rank == ranks - 1) { /* its next write to the file ends it */
            setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
            MPI_File_write_shared(fh, rec, WORDS, MPI_INT, MPI_STATUS_IGNORE);
            raise(SIGKILL);
        }
        MPI_Offset at = 0; /* when it has got its place, the others write behind */
        while (at <= (MPI_Offset)sizeof rec * BEFORE * ranks)
            MPI_File_get_position_shared(fh, &at);
        MPI_File_write_shared(fh, rec, WORDS, MPI_INT, MPI_STATUS_IGNORE);
        sleep(3);
        raise(SIGKILL);
    }
    MPI_File_close(&fh);
    MPI_Finalize();
    return 0;
}
END
mpicc -o job job.c || exit 1
export BRIO_PRELOAD=1
run() { BRIO_TEST_LIMIT=40 "$BRIO_RUN" "$mpi" "$ranks" "$PWD/job" "$1" "$PWD/$2" >said.job 2>&1; }
modules="sm rma lockedfile"
[ "$mpi" = openmpi ] && modules="$modules addproc" # Debian's MPICH cannot start processes
for module in $modules; do
    export BRIO_SHAREDFP=$module
    run die "$module" && wrong "$module" "nobody died"
    # Those behind the dead one's place may not have come to their own before they ended.
    expect "$module hole" 0 "whole, [1-$ranks] holes, 0 bytes over" ./job check "$module"
    whole=$(./job check "$module" | awk '{print $1}')
    [ "$whole" -ge $((20 * ranks)) ] || wrong "$module" "$whole records"
    expect "$module next" 0 '' run append "$module"
    expect "$module appended" 0 "^$((whole + 20 * ranks)) whole" ./job check "$module"
    ls -A | grep brio- && wrong "$module" "something of the dead is left"
done
finish
