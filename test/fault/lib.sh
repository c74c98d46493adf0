# What the fault tests have in common: builds the shim and the program into the current
# directory. To be sourced.
cc=$(command -v "mpicc.$BRIO_MPI" || command -v mpicc) || { echo "skipped: no mpicc"; exit 77; }
if ldd "$BRIO_LIB" | grep -q 'lib[atu]san'; then
    echo "skipped: a sanitizer has the allocator for itself"
    exit 77
fi
test=$BRIO_SOURCE/test
export UCX_MEM_MMAP_HOOK_MODE=none # or it would put itself in front of the shim's mmap
"$cc" -std=gnu17 -O2 -g -D_GNU_SOURCE -fvisibility=hidden -shared -fPIC -pthread \
    "$test/shim/fault.c" -o libfault.so -ldl &&
    "$cc" -std=gnu17 -O1 -g -D_GNU_SOURCE -I"$test" "$test"/fault/sweep_*.c \
        -o torture -ldl || exit 1

# torture SECONDS ARGS...: the program on $ranks ranks, with Brio and the shim
torture() {
    local limit=$1
    shift
    LD_PRELOAD=$PWD/libfault.so:$BRIO_LIB BRIO_TEST_LIMIT=$limit \
        "$BRIO_RUN" "$BRIO_MPI" "$ranks" "$PWD/torture" "$@"
}
