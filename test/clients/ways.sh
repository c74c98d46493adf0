#!/bin/bash
# The ways of use: preloaded, linked (C, C++, Fortran), `brio run`, and under a profiling tool.
. "${0%/*}/lib.sh"
fc=$(tool mpifort)
cxx=$(tool mpicxx)
brio=$BRIO_BUILD/brio
brio_link="-Wl,--push-state,--no-as-needed -lbrio-$mpi -Wl,--pop-state"
brio_paths=("-L$BRIO_BUILD" "-Wl,-rpath,$BRIO_BUILD")

linked() { # PROG ARGS: no preload
    BRIO_RUN_MARK=$mark launch "" "$ranks" "$@"
    was_here "linked: $*"
}

echo "way: preloaded"
cc "$clients/ways.c" -o ways
natively "$ranks" ./ways
with_brio "$ranks" ./ways

echo "way: linked, C"
cc "$clients/ways.c" -o ways-linked "${brio_paths[@]}" -lbrio-$mpi
linked ./ways-linked

echo "way: linked, C++"
"$cxx" -std=c++17 -D_GNU_SOURCE -w -DMPI_CXX_BINDINGS -I"${clients%/*}" "$clients/cxx.cc" -o cxx-linked \
    "${brio_paths[@]}" $brio_link
linked ./cxx-linked

for binding in MPIFH F08; do
    echo "way: linked, Fortran $binding"
    mkdir $binding
    "$fc" -w -fallow-argument-mismatch -J $binding -DBIND_$binding -DMPI_IS_$mpi "$clients/fortran.F90" \
        -o fortran-$binding "${brio_paths[@]}" $brio_link
    linked ./fortran-$binding served views errors
done

echo "way: under a tool that wraps MPI_File_ and calls PMPI_File_"
cc -shared -fPIC "$clients/ways_tool.c" -o tool.so
rm -f tool.log "$mark"
TOOL_LOG=$PWD/tool.log BRIO_RUN_MARK=$mark launch "$PWD/tool.so:$BRIO_LIB" "$ranks" ./ways
was_here "under a tool"
[ "$(sort -u tool.log)" = "1 1 1" ] || fail "the tool saw (opens, writes, reads): $(cat tool.log)"
[ "$(wc -l <tool.log)" = "$ranks" ] || fail "the tool was not in every rank"

echo "way: brio run"
[ -x "$brio" ] || fail "no $brio"
"$brio" run -n "$ranks" ./ways brio-run.dat >run.log 2>&1 || fail "brio run: $(cat run.log)"
grep -q "ok ways on $ranks ranks" run.log || fail "brio run printed: $(cat run.log)"
"$brio" run -n 2 ./fortran-F08 served >run.log 2>&1 || fail "brio run, Fortran: $(cat run.log)"
"$brio" run --without -n "$ranks" ./ways >run.log 2>&1 ||
    fail "brio run --without: $(cat run.log)"
if [ "$mpi" = openmpi ] && /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then
    echo "way: brio run, Python"
    "$brio" run -n 2 /usr/bin/python3 "$clients/mpi4py_client.py" hints views >run.log 2>&1 ||
        fail "brio run, Python: $(cat run.log)"
    grep -q "ok hints" run.log || fail "brio run, Python, printed: $(cat run.log)"
fi
