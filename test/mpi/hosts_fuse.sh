#!/bin/bash
# A network file system that does not keep its clients' caches alike: GlusterFS as Debian brings
# it, three bricks, and on each host a FUSE client of its own. The suites for collective access,
# shared pointers, sync and atomic mode run over it. Its caches are on, but for the two that
# believe what they have for a second without a way to ask (quick-read, md-cache).
set -u
ranks=$1
failed=0
for program in glusterfs glusterfsd unshare setpriv; do
    command -v $program >/dev/null && continue
    echo "skipped: no $program (Debian: glusterfs-server, glusterfs-client)" >&2
    exit 77
done
if [ ! -w /dev/fuse ]; then
    echo "skipped: /dev/fuse cannot be used here" >&2
    exit 77
fi
. "$BRIO_SOURCE/test/mpi/lib.sh"

volume() { # NAME TYPE LINES...
    printf 'volume %s\n  type %s\n' "$1" "$2"
    shift 2
    printf '  %s\n' "$@"
    echo end-volume
}

socket=("option transport-type socket" "option transport.address-family unix")
server_file() {
    local i allow=()
    for i in 1 2 3; do
        volume store$i storage/posix "option directory $PWD/brick$i"
        volume locks$i features/locks "subvolumes store$i"
        volume brick$i performance/io-threads "subvolumes locks$i"
        allow+=("option auth.addr.brick$i.allow *")
    done
    volume server protocol/server "${socket[@]}" \
        "option transport.socket.listen-path $PWD/socket" "option auth-path brick1" \
        "${allow[@]}" "subvolumes brick1 brick2 brick3"
}

client_file() {
    local i below=all
    for i in 1 2 3; do
        volume client$i protocol/client "${socket[@]}" "option remote-host localhost" \
            "option transport.socket.connect-path $PWD/socket" "option remote-subvolume brick$i"
    done
    volume all cluster/distribute "subvolumes client1 client2 client3"
    for i in write-behind read-ahead io-cache open-behind; do
        volume $i performance/$i "subvolumes $below"
        below=$i
    done
}

is_fuse() { [ "$(stat -f -c %t "$1" 2>/dev/null)" = 65735546 ]; }

start() {
    local i
    mkdir -p mnt brick1 brick2 brick3
    server_file >server.vol
    client_file >client.vol
    setpriv --pdeathsig KILL glusterfsd -N -f "$PWD/server.vol" -l "$PWD/server.log" -p "$PWD/server.pid" &
    for ((i = 0; i < 50; i++)); do [ -S socket ] && break; sleep 0.1; done
    for ((i = 1; i <= few; i++)); do
        mkdir -p "clients/$i"
        setpriv --pdeathsig KILL glusterfs -N -f "$PWD/client.vol" -l "$PWD/client$i.log" "$PWD/clients/$i" &
    done
    for ((i = 0; i < 100; i++)); do
        is_fuse clients/1 && is_fuse "clients/$few" && return
        sleep 0.1
    done
    echo "FAIL GlusterFS did not start"
    tail -n 5 server.log client1.log
    exit 1
}

stop() {
    umount -l clients/* 2>/dev/null
    kill $(jobs -p) 2>/dev/null
    wait 2>/dev/null
}
trap stop EXIT
start
export BRIO_TEST_DIR=$PWD/mnt BRIO_TEST_DIRECT=1
BRIO_CASES=1 run "" "$few" coll cyclic
run "" "$few" consistency sync_barrier_sync close_then_open own_writes_at_once adjacent_blocks \
    neighbours_in_the_gaps_collective collective_then_independent views_one_after_another
run "" "$few" shared write_records outstanding read_records order_of_messages seek
run "" "$few" ordered
run "" "$few" atomic get_and_set independent nonblocking collective visible_at_once
exit $failed
