# Several hosts on one machine: namespaces with host names of their own, which each MPI takes
# for nodes and reaches through an rsh-like agent. To be sourced by a script that has set ranks.
# If there is a directory ./clients/N, host N finds it at ./mnt.
cat >agent <<END
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
host=\$1
shift
exec unshare --uts --mount --propagation private bash -c \
    'host=\$1; shift; hostname "\$host"
    mine=$PWD/clients/\${host##*-n}
    if [ -d "\$mine" ]; then mount --bind "\$mine" "$PWD/mnt"; fi; eval "\$*"' _ "\$host" "\$@"
END
chmod +x agent
if [ "$(./agent brio-n1 hostname 2>/dev/null)" != brio-n1 ]; then
    echo "skipped: no namespaces for hosts" >&2
    exit 77
fi

few=$ranks # Open MPI's TCP stalls if two hosts with the same loopback have two ranks each
[ "$BRIO_MPI" = mpich ] && few=2

# on_hosts HOSTS PROGRAM CASES...
on_hosts() {
    local hosts='' i per=$(((ranks + $1 - 1) / $1))
    for ((i = 1; i <= $1; i++)); do hosts+=${hosts:+,}brio-n$i; done
    local program=$BRIO_BUILD/test/mpi/$2-$BRIO_MPI launcher
    launcher=$(command -v "mpirun.$BRIO_MPI" || command -v mpirun)
    shift 2
    if [ "$BRIO_MPI" = openmpi ]; then
        timeout -k 5 60 "$launcher" --mca plm_rsh_agent "$PWD/agent" --mca oob_tcp_if_include lo \
            --mca btl_tcp_if_include lo --host "${hosts//,/:$per,}:$per" --map-by node \
            -x BRIO_TEST_DIR -x BRIO_SHAREDFP -x BRIO_VERBOSE -x OMPI_MCA_mpi_yield_when_idle \
            ${BRIO_TEST_DIRECT:+-x BRIO_TEST_DIRECT} ${BRIO_CASES:+-x BRIO_CASES} \
            -n "$ranks" "$program" "$@"
    else
        timeout -k 5 60 "$launcher" -launcher ssh -launcher-exec "$PWD/agent" -hosts "$hosts" \
            -ppn "$per" -n "$ranks" -genv LD_PRELOAD "${LD_PRELOAD:-}" "$program" "$@"
    fi </dev/null
}

# run MODULE HOSTS PROGRAM CASES...: with a module for the shared pointer, or ""
run() {
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
