#!/bin/bash
# Lock servers of network file systems that have no locks, that grant them to everybody, or that
# never answer: the module lockedfile says so in time, and individual does without.
. "$BRIO_SOURCE/test/tools/lib.sh"
ranks=$1
cat >job.c <<'END_OF_JOB'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* One record by the shared pointer, twice; says how each ended. */
int main(int argc, char **argv)
{
    int rank, code;
    char record[5000], text[MPI_MAX_ERROR_STRING];
    MPI_File fh;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(record, 'a' + rank, sizeof record);
    code = MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_WRONLY | MPI_MODE_CREATE,
                         MPI_INFO_NULL, &fh);
    if (code)
        MPI_Abort(MPI_COMM_WORLD, 9);
    for (int i = 0; i < 2; i++) {
        double begin = MPI_Wtime();
        int n = 0;
        code = MPI_File_write_shared(fh, record, sizeof record, MPI_BYTE, MPI_STATUS_IGNORE);
        if (code)
            MPI_Error_string(code, text, &n);
        printf("rank %d %s in %.0f s: %.*s\n", rank, code ? "fails" : "writes",
               MPI_Wtime() - begin, n, text);
    }
    code = MPI_File_close(&fh);
    printf("rank %d %s\n", rank, code ? "cannot close" : "closes");
    MPI_Finalize();
    return 0;
}
END_OF_JOB
mpicc -o job job.c && mpicc -shared -fPIC -D_GNU_SOURCE -o liblocks.so \
    "$BRIO_SOURCE/test/shim/locks.c" -ldl || exit 1
export BRIO_LOCKEDFILE_LIMIT=1 BRIO_INDIVIDUAL_MEMORY=4096
run() { # MODULE SERVER RANK
    rm -f data
    BRIO_SHAREDFP=$1 LOCK_SERVER=$2 LOCK_RANK=$3 BRIO_TEST_LIMIT=40 \
        LD_PRELOAD=$PWD/liblocks.so:$BRIO_LIB "$BRIO_RUN" "$mpi" "$ranks" "$PWD/job" "$PWD/data"
}
last=$((ranks - 1))
# try NAME MODULE SERVER PATTERN: what the last rank says; all ranks come to the end.
try() {
    expect "$1" 0 "rank $last $4" run "$2" "$3" "$last"
    [ "$(grep -c ' closes' said)" = "$ranks" ] || wrong "$1" "not all close"
}

try none lockedfile none "fails in 0 s: .*[Ll]ock"
grep -q "rank 0 writes in 0 s" said || wrong none "the others do not go on"
try liar lockedfile liar "fails in 0 s: .*granted to two"
# The trial's two locks, the sign of life, then a lock of the first record; its unlocking; and
# the lock of the second. (The first may do for the trial, if the other rank tries as well.)
for n in 0 1 2 3 4; do
    try "no answer after $n" lockedfile "$n" "fails in [0-3] s: .*no (answer|shared)"
done
try individual individual 0 "writes in"
never_said "individual fails" "fails|cannot"
[ "$(stat -c %s data)" = $((2 * ranks * 5000)) ] || wrong "individual" "records are lost"
ls -A | grep brio- && wrong "side files" "something is left"
finish
