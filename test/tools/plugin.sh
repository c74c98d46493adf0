#!/bin/bash
# A module from outside, built against an installed Brio by its own CMake file, does its work; one
# that is broken, or made for another Brio or another MPI, is refused with one line that says why,
# and the program goes on.
. "$BRIO_SOURCE/test/tools/lib.sh"
command -v pkg-config >/dev/null || { echo "skipped: no pkg-config" >&2; exit 77; }
prefix=$PWD/prefix
expect install 0 'module.h' cmake --install "$BRIO_BUILD" --prefix "$prefix" --strip
lib=$(dirname "$(find "$prefix" -name "libbrio-$mpi.so")")
export PKG_CONFIG_PATH=$lib/pkgconfig
brio=$prefix/bin/brio

example=$(find "$prefix" -path '*/examples/watch')
cp -r "$example" watch
expect configures 0 'Generating done' cmake -S watch -B out -DMPI="$mpi"
expect builds 0 'Built target' cmake --build out
mkdir modules && cp "out/watch-$mpi.so" modules/

cat >prog.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, value;
    MPI_File fh;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    value = rank;
    if (MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh))
        return printf("open failed\n");
    MPI_File_write_at(fh, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(fh);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(fh, 4 * (1 - rank), &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    printf("rank %d read %d\n", rank, value);
    MPI_File_close(&fh);
    MPI_Finalize();
    return 0;
}
END
mpicc -o prog prog.c || exit 1
with() { env BRIO_MODULE_PATH="$1" "${@:2}" "$brio" run -n 2 ./prog; }
once() { # NAME PATTERN
    local n
    n=$(grep -Ec -e "$2" said)
    if [ "$n" = 1 ]; then echo "ok $1"; else wrong "$1" "said $n times: $2"; fi
}

expect is_listed 0 'watch +counts what passes' env BRIO_MODULE_PATH="$PWD/modules" "$brio" info --mpi "$mpi"
expect with_its_setting 0 'watch_small +1k +environment' \
    env BRIO_MODULE_PATH="$PWD/modules" BRIO_WATCH_SMALL=1k "$brio" info --settings --mpi "$mpi"
expect works 0 'watch: rank 1: 1 reads of 4 bytes, 1 writes of 4 bytes, 2 of them small' \
    with "$PWD/modules" BRIO_CACHE=watch
once reads_what_was_written 'rank 0 read 1'
expect its_settings_work 0 'rank 1: .* 0 of them small' \
    with "$PWD/modules" BRIO_CACHE=watch BRIO_WATCH_SMALL=1
expect as_a_file 0 'watch: rank 0' with "$PWD/modules/watch-$mpi.so" BRIO_CACHE=watch
expect not_unless_asked 0 'rank 0 read 1' with "$PWD/modules"
never_said quietly 'watch|brio:'
expect unknown_without_it 0 '"watch" is not used: there is no such module' with "" BRIO_CACHE=watch

flags="-Wall -Werror -Wno-unused -shared -fPIC -fvisibility=hidden $(pkg-config --cflags "brio-module-$mpi")"
libs=$(pkg-config --libs "brio-module-$mpi")
refused() { # NAME PATTERN FILE: said once, and the program does its work
    expect "$1" 0 'rank 1 read 0' with "$3"
    once "$1_is_said" "the module .*${3##*/}.* is not loaded: .*$2"
}
bad() { # NAME SED-EXPRESSION: a changed module, in bad/NAME.so
    mkdir -p bad
    sed "$2" watch/watch.c >"$1.c"
    mpicc $flags -o "bad/$1.so" "$1.c" $libs || wrong "$1" "does not compile"
}
echo 'not a library' >broken.so
refused broken 'broken.so: ' "$PWD/broken.so"
refused missing 'is not there' "$PWD/nowhere"
bad nothing '/^BRIO_PLUGIN/d'
refused nothing_in_it 'no brio_plugin' "$PWD/bad/nothing.so"
bad version 's/^BRIO_PLUGIN.*/#undef BRIO_MODULE_VERSION\n#define BRIO_MODULE_VERSION 99\n&/'
refused version 'version 99 of Brio.s doors, and this is version 1' "$PWD/bad/version.so"
bad doors 's/^BRIO_PLUGIN.*/#undef BRIO_MODULE_DOORS\n#define BRIO_MODULE_DOORS "0123"\n&/'
refused doors 'headers of another Brio \(0123' "$PWD/bad/doors.so"
bad othermpi 's/^BRIO_PLUGIN.*/#undef BRIO_MODULE_MPI\n#define BRIO_MODULE_MPI "lam"\n&/'
refused mpi 'compiled for lam, not for' "$PWD/bad/othermpi.so"
bad twice 's/name = "watch"/name = "none"/'
refused name_taken 'there is a module cache/none already' "$PWD/bad/twice.so"
bad conf 's/conf_size = sizeof(struct conf)/conf_size = 1/'
refused outside_its_struct 'outside of the module.s struct' "$PWD/bad/conf.so"
bad query 's/\.query = query//'
refused no_query 'no framework, name, description or query' "$PWD/bad/query.so"
bad symbol 's/^static int query.*/void brio_no_such_thing(void);\n&/; s/(void)facts, (void)conf;/&\n    brio_no_such_thing();/'
refused undefined_symbol 'undefined symbol: brio_no_such_thing' "$PWD/bad/symbol.so"

# In a directory each is judged for itself, and those named for the other MPI are left alone.
cp "modules/watch-$mpi.so" bad/
other=mpich; [ "$mpi" = mpich ] && other=openmpi
echo nonsense >"bad/any-$other.so"
expect good_among_bad 0 'watch: rank 0' with "$PWD/bad" BRIO_CACHE=watch
never_said others_are_left_alone "any-$other"
once each_is_said 'bad/version.so is not loaded'
finish
