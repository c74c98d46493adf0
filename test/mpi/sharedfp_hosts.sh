#!/bin/bash
# Shared and ordered calls between hosts: namespaces of this machine with host names of their
# own, which each MPI takes for nodes and reaches through an rsh-like agent.
set -u
ranks=$1
failed=0
cat >agent <<'END'
#!/bin/bash
while [[ $1 == -* ]]; do shift; done
host=$1
shift
exec unshare --uts --mount --propagation private bash -c \
    'host=$1; shift; hostname "$host"; eval "$*"' _ "$host" "$@"
END
chmod +x agent
if [ "$(./agent brio-n1 hostname 2>/dev/null)" != brio-n1 ]; then
    echo "skipped: no namespaces for hosts" >&2
    exit 77
fi

# on_hosts HOSTS PROGRAM CASES...
on_hosts() {
    local hosts='' i per=$(((ranks + $1 - 1) / $1))
    for ((i = 1; i <= $1; i++)); do hosts+=${hosts:+,}brio-n$i; done
    local program=$BRIO_BUILD/test/mpi/$2-$BRIO_MPI launcher
    launcher=$(command -v "mpirun.$BRIO_MPI" || command -v mpirun)
    shift 2
    if [ "$BRIO_MPI" = openmpi ]; then
        timeout 60 "$launcher" --mca plm_rsh_agent "$PWD/agent" --mca oob_tcp_if_include lo \
            --mca btl_tcp_if_include lo --host "${hosts//,/:$per,}:$per" --map-by node \
            -x BRIO_TEST_DIR -x BRIO_SHAREDFP -x BRIO_VERBOSE -x OMPI_MCA_mpi_yield_when_idle \
            -n "$ranks" "$program" "$@"
    else
        timeout 60 "$launcher" -launcher ssh -launcher-exec "$PWD/agent" -hosts "$hosts" \
            -ppn "$per" -n "$ranks" -genv LD_PRELOAD "${LD_PRELOAD:-}" "$program" "$@"
    fi </dev/null
}

run() { # MODULE HOSTS PROGRAM CASES...
    local module=$1
    shift
    if BRIO_VERBOSE=1 BRIO_SHAREDFP=$module on_hosts "$@" >said 2>&1; then
        echo "ok $1 hosts, ${module:-default}, $2"
    else
        failed=1
        echo "FAIL $1 hosts, ${module:-default}, $2"
        sed 's/^/    /' said | head -n 30
    fi
}

shared=(write_records outstanding read_records order_of_messages seek)
modules="lockedfile"
few=$ranks # Open MPI's TCP stalls if two hosts with the same loopback have two ranks each
if [ "$BRIO_MPI" = mpich ]; then
    modules="rma $modules" # Open MPI has no windows over TCP
    few=2
else
    modules="$modules addproc"
fi
run "" "$few" shared "${shared[@]}"
run "" "$ranks" ordered
for module in $modules; do
    run $module "$few" shared "${shared[@]}"
    run $module "$few" ordered
done
run "" "$few" sharedfp_individual records order_of_messages stages views
exit $failed
