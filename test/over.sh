# For scripts that run test programs over a file system of their own: sourced, with $here and $build
# set. over LIST [WORD] runs each line of LIST, "kind/program ranks [cases...]", with every MPI that
# there is, under the limit BRIO_TEST_LIMIT; a line may go on after a backslash; WORD is said with
# each. over_end ends with `N passed, N failed`; false if one failed, or none ran.
over_passed=0 over_failed=0
over() {
    local mpi test ranks cases began out=$build/over.$$.out name
    for mpi in $(sed -n 's/^BRIO_MPIS_FOUND:[^=]*=//p' "$build/CMakeCache.txt" | tr ';' ' '); do
        # shellcheck disable=SC2162 # a backslash at the end of a line goes on in the next
        while read test ranks cases; do
            began=$SECONDS name="$test $mpi $ranks${2:+ $2}"
            # shellcheck disable=SC2086 # the cases are words
            if "$here/run" "$mpi" "$ranks" "$build/test/$test-$mpi" $cases >"$out" 2>&1; then
                over_passed=$((over_passed + 1))
                echo "passed  $name  ($((SECONDS - began)) s)"
            else
                over_failed=$((over_failed + 1))
                echo "FAILED  $name  ($((SECONDS - began)) s)"
                grep -v '^ok ' "$out" | head -n 40
            fi
        done <<<"$1"
    done </dev/null
    rm -f "$out"
}

over_end() {
    echo "$over_passed passed, $over_failed failed"
    [ "$over_failed" = 0 ] && [ "$over_passed" -gt 0 ]
}
