# What the client scripts share; sourced. test/run starts a script with the number of ranks,
# in a fresh directory, with BRIO_MPI, BRIO_BUILD, BRIO_SOURCE, BRIO_LIB and BRIO_SHIM set.
#
#   natively N PROG ARGS     the MPI's own I/O
#   with_brio N PROG ARGS    Brio preloaded; fails if no rank loaded it. Where it fails, the
#                            output says whether the client succeeds natively.
#   skip WHY                 ends the script: it cannot run here
set -eu
: "${BRIO_MPI:?run me by test/run}" "${BRIO_BUILD:?}" "${BRIO_SOURCE:?}" "${BRIO_LIB:?}"
clients=$BRIO_SOURCE/test/clients
mpi=$BRIO_MPI
ranks=${1:-2}
[ "$ranks" -gt 0 ] || ranks=2
mark=$PWD/brio-was-here
unset LD_PRELOAD BRIO_RUN_MARK

skip() {
    echo "skipped: $*" >&2
    exit 77
}

fail() {
    echo "FAIL ${0##*/}: $*" >&2
    exit 1
}

# tool NAME: the MPI's own compiler wrapper, by Debian's name for it.
tool() {
    command -v "$1.$mpi" || skip "no $1.$mpi here"
}

need() {
    command -v "$1" >/dev/null || skip "$1 is not installed ($2)"
}

# need_pc MODULE PACKAGE: the package is there, by its pkg-config file.
need_pc() {
    need pkg-config pkg-config
    pkg-config --exists "$1" || skip "$1 is not installed ($2)"
}

# Debian's build of a package knows one MPI only. only_openmpi NAME
only_openmpi() {
    [ "$mpi" = openmpi ] || skip "Debian has no $1 for MPICH"
}

warnings="-Wall -Wextra -Werror"
mpicc=$(tool mpicc)
cc() { "$mpicc" -std=gnu17 -O1 -g $warnings -D_GNU_SOURCE -I"${clients%/*}" "$@"; }

launch() { # PRELOAD N PROG ARGS
    local preload=$1 n=$2
    shift 2
    if [ "$mpi" = mpich ] && [ -e "${BRIO_SHIM:-}" ]; then
        preload=${preload:+$preload:}$BRIO_SHIM
    fi
    if [ "$mpi" = openmpi ]; then
        mpirun.openmpi --oversubscribe -n "$n" ${preload:+-x "LD_PRELOAD=$preload"} "$@"
    else
        mpirun.mpich -n "$n" ${preload:+-genv LD_PRELOAD "$preload"} "$@"
    fi
}

natively() { launch "" "$@"; }

with_brio() {
    rm -f "$mark"
    if ! BRIO_RUN_MARK=$mark launch "$BRIO_LIB" "$@"; then
        echo "failed with Brio: ${*:2}" >&2
        if launch "" "$@" >native.out 2>&1; then
            echo "natively it succeeds" >&2
        else
            echo "natively it fails too:" >&2
            tail -n 20 native.out >&2
        fi
        exit 1
    fi
    was_here "$*"
}

# was_here WHAT: fails unless the last run loaded Brio.
was_here() {
    [ -e "$mark" ] || fail "no rank loaded Brio: $1"
    rm -f "$mark"
}
