#!/bin/bash
# Every name that a program, a Fortran binding or a tool may call is exported by the library:
# the 62 functions of the I/O chapter and the 30 large-count forms under both prefixes, and
# whatever file function the MPI itself exports. Else only names that begin with brio_ are.
set -u
export LC_ALL=C
plain="open close delete set_size preallocate get_size get_group get_amode set_info get_info
    set_view get_view seek get_position get_byte_offset seek_shared get_position_shared
    read_at_all_end write_at_all_end read_all_end write_all_end read_ordered_end
    write_ordered_end set_atomicity get_atomicity sync create_errhandler set_errhandler
    get_errhandler call_errhandler c2f f2c"
large="read_at write_at read_at_all write_at_all iread_at iwrite_at iread_at_all iwrite_at_all
    read write read_all write_all iread iwrite iread_all iwrite_all read_shared write_shared
    iread_shared iwrite_shared read_ordered write_ordered read_at_all_begin write_at_all_begin
    read_all_begin write_all_begin read_ordered_begin write_ordered_begin get_type_extent"
hooks="Wait Waitall Waitany Waitsome Test Testall Testany Testsome Request_get_status Init
    Init_thread Query_thread Error_string Errhandler_free"
fortran="mpi_register_datarep mpi_register_datarep_ mpi_register_datarep__ MPI_REGISTER_DATAREP
    pmpi_register_datarep pmpi_register_datarep_ pmpi_register_datarep__ PMPI_REGISTER_DATAREP"
case $BRIO_MPI in
openmpi) fortran="$fortran mpi_file_create_errhandler mpi_file_create_errhandler_
    mpi_file_create_errhandler__ MPI_FILE_CREATE_ERRHANDLER pmpi_file_create_errhandler
    pmpi_file_create_errhandler_ pmpi_file_create_errhandler__ PMPI_FILE_CREATE_ERRHANDLER
    ompi_file_create_errhandler_f ompi_register_datarep_f MPI_Register_datarep_f
    MPI_Register_datarep_f08 PMPI_Register_datarep_f PMPI_Register_datarep_f08" ;;
mpich) fortran="$fortran mpi_register_datarep_f08_ pmpir_register_datarep_f08_" ;;
esac

names() { nm -D --defined-only "$1" | awk '{print $3}' | sort -u; }

{
    for n in $plain $large; do echo "File_$n"; done
    for n in $large; do echo "File_${n}_c"; done
    echo Register_datarep
    echo Register_datarep_c
} | sed 's/.*/MPI_&\nPMPI_&/' | sort >chapter
names "$BRIO_LIB" >have
bad=0
check() { # CASE LIST: nothing in the list
    if [ -s "$2" ]; then
        echo "FAIL $1:" $(cat "$2")
        bad=1
    else
        echo "ok $1"
    fi
}

[ "$(wc -l <chapter)" = 184 ] || { echo "FAIL the list has $(wc -l <chapter) names"; bad=1; }
comm -23 chapter have >missing
check chapter missing

for n in $hooks; do printf 'MPI_%s\nPMPI_%s\n' $n $n; done | sort >hooks
printf '%s\n' $fortran >>hooks
sort -o hooks hooks
comm -23 hooks have >missing
check hooks missing

library=$(ldd "$BRIO_LIB" | awk '/libmpi(ch)?\.so/ {print $3; exit}')
names "$library" | grep -E '^P?MPI_(File_|Register_datarep)' >theirs
comm -23 theirs have >missing
[ "$(wc -l <theirs)" -ge 124 ] || echo "only $(wc -l <theirs) names in $library" >>missing
check all_of_the_mpi missing

sort chapter hooks | comm -13 - have | grep -v '^brio_' >more
check nothing_else more
exit $bad
