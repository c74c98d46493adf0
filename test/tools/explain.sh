#!/bin/bash
# brio explain and BRIO_EXPLAIN: the words are there, they are those of the choices that are made,
# each is said once, and nothing is touched.
. "$BRIO_SOURCE/test/tools/lib.sh"
brio=$BRIO_BUILD/brio
unset ROMIO_HINTS
export HOME=$PWD BRIO_CONFIG= BRIO_PROFILE=
once() { # NAME PATTERN
    local n
    n=$(grep -Ec -e "$2" said)
    if [ "$n" = 1 ]; then echo "ok $1"; else wrong "$1" "said $n times: $2"; fi
}
explain() { "$brio" explain --mpi "$mpi" "$@"; }

expect new_file 0 'the file would be made' explain --ranks 3 new
once ranks '3 ranks on 1 node, at most 3 on one'
for framework in fs fbtl cache fcache fcoll sharedfp; do
    once "asks_$framework" "^  $framework +[* ] "
done
[ "$(grep -c '^ .\{10\} \* ' said)" -ge 6 ] || wrong choices "not six chosen"
once refusal 'individual +no +'
[ ! -e new ] || wrong new_file_is_not_made "it is"

printf 'precious' >old
printf 'romio_cb_write disable\n' >hints
expect pattern 0 'through owners' explain --ranks 4 --view blocks:4x1000 old
once view 'from byte 0 on, 4000 bytes of every .*, in 1000 pieces'
once owner 'rank 0 has bytes 0 to 16000, in 1 window'
once buffers 'windows of at most 512 KiB'
expect small_buffers 0 'windows of at most 128 KiB' env BRIO_CB_BUFFER_SIZE=256k \
    "$brio" explain --mpi "$mpi" --ranks 4 --view blocks:4kx10000 old
[ "$(cat old)" = precious ] || wrong old_file_stays "$(cat old)"
expect reading 0 'collective read' explain --ranks 2 --read --view blocks:4x1000 old
expect large_pieces 0 'each rank accesses its own bytes' explain --ranks 2 --view contiguous:1m old
expect long_read 0 'each rank accesses its own bytes' explain --ranks 2 --read --view contiguous:1g old
expect long_write 0 'each rank accesses its own bytes' \
    explain --ranks 2 --view contiguous:1g old
expect romio_disable 0 'own bytes: cb_write says so' env ROMIO_HINTS="$PWD/hints" \
    "$brio" explain --mpi "$mpi" --view blocks:4x1000 old
expect romio_enable 0 'through owners' env BRIO_ROMIO_CB_WRITE=enable \
    "$brio" explain --mpi "$mpi" --view contiguous:8m old
expect config_list 0 'rank 2 has bytes' env 'BRIO_CB_CONFIG_LIST=*:1' \
    "$brio" explain --mpi "$mpi" --nodes 2 --view blocks:4x1000 old
expect config_list_by_host 0 'rank 3 has bytes' env 'BRIO_CB_CONFIG_LIST=node1:2, *:0' \
    "$brio" explain --mpi "$mpi" --nodes 2 --view blocks:4kx1000 old
once config_list_has_two 'rank 2 has bytes'
never_said config_list_not_here 'rank [01] has bytes'
expect config_list_of_groups 0 'rank 1 has bytes' env 'BRIO_CB_CONFIG_LIST=node0:2' \
    BRIO_FCOLL=static "$brio" explain --mpi "$mpi" --nodes 2 --view blocks:4kx1000 old
never_said config_list_of_groups_there 'rank [23] has bytes'
expect tiles 0 'through owners' explain --ranks 4 --view tiles:100x100x8 old
expect huge 0 'owners' explain --ranks 2 --view blocks:4kx1000000 huge
expect nodes 0 '4 ranks on 2 nodes' explain --nodes 2 old
once no_shared_memory 'sm +no +the 4 ranks do not all share memory'
expect forced 0 'fcoll=individual is asked for \(environment\)' \
    env BRIO_FCOLL=individual "$brio" explain --mpi "$mpi" old
once forced_is_chosen '\* individual'
echo 'cb_nodes = 2' >conf
expect settings 0 "cb_nodes = 2 \(.*/conf:1\)" \
    env BRIO_CONFIG="$PWD/conf" "$brio" explain --mpi "$mpi" --view blocks:4x1000000 old
[ "$(grep -c 'rank . has bytes' said)" = 2 ] || wrong settings_are_used "not two owners"

expect no_such_file_to_read 1 'the open: ' explain --read nowhere
expect no_directory 1 'the open: .*no directory' explain nowhere/at/all
expect bad_view 2 'not a view' explain --view circles:7 old
expect bad_view_size 2 'not a view' explain --view blocks:0x4 old
expect no_file 2 'no file' explain --ranks 2
expect bad_ranks 2 "cannot use .--ranks" explain --ranks many old

# Caches: what they would do, and for which files.
expect auto_and_read 0 'auto +6 +left alone: only a file that is opened write-only' \
    env BRIO_CACHE=auto "$brio" explain --mpi "$mpi" old
expect auto_and_write 0 'auto +6 +writes behind once 64 small writes took over 20 us' \
    env BRIO_CACHE=auto "$brio" explain --mpi "$mpi" --write-only old
once auto_has_seen_nothing 'cache +writes are not kept back: fewer than 64 writes so far'
expect behind 0 'cache +writes are kept back in pages of .*: asked for' \
    env BRIO_CACHE=writebehind "$brio" explain --mpi "$mpi" --write-only old
expect behind_refused 1 'only a file that is opened write-only can be written behind' \
    env BRIO_CACHE=writebehind "$brio" explain --mpi "$mpi" old
expect coherent 0 'cache +pages of 65536 bytes are cached, up to 33554432 bytes by each rank' \
    env BRIO_CACHE=coherent "$brio" explain --mpi "$mpi" old
[ "$(cat old)" = precious ] || wrong caches_write_nothing "$(cat old)"

# A program as it runs: each file and view once, by rank 0.
cat >prog.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    int rank, value[100] = {0};
    MPI_File fh;
    MPI_Datatype type;
    MPI_Info info;
    char owners[64] = "";
    int there = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(100, 1, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int k = 0; k < 3; k++) {
        MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh);
        for (int j = 0; j < 3; j++) {
            MPI_File_set_view(fh, 4 * rank, MPI_INT, type, "native", MPI_INFO_NULL);
            MPI_File_write_all(fh, value, 100, MPI_INT, MPI_STATUS_IGNORE);
            MPI_File_write_all(fh, value, 100, MPI_INT, MPI_STATUS_IGNORE);
        }
        MPI_File_get_info(fh, &info);
        MPI_Info_get(info, "brio_aggregators", 63, owners, &there);
        MPI_Info_free(&info);
        MPI_File_close(&fh);
    }
    if (rank == 1)
        printf("aggregators are [%s]\n", owners);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
END
mpicc -o prog prog.c || exit 1
running() { BRIO_EXPLAIN=1 "$brio" run -n 3 ./prog; }
expect running_program 0 'the file is new' running
once view_once 'view of rank 0'
once access_once 'owners \(aggregators\): a new plan'
once later_ones_once 'owners \(aggregators\): the plan of an access before it'
once get_info_tells_them 'aggregators are \[0\]'
cat >small.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, reads;
    char byte = 0;
    MPI_File fh;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    reads = argc > 1;
    MPI_File_open(MPI_COMM_WORLD, "pieces", MPI_MODE_CREATE | (reads ? MPI_MODE_RDWR : MPI_MODE_WRONLY),
                  MPI_INFO_NULL, &fh);
    for (int i = 0; i < 100; i++) {
        MPI_File_write_at(fh, 2 * i + rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
        if (reads)
            MPI_File_read_at(fh, 2 * i + rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&fh);
    MPI_Finalize();
    return 0;
}
END
mpicc -o small small.c || exit 1
expect auto_at_close 0 'pieces: closed' env BRIO_CACHE=auto BRIO_EXPLAIN=1 "$brio" run -n 2 ./small
once auto_says_why 'kept back.*: (64 writes of 1 bytes took|another rank found)'
expect coherent_at_close 0 'found [0-9.]+ % of 200 pieces in the cache' \
    env BRIO_CACHE=coherent BRIO_EXPLAIN=1 "$brio" run -n 2 ./small reads
expect silent_without 0 'aggregators are' "$brio" run -n 3 ./prog
never_said says_nothing_else 'brio:'
finish
