# What the tests of the tools share; sourced. A case that goes wrong says so and the script goes
# on; `finish` ends it.
set -u
: "${BRIO_MPI:?run me by test/run}" "${BRIO_BUILD:?}" "${BRIO_SOURCE:?}"
mpi=$BRIO_MPI
failures=0

# expect NAME CODE PATTERN COMMAND...: the exit code, and an extended regular expression for a
# line of what it says ("" for nothing said). What it said is in ./said afterwards.
expect() {
    local name=$1 code=$2 pattern=$3 got
    shift 3
    "$@" >said 2>&1 </dev/null
    got=$?
    if [ "$got" != "$code" ]; then
        wrong "$name" "exit code $got, not $code"
    elif [ -z "$pattern" ] && [ -s said ]; then
        wrong "$name" "said something"
    elif [ -n "$pattern" ] && ! grep -Eq -e "$pattern" said; then
        wrong "$name" "did not say $pattern"
    else
        echo "ok $name"
    fi
}

# never_said NAME PATTERN: the last command did not say it.
never_said() {
    if grep -Eq -e "$2" said; then wrong "$1" "said $2"; else echo "ok $1"; fi
}

wrong() {
    failures=$((failures + 1))
    echo "FAIL $1: $2"
    sed 's/^/    /' said | head -n 20
}

finish() {
    [ "$failures" = 0 ]
    exit
}

mpicc() {
    if command -v "mpicc.$mpi" >/dev/null; then "mpicc.$mpi" "$@"; else command mpicc "$@"; fi
}
