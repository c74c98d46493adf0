#!/bin/bash
# The brio command: which MPI it finds, what it starts, what it says.
. "$BRIO_SOURCE/test/tools/lib.sh"
brio=$BRIO_BUILD/brio
mkdir tmp
export TMPDIR=$PWD/tmp

cat >where.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Dl_info info = {0};
    dladdr(dlsym(RTLD_DEFAULT, "MPI_File_open"), &info);
    printf("rank %d of %d: %s, args %d, setting %s\n", rank, size,
           strstr(info.dli_fname, "libbrio") ? "with Brio" : "without", argc - 1,
           getenv("BRIO_IND_RD_BUFFER_SIZE"));
    fflush(stdout);
    if (argc > 1 && strcmp(argv[1], "sleep") == 0)
        sleep(60);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
END
mpicc -o where where.c -ldl || exit 1
printf 'int main(void)\n{\n    return 0;\n}\n' >none.c
gcc -o none none.c
gcc -static -o static none.c || cp none static

expect no_command 2 'brio run' "$brio"
expect help 0 'brio info' "$brio" help
expect help_run 0 '--without' "$brio" help run
expect run_help 0 '--without' "$brio" run --help
expect version 0 '^brio [0-9.]+$' "$brio" --version
expect misspelt 2 "did you mean .brio run" "$brio" rnu
expect unknown 2 "no command .frobnicate" "$brio" frobnicate
expect forgotten_run 2 "brio run ./where" "$brio" ./where
expect no_program 2 'no program' "$brio" run -n 2
expect no_such_program 127 'cannot find' "$brio" run -n 2 ./nothing
expect not_on_path 127 './where\?' "$brio" run -n 2 where
expect bad_mpi 2 'openmpi or mpich' "$brio" run --mpi lam -n 1 ./where
expect no_mpi 2 '--mpi openmpi' "$brio" run -n 1 ./none

expect finds_mpi 0 "mpirun.*libbrio-$mpi.so.* -n 2 ./where 1 2$" "$brio" run --show -n 2 ./where 1 2
expect finds_through_env 0 "libbrio-$mpi.so" "$brio" run --show -n 2 env A=1 ./where
printf '#!%s/where\n' "$PWD" >script && chmod +x script
expect finds_through_script 0 "libbrio-$mpi.so" "$brio" run --show -n 2 ./script
expect takes_word_for_it 0 "libbrio-$mpi.so" "$brio" run --show --mpi "$mpi" ./none
expect end_of_options 0 "-n 2 ./where --show" "$brio" run --show -n 2 -- ./where --show
expect shows_without 0 "-n 2 ./where" "$brio" run --show --without -n 2 ./where
never_said shows_without_library libbrio-"$mpi"
if /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then
    expect finds_python 0 'libbrio-(openmpi|mpich)\.so' "$brio" run --show /usr/bin/python3 x.py
    printf '#!/usr/bin/env -S /usr/bin/python3\n' >script.py && chmod +x script.py
    expect finds_python_script 0 'libbrio-(openmpi|mpich)\.so' "$brio" run --show ./script.py
fi
if [ "$mpi" = openmpi ]; then
    expect own_preload 0 'LD_PRELOAD=.*libbrio-openmpi.so:.*/mine.so ' \
        "$brio" run --show -x LD_PRELOAD=/lib/mine.so ./where
    expect values 0 '--mca btl self,vader -x A=b --map-by slot ./where' \
        "$brio" run --show --mca btl self,vader -x A=b --map-by slot ./where
    expect two_programs 0 'with Brio.*' "$brio" run -n 1 ./where : -n 1 ./where
    [ "$(grep -c 'with Brio' said)" = 2 ] || wrong two_programs "not both with Brio"
else
    expect own_preload 0 'LD_PRELOAD .*libbrio-mpich.so:/lib/mine.so' \
        "$brio" run --show -genv LD_PRELOAD /lib/mine.so ./where
    expect values 0 '-genv A b -bind-to none -ppn 2 ./where' \
        "$brio" run --show -genv A b -bind-to none -ppn 2 ./where
    expect two_programs 0 'with Brio' "$brio" run -n 1 ./where : -n 1 ./where
    [ "$(grep -c 'with Brio' said)" = 2 ] || wrong two_programs "not both with Brio"
fi

# Behind a launcher.
line=$("$brio" run --show --without -n 2 ./where)
expect is_a_rank 0 'rank 1 of 2: with Brio, args 1' ${line% ./where} "$brio" run ./where 0
expect rank_passes_exit_code 7 'with Brio' ${line% -n 2 ./where} -n 1 "$brio" run ./where 7
expect rank_without 0 'rank 1 of 2: without' ${line% ./where} "$brio" run --without ./where
expect rank_shows 0 "LD_PRELOAD=.*libbrio-$mpi.so.* ./where" env PMI_RANK=0 "$brio" run --show ./where
expect launches_from_a_rank 0 "-n 2 ./where" env PMI_RANK=0 "$brio" run --show -n 2 ./where

export BRIO_IND_RD_BUFFER_SIZE=64k
expect runs 0 'rank 2 of 3: with Brio, args 0, setting 64k' "$brio" run -n 3 ./where
never_said runs_quietly 'no rank'
expect passes_exit_code 7 'with Brio, args 1' "$brio" run -n 1 ./where 7
expect runs_without 0 'rank 1 of 2: without' "$brio" run --without -n 2 ./where
never_said runs_without_quietly 'no rank'
expect says_if_not_loaded 0 'no rank of ./static loaded Brio' \
    "$brio" run --mpi "$mpi" -n 1 ./static
mkdir there && mv where there/
expect relative_to_wdir 0 'with Brio' "$brio" run -n 1 -wdir "$PWD/there" ./where
mv there/where .

# A place whose name LD_PRELOAD cannot hold.
mkdir -p 'a place/bin' && cp -L "$brio" "$BRIO_BUILD/libbrio-$mpi.so" 'a place/bin'
cp "$BRIO_BUILD/libbrio-yield.so" "$BRIO_BUILD/brio-server-$mpi" 'a place/bin'
expect place_with_blank 0 'with Brio' 'a place/bin/brio' run -n 3 ./where
expect server_beside_the_library 0 "brio-server-$mpi" 'a place/bin/brio' run --mpi "$mpi" -n 1 \
    sh -c 'ls "$(dirname "${LD_PRELOAD%%[: ]*}")"'

# A signal to brio ends the ranks.
"$brio" run -n 2 ./where sleep >said 2>&1 </dev/null &
pid=$!
for _ in $(seq 100); do grep -q 'rank' said && break; sleep 0.1; done
kill -TERM $pid
for _ in $(seq 100); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
if kill -0 $pid 2>/dev/null; then wrong ends_ranks "still there"; kill -KILL $pid; fi
wait $pid 2>/dev/null

expect info 0 'fcoll' "$brio" info --mpi "$mpi"
for name in $(sed -n 's/^| `\([a-z0-9_]*\)` |.*/\1/p' "$BRIO_SOURCE/doc/hints.md"); do
    case $name in # of a module that this build may be without
    ceph_* | pvfs2_*) grep -qE "^ +${name%%_*} " said || continue ;;
    esac
    grep -qw "$name" said || wrong info "does not list $name"
done
expect info_json 0 '"fcoll"' "$brio" info --json --mpi "$mpi"
if command -v python3 >/dev/null; then
    python3 -m json.tool said >/dev/null || wrong info_json "not JSON"
fi
printf 12345 >looked_at
expect info_file 0 '^looked_at: 5 bytes$' "$brio" info --mpi "$mpi" looked_at
for line in '^  file system ' '^  layout +one piece' '^  four nodes .* fbtl=' 'brio explain looked_at'; do
    grep -Eq "$line" said || wrong info_file "does not say $line"
done
printf 12345 >with:colon
expect info_file_colon 0 '^with:colon: 5 bytes$' "$brio" info --mpi "$mpi" with:colon
expect info_file_to_be 0 'not there yet' "$brio" info --mpi "$mpi" not_there
expect info_file_directory 1 'looked_at.d' "$brio" info --mpi "$mpi" "$(mkdir -p looked_at.d && echo looked_at.d)"
expect info_file_nowhere 1 'can be reached' "$brio" info --mpi "$mpi" nowhere/at_all
expect info_file_json 2 'neither' "$brio" info --json looked_at
expect info_unknown 2 'cannot use' "$brio" info --frob

left=$(find tmp -mindepth 1 -name 'brio-*')
[ -z "$left" ] || wrong leaves_nothing "$left"
finish
