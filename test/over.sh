# For scripts that run test programs over a file system of their own: sourced, with $here and $build
# set. over LIST runs each line of LIST, "kind/program ranks [cases...]", with every MPI that there
# is, under the limit BRIO_TEST_LIMIT, and ends with `N passed, N failed`; false if one failed, or
# none ran.
over() {
    local passed=0 failed=0 mpi test ranks cases began out=$build/over.$$.out
    for mpi in $(sed -n 's/^BRIO_MPIS_FOUND:[^=]*=//p' "$build/CMakeCache.txt" | tr ';' ' '); do
        while read -r test ranks cases; do
            began=$SECONDS
            # shellcheck disable=SC2086 # the cases are words
            if "$here/run" "$mpi" "$ranks" "$build/test/$test-$mpi" $cases >"$out" 2>&1; then
                passed=$((passed + 1))
                echo "passed  $test $mpi $ranks  ($((SECONDS - began)) s)"
            else
                failed=$((failed + 1))
                echo "FAILED  $test $mpi $ranks  ($((SECONDS - began)) s)"
                grep -v '^ok ' "$out" | head -n 40
            fi
        done <<<"$1"
    done </dev/null
    rm -f "$out"
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
