#!/bin/bash
# PnetCDF and its utilities: what Brio writes is byte for byte what the MPI's own I/O writes.
. "${0%/*}/lib.sh"
only_openmpi PnetCDF
need_pc pnetcdf libpnetcdf-dev

cc "$clients/pnetcdf.c" -o pnetcdf $(pkg-config --cflags --libs pnetcdf)

for format in 1 2 5; do
    with_brio "$ranks" ./pnetcdf write brio.nc $format
    with_brio "$ranks" ./pnetcdf read brio.nc
    natively "$ranks" ./pnetcdf read brio.nc
    natively "$ranks" ./pnetcdf write native.nc $format
    with_brio 2 ./pnetcdf read native.nc
    cmp brio.nc native.nc || fail "format $format: Brio's file differs from the native one"
done

if command -v ncmpidump ncmpidiff >/dev/null; then
    with_brio 1 ncmpidump brio.nc >brio.txt
    natively 1 ncmpidump brio.nc >native.txt
    cmp brio.txt native.txt || fail "ncmpidump reads something else with Brio"
    [ "$(wc -l <brio.txt)" -gt 400 ] || fail "ncmpidump printed too little"
    with_brio 2 ncmpidiff brio.nc native.nc
    # One value changed in the copy: ncmpidiff must see it through Brio too.
    cp brio.nc changed.nc
    printf '\377' | dd of=changed.nc bs=1 seek=$(($(stat -c %s brio.nc) - 9)) conv=notrunc status=none
    BRIO_RUN_MARK=$mark launch "$BRIO_LIB" 2 ncmpidiff brio.nc changed.nc >diff.txt 2>&1 || true
    grep -q DIFF diff.txt || fail "ncmpidiff does not see a difference with Brio: $(cat diff.txt)"
    was_here ncmpidiff
fi
