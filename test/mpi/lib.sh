# Several hosts on one machine, which each MPI takes for nodes and reaches through an rsh-like
# agent: namespaces with host names of their own and, where `ip` can make them, networks of their
# own, joined by a bridge. To be sourced by a script that has set ranks; host I is brio-nI.
# If there is a directory ./clients/N, host N finds it at ./mnt.
if [ -z "${HOSTS_OWN_SPACE:-}" ]; then
    spaces=(--uts --mount --propagation private)
    HOSTS_OWN_SPACE=names
    if unshare --net "${spaces[@]}" ip link add brio0 type bridge 2>/dev/null; then
        HOSTS_OWN_SPACE=networks
        spaces+=(--net)
    fi
    export HOSTS_OWN_SPACE
    unshare "${spaces[@]}" true 2>/dev/null && exec unshare "${spaces[@]}" "$0" "$@"
    echo "skipped: no namespaces for hosts" >&2
    exit 77
fi

# host I: a network with a name, kept by a process that sleeps.
host() {
    local pid i=$1
    unshare --net --uts bash -c "echo >up.$i; exec sleep 600" &
    pid=$!
    until [ -e "up.$i" ]; do sleep 0.01; done
    echo "$pid" >"host.$i"
    ip link add "out$i" type veth peer name eth0 netns "$pid"
    ip link set "out$i" master brio0 up
    nsenter -t "$pid" --net bash -c "ip link set lo up; ip addr add 10.77.0.$i/24 dev eth0
        ip link set eth0 up"
    echo "10.77.0.$i brio-n$i" >>hosts
}

lan=lo
few=$ranks # Open MPI 4.1 stalls if two hosts have two ranks each, without Brio, too
[ "$BRIO_MPI" = mpich ] && few=2
hostname brio-n0
if [ "$HOSTS_OWN_SPACE" = networks ]; then
    lan=10.77.0.0/24
    ip link set lo up
    ip link add brio0 type bridge
    ip addr add 10.77.0.254/24 dev brio0
    ip link set brio0 up
    printf '127.0.0.1 localhost\n10.77.0.254 brio-n0\n' >hosts
    trap 'kill $(jobs -p) 2>/dev/null' EXIT
    for i in 1 2 3 4; do host $i; done
    mount --bind hosts /etc/hosts
fi

cat >agent <<END
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
host=\$1
shift
enter=
at=$PWD/host.\${host##*-n}
[ -e "\$at" ] && enter="nsenter -t \$(<"\$at") --net"
exec \$enter unshare --uts --mount --propagation private bash -c \
    'host=\$1; shift; hostname "\$host"
    mine=$PWD/clients/\${host##*-n}
    if [ -d "\$mine" ]; then mount --bind "\$mine" "$PWD/mnt"; fi; eval "\$*"' _ "\$host" "\$@"
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
        timeout -k 5 60 "$launcher" --mca plm_rsh_agent "$PWD/agent" --mca oob_tcp_if_include $lan \
            --mca btl_tcp_if_include $lan --host "${hosts//,/:$per,}:$per" --map-by node \
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
