#!/bin/bash
# The test runner tells the truth: exit codes, the time limit, nothing left behind.
. "$BRIO_SOURCE/test/tools/lib.sh"
cat >end.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("in %s\n", getenv("BRIO_TEST_DIR"));
    fclose(fopen("left.dat", "w"));
    for (int i = 0; i < 200; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && atoi(argv[1]) == 99 && rank == 0)
        for (;;)
            pause();
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
END
mpicc -o end end.c || exit 1
run=$BRIO_RUN
unset LD_PRELOAD
mkdir root
export BRIO_TEST_ROOT=$PWD/root

expect passes 0 "in $PWD/root/" "$run" "$mpi" 4 ./end
expect passes_alone 0 "in $PWD/root/" "$run" "$mpi" 0 ./end
expect fails 1 'in ' "$run" "$mpi" 2 ./end 1
expect skips 77 'in ' "$run" "$mpi" 2 ./end 77
expect cannot_start 0 '' bash -c '! "$@" >/dev/null 2>&1' _ "$run" "$mpi" 2 ./nothing
expect kills_late_ones 124 'killed after 3 s' env BRIO_TEST_LIMIT=3 "$run" "$mpi" 3 ./end 99
if grep -lz "BRIO_TEST_ROOT=$BRIO_TEST_ROOT" /proc/[0-9]*/environ 2>/dev/null |
    while IFS= read -r -d '' file; do readlink "${file%/environ}/exe"; done | grep -q "$PWD/end"; then
    wrong kills_all "ranks are left"
fi
[ -z "$(ls root)" ] || wrong leaves_nothing "$(ls root)"
finish
