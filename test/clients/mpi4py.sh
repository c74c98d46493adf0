#!/bin/bash
# mpi4py, with Brio preloaded, and loaded by Python itself before MPI.
. "${0%/*}/lib.sh"
only_openmpi mpi4py
python=/usr/bin/python3 # Debian's, not one that comes first on PATH
"$python" -c 'import mpi4py' 2>/dev/null || skip "mpi4py is not installed (python3-mpi4py)"
"$python" -c 'from mpi4py import MPI' 2>/dev/null || skip "mpi4py does not start here"

with_brio "$ranks" "$python" "$clients/mpi4py_client.py"
with_brio 1 "$python" "$clients/mpi4py_client.py"

# No preload: the first thing that Python loads is Brio.
cat >late.py <<END
import ctypes, runpy, sys
ctypes.CDLL("$BRIO_LIB", ctypes.RTLD_GLOBAL)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
END
BRIO_RUN_MARK=$mark launch "" "$ranks" "$python" late.py "$clients/mpi4py_client.py" \
    explicit_offsets views shared_pointer hints exceptions
was_here "loaded by Python"
