#!/bin/bash
# What make install installs works: command, libraries, headers, pkg-config files.
. "$BRIO_SOURCE/test/tools/lib.sh"
command -v pkg-config >/dev/null || { echo "skipped: no pkg-config" >&2; exit 77; }
prefix=$PWD/prefix
expect install 0 'libbrio' cmake --install "$BRIO_BUILD" --prefix "$prefix" --strip

lib=$(dirname "$(find "$prefix" -name "libbrio-$mpi.so")")
export PKG_CONFIG_PATH=$lib/pkgconfig
expect pkg_config 0 "-lbrio-$mpi" pkg-config --cflags --libs "brio-$mpi"

cat >main.c <<'END'
#define _GNU_SOURCE
#include <brio/brio.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    Dl_info info = {0};
    dladdr(dlsym(RTLD_DEFAULT, "MPI_File_open"), &info);
    puts(strstr(info.dli_fname, "libbrio") ? "with Brio" : "without");
    MPI_Finalize();
    return 0;
}
END
expect compiles 0 '' mpicc -Wl,--as-needed -o linked main.c $(pkg-config --cflags --libs "brio-$mpi")
expect runs_linked 0 'with Brio' env LD_LIBRARY_PATH="$lib" "$BRIO_RUN" "$mpi" 1 ./linked
expect compiles_plain 0 '' mpicc -I"$prefix/include" -o plain main.c
expect runs_command 0 'with Brio' "$prefix/bin/brio" run -n 1 ./plain
expect info 0 'fcoll' "$prefix/bin/brio" info --mpi "$mpi"
expect explain 0 'the file would be made' "$prefix/bin/brio" explain --mpi "$mpi" --ranks 1 new
expect explain_by_itself 0 'the file would be made' "$BRIO_RUN" "$mpi" 1 \
    "$(find "$prefix" -name "brio-explain-$mpi")" new write
expect manual 0 '' test -s "$prefix/share/man/man1/brio.1"
finish
