#!/bin/bash
# Where settings come from, which of them win, and what is said of those that are of no use: once
# in a job, with the place, and never as a failure.
. "$BRIO_SOURCE/test/tools/lib.sh"
ranks=$1
mpicc -o prog "$BRIO_SOURCE/test/mpi/settings_prog.c" || exit 1
unset ROMIO_HINTS XDG_CONFIG_HOME
export HOME=$PWD

open() { # [NAME=VALUE of the environment]... -- ARGUMENTS
    local env=()
    while [ "$1" != -- ]; do env+=("$1"); shift; done
    shift
    env "${env[@]}" BRIO_PRELOAD=1 "$BRIO_RUN" "$mpi" "$ranks" "$PWD/prog" "$PWD/data" "$@"
}
once() { # NAME PATTERN: said once by all ranks and both opens
    local n
    n=$(grep -Ec -e "$2" said)
    if [ "$n" = 1 ]; then echo "ok $1"; else wrong "$1" "said $n times: $2"; fi
}

cat >site.conf <<'END'
# the site
cb_nodes = 1
cb_buffer_size = 1m
cb_block_size = 64k
ind_rd_buffer_size = 2m
END
cat >profile <<'END'
cb_block_size = 128k
ind_rd_buffer_size = 3m
[program=prog file=data]
cb_buffer_size = 2m
END
printf 'ind_rd_buffer_size 4194304\n' >romio
site="BRIO_CONFIG=$PWD/site.conf" profile="BRIO_PROFILE=$PWD/profile"

expect site 0 'rank 2: cb_buffer_size=1048576' open "$site" -- '?cb_buffer_size'
never_said site_quietly 'brio:'
expect profile_wins 0 'rank 2: cb_buffer_size=2097152' \
    open "$site" "$profile" -- '?cb_buffer_size' '?cb_block_size' '?cb_nodes'
once and_its_part_without_a_head 'rank 0: cb_block_size=131072'
once site_stays_below 'rank 0: cb_nodes=1'
expect romio_wins 0 'rank 1: ind_rd_buffer_size=4194304' \
    open "$site" "$profile" ROMIO_HINTS=$PWD/romio -- '?ind_rd_buffer_size'
expect environment_wins 0 'rank 1: ind_rd_buffer_size=5242880' open "$site" "$profile" \
    ROMIO_HINTS=$PWD/romio BRIO_IND_RD_BUFFER_SIZE=5m -- '?ind_rd_buffer_size'
expect info_wins 0 'rank 1: ind_rd_buffer_size=6291456' open "$site" "$profile" \
    BRIO_IND_RD_BUFFER_SIZE=5m -- ind_rd_buffer_size=6291456 '?ind_rd_buffer_size'
mkdir -p .config/brio xdg/brio
echo 'cb_nodes = 2' >.config/brio/profile
echo 'cb_nodes = 3' >xdg/brio/profile
chosen() { env -u BRIO_PROFILE -u BRIO_CONFIG "$@" "$BRIO_BUILD/brio" info --settings --mpi "$mpi"; }
expect users_profile 0 "cb_nodes +2 .*$PWD/.config/brio/profile:1" chosen
expect users_profile_by_xdg 0 "cb_nodes +3 .*/xdg/brio/profile:1" chosen XDG_CONFIG_HOME=$PWD/xdg

cat >bad.conf <<'END'
cb_nodes = 2
cb_bufer_size = 8m
cb_block_size = plenty
= 7
[colour=red]
cb_nodes = 1
[file=data]
sharedfp = semaphore
stripe_size = 64k
striping_unit = 128k
END
expect bad_file_does_no_harm 0 'rank 2: cb_nodes=2' \
    open "BRIO_CONFIG=$PWD/bad.conf" -- '?cb_nodes' '?cb_block_size' '?striping_unit'
once unknown 'cb_bufer_size \(from .*/bad.conf:2\) is not a setting.* did you mean cb_buffer_size\?'
once malformed 'cb_block_size \(from .*/bad.conf:3\): "plenty" is not used'
once bad_line 'bad.conf:4: '
once bad_head 'bad.conf:5: '
once bad_module 'sharedfp \(from .*/bad.conf:8\): "semaphore" is not used: there is no such'
once contradiction 'stripe_size=64k is not used: striping_unit \(from .*/bad.conf:10\)'
once later_one_is_used 'rank 0: striping_unit=131072'
expect malformed_is_passed_over 0 'rank 0: cb_block_size=65536' open "$site" \
    BRIO_CB_BLOCK_SIZE=much -- '?cb_block_size'
once malformed_variable 'cb_block_size \(from environment\): "much" is not used'
expect unknown_variable 0 'did you mean' open BRIO_CB_NODE=2 --
once unknown_variable_is_named 'cb_node \(from environment\).* did you mean cb_nodes\?'
expect malformed_info 0 'rank 0: cb_nodes=0' open -- cb_nodes=-3 romio_cb_pfr=enable frob=1 '?cb_nodes'
once malformed_info_is_named 'cb_nodes \(from info\): "-3" is not used; it takes a number'
once unknown_info_is_named 'frob \(from info\) is not a setting of Brio'
never_said not_those_of_others 'romio_cb_pfr'
expect missing_file 0 'nowhere.conf is not used: No such file' open BRIO_CONFIG=nowhere.conf --
expect unknown_module 0 'rank 0: brio_fcoll=[a-z]' open BRIO_FCOLL=nonsense -- '?brio_fcoll'
once unknown_module_is_named 'fcoll \(from environment\): "nonsense" is not used: there is no such'
expect order_is_an_order 1 'cache=writebehind \(from environment\): that module cannot serve' \
    open BRIO_CACHE=writebehind --
expect order_for_one_file 1 'sharedfp=individual \(from info\): that module cannot serve' \
    open -- sharedfp=individual
expect order_for_all_files 0 'rank 0: brio_sharedfp=\?' \
    open BRIO_SHAREDFP=individual -- '?brio_sharedfp'
expect order_of_an_unused_pointer_is_an_order 1 \
    'shared write failed.*sharedfp=individual \(from environment\): that module cannot serve' \
    open BRIO_SHAREDFP=individual -- +shared

expect config_list 0 'rank 0: cb_config_list=\*:2' open -- 'cb_config_list=*:2' '?cb_config_list'
never_said config_list_quietly 'brio:'
expect config_list_malformed 0 'cb_config_list: "node7:" is not used' open -- cb_config_list=node7:
expect config_list_of_strangers 0 'no rank runs on "node7"' open -- 'cb_config_list=node7:2,*:1'
expect config_list_of_nobody 0 'leaves no rank' open -- cb_config_list=node7:2
expect contradiction_of_modules 0 'collective_buffering=no is not used: fcoll=two_phase' \
    open BRIO_FCOLL=two_phase -- collective_buffering=no
expect romio_names 0 'rank 1: cb_write=disable' open -- romio_cb_write=disable \
    romio_ds_read=enable OMPIO_SHAREDFP_RELAXED_ORDERING=true '?cb_write' '?ds_read'
once romio_ds_read 'rank 0: ds_read=enable'
never_said romio_names_quietly 'brio:'

# The environment of one rank is not that of the others.
cat >each <<'END'
#!/bin/bash
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
[ "$rank" = 1 ] && export BRIO_CB_NODES=2
[ "$rank" = 1 ] && export BRIO_IND_RD_BUFFER_SIZE=8m
exec "$(dirname "$0")/prog" "$@"
END
chmod +x each
differ() { BRIO_CB_NODES=1 BRIO_PRELOAD=1 "$BRIO_RUN" "$mpi" "$ranks" "$PWD/each" "$PWD/data" "$@"; }
expect environments_differ 0 'rank 1: cb_nodes=1' differ '?cb_nodes' '?ind_rd_buffer_size'
once and_that_is_said 'cb_nodes=2 in the environment of rank 1 is not used'
once what_may_differ_does 'rank 1: ind_rd_buffer_size=8388608'
once only_there 'rank 0: ind_rd_buffer_size=1048576'
finish
