#!/bin/bash
# brio tune: finds the best settings of a tiny program, keeps what is noise apart, goes on after
# an interruption, and its profile is in force afterwards.
. "$BRIO_SOURCE/test/tools/lib.sh"
brio=$BRIO_BUILD/brio
export XDG_CONFIG_HOME=$PWD/config HOME=$PWD
unset BRIO_PROFILE
cat >work.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* In three runs with the same settings 0, 1/2 and 1: noise that is the same for all settings, so
 * that none is better by chance. */
static double noise(const char *fcoll, const char *size)
{
    char name[600];
    snprintf(name, sizeof name, "seen-%s-%s", fcoll, size);
    FILE *f = fopen(name, "a");
    if (!f)
        return 0;
    fputc('.', f);
    fseek(f, 0, SEEK_END);
    long runs = ftell(f);
    fclose(f);
    return (double)(runs % 3) / 2;
}

/* Prints a number that depends on the settings in force for its file. */
int main(int argc, char **argv)
{
    int rank, flag;
    char fcoll[256] = "", size[256] = "";
    MPI_File fh;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh))
        MPI_Abort(MPI_COMM_WORLD, 5);
    MPI_File_get_info(fh, &info);
    MPI_Info_get(info, "brio_fcoll", 255, fcoll, &flag);
    MPI_Info_get(info, "cb_buffer_size", 255, size, &flag);
    MPI_File_close(&fh);
    MPI_Info_free(&info);
    double rate = 100, chance = rank == 0 ? noise(fcoll, size) : 0;
    if (argc > 1 && strcmp(argv[1], "tuned") == 0)
        rate = atof(size) * (strcmp(fcoll, "dynamic") == 0 ? 2 : 1);
    if (argc > 1 && strcmp(argv[1], "slow") == 0)
        usleep(300000);
    if (rank == 0)
        printf("with %s %s\nrate: %.6f MB/s\n", fcoll, size, rate * (1 + 0.02 * chance));
    MPI_Finalize();
    return argc > 1 && strcmp(argv[1], "fails") == 0;
}
END
mpicc -o work work.c || exit 1
printf 'fcoll = two_phase, dynamic\ncb_buffer_size = 8m..32m # doubled\n' >small.tune
rate=(--match 'rate: ([0-9.]+)' --larger)

expect usage 2 'no SPACE' "$brio" tune
expect no_program 2 'no program' "$brio" tune small.tune
expect no_space 2 'cannot read nothing.tune' "$brio" tune nothing.tune -n 1 ./work
expect bad_option 2 'wrong. takes|takes exhaustive' "$brio" tune --search wrong small.tune ./work
expect bad_pattern 2 'match' "$brio" tune --match '(' small.tune ./work
echo 'fcoll two_phase' >bad.tune
expect bad_space 2 'bad.tune: line 1' "$brio" tune bad.tune -n 1 ./work

paper=$BRIO_SOURCE/share/tune/otpo.tune
expect paper 0 '^fcoll=individual cb_buffer_size=128m$' "$brio" tune --list "$paper"
[ "$(wc -l <said)" = 65 ] || wrong paper "$(wc -l <said) combinations, not 65"

expect tunes 0 'fcoll=dynamic cb_buffer_size=32m' "$brio" tune "${rate[@]}" small.tune -n 2 ./work tuned
cp said report
expect says_where 0 'config/brio/profile, for \[program=work\]' cat report
expect within 0 'Within 25 %' cat report
expect profile 0 '^cb_buffer_size = 32m$' cat config/brio/profile
expect in_force 0 '^with dynamic 33554432$' "$brio" run -n 1 ./work
cp work other
expect only_for_it 0 '^with [a-z_]+ 4194304$' "$brio" run -n 1 ./other
expect again 0 'going on: 21 runs' "$brio" tune "${rate[@]}" small.tune -n 2 ./work tuned
expect another 1 'another program' "$brio" tune small.tune -n 2 ./work tuned

expect noise 0 'not certainly better|better than the default' "$brio" tune --fresh "${rate[@]}" \
    --profile none small.tune -n 1 ./work
[ -e none ] && wrong noise 'a profile for nothing'
expect fails 1 'fails with the default' "$brio" tune --fresh "${rate[@]}" small.tune -n 1 ./work fails
expect nothing_fits 1 'nothing that it prints' "$brio" tune --fresh --match 'none ([0-9])' \
    small.tune -n 1 ./work
expect halving 0 'cb_buffer_size=32m' "$brio" tune --fresh --search halving --mount "$PWD" \
    "${rate[@]}" --profile mine small.tune -n 1 ./work tuned
expect for_mount 0 "^\[mount=$PWD\]" cat mine
expect random 0 '^3 combinations' "$brio" tune --fresh --search random --trials 2 --repeats 1 \
    --no-profile small.tune -n 1 ./work

# Interrupted, and gone on with.
rm -f small.tune.journal
"$brio" tune --fresh --no-profile small.tune -n 1 ./work slow >out 2>&1 &
job=$!
for _ in $(seq 100); do [ -e small.tune.journal ] && [ "$(wc -l <small.tune.journal)" -ge 4 ] && break; sleep 0.1; done
kill -TERM "$job"
wait "$job"
[ $? = 130 ] || wrong interrupted 'exit code'
cp out said
grep -q 'the same command goes on' said || wrong interrupted 'said nothing'
expect goes_on 0 'going on: [3-9]' "$brio" tune --no-profile small.tune -n 1 ./work slow
never_said not_twice 'run 22'
finish
