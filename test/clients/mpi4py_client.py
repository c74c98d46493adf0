"""mpi4py's files as its users write them: every family of calls, views, hints, exceptions.

Needs nothing but mpi4py and the standard library. Run by mpi4py.sh, with and without Brio.
"""

import array
import os
import sys
import traceback

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
expect_brio = "BRIO_RUN_MARK" in os.environ
RDWR = MPI.MODE_RDWR | MPI.MODE_CREATE


def ints(values):
    return array.array("i", values)


def path(name):
    return os.path.join(os.getcwd(), name)


def equal(got, want, what):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, not {want!r}")


def raises(error_class, what, call, *args, **keys):
    try:
        call(*args, **keys)
    except MPI.Exception as error:
        equal(error.Get_error_class(), error_class, f"error class of {what}")
        if not error.Get_error_string():
            raise AssertionError(f"{what}: no error text") from error
    else:
        raise AssertionError(f"{what}: no exception")


def explicit_offsets(name):
    with_file = MPI.File.Open(world, name, RDWR)
    with_file.Set_size(0)
    data = ints(range(rank * 100, rank * 100 + 100))
    status = MPI.Status()
    with_file.Write_at_all(rank * 400, data, status)
    equal(status.Get_count(MPI.INT), 100, "count written")
    with_file.Sync()
    world.Barrier()
    with_file.Sync()
    other = (rank + 1) % size
    got = ints([-1] * 100)
    with_file.Read_at(other * 400, [got, MPI.INT], status)
    equal(got, ints(range(other * 100, other * 100 + 100)), "read_at")
    with_file.Read_at_all(other * 400, got)
    equal(with_file.Get_size(), size * 400, "size")
    # At the end of the file half a request is served, beyond it nothing.
    with_file.Read_at(size * 400 - 200, got, status)
    equal(status.Get_count(MPI.INT), 50, "count at the end of the file")
    with_file.Read_at(size * 400 + 4, got, status)
    equal(status.Get_count(MPI.INT), 0, "count beyond the end of the file")
    with_file.Close()
    equal(bool(with_file), False, "a closed file")


def individual_pointers(name):
    fh = MPI.File.Open(world, name, RDWR)
    fh.Seek(rank * 40)
    fh.Write(ints([rank] * 10))
    equal(fh.Get_position(), rank * 40 + 40, "position")
    fh.Seek(-40, MPI.SEEK_CUR)
    got = ints([-1] * 10)
    fh.Read(got)
    equal(got, ints([rank] * 10), "read")
    fh.Sync()
    world.Barrier()
    fh.Seek(0, MPI.SEEK_END)
    equal(fh.Get_position(), size * 40, "the end")
    fh.Close()


def views(name):
    """Every rank has every size-th block of five; the file is dense together."""
    fh = MPI.File.Open(world, name, RDWR)
    block = 5
    filetype = MPI.INT.Create_vector(7, block, block * size).Commit()
    fh.Set_view(rank * block * 4, MPI.INT, filetype)
    equal(fh.Get_byte_offset(block), rank * block * 4 + block * size * 4, "byte offset")
    mine = [((i // block) * size + rank) * block + i % block for i in range(7 * block)]
    fh.Write_all(ints(mine))
    fh.Seek(0)
    got = ints([-1] * len(mine))
    fh.Read_all(got)
    equal(got, ints(mine), "read through the view")
    displacement, etype, ftype, datarep = fh.Get_view()
    equal((displacement, datarep), (rank * block * 4, "native"), "the view")
    equal(etype, MPI.INT, "etype")
    equal(ftype.Get_size(), filetype.Get_size(), "size of the filetype")
    ftype.Free()
    fh.Set_view(0, MPI.INT, MPI.INT)
    whole = ints([-1] * (7 * block * size))
    fh.Read_at_all(0, whole)
    equal(whole, ints(range(len(whole))), "the whole file")
    filetype.Free()
    fh.Close()


def nonblocking(name):
    fh = MPI.File.Open(world, name, RDWR)
    parts = [ints(range(1000 * i + rank, 1000 * i + rank + 64)) for i in range(8)]
    requests = [fh.Iwrite_at((i * size + rank) * 256, p) for i, p in enumerate(parts)]
    statuses = [MPI.Status() for _ in requests]
    MPI.Request.Waitall(requests, statuses)
    for status in statuses:
        equal(status.Get_count(MPI.INT), 64, "count of an iwrite")
    backs = [ints([0] * 64) for _ in parts]
    requests = [fh.Iread_at((i * size + rank) * 256, b) for i, b in enumerate(backs)]
    left = len(requests)
    while left:
        index = MPI.Request.Waitany(requests)
        equal(backs[index], parts[index], f"iread {index}")
        left -= 1
    world.Barrier()
    fh.Seek(rank * 256)
    back = ints([0] * 64)
    request = fh.Iread(back)
    while not request.Test():
        pass
    equal(back, parts[0], "iread")
    # Collective and nonblocking, with computing in between.
    request = fh.Iwrite_at_all((8 * size + rank) * 256, parts[3])
    world.allreduce(rank)
    request.Wait()
    request = fh.Iread_at_all((8 * size + rank) * 256, back)
    request.Wait()
    equal(back, parts[3], "iread_at_all")
    fh.Close()


def split_collectives(name):
    fh = MPI.File.Open(world, name, RDWR)
    data, got = ints([rank * 3] * 50), ints([0] * 50)
    status = MPI.Status()
    fh.Write_at_all_begin(rank * 200, data)
    fh.Write_at_all_end(data, status)
    equal(status.Get_count(MPI.INT), 50, "count of a split write")
    fh.Seek(rank * 200)
    fh.Read_all_begin(got)
    fh.Read_all_end(got)
    equal(got, data, "split read")
    fh.Write_ordered_begin(data)
    fh.Write_ordered_end(data)
    fh.Close()


def shared_pointer(name):
    fh = MPI.File.Open(world, name, RDWR)
    record = ints([rank + 1] * 16)
    for _ in range(10):
        fh.Write_shared(record)
    world.Barrier()
    equal(fh.Get_position_shared(), size * 640, "shared position")
    fh.Sync()
    world.Barrier()
    fh.Seek_shared(0)
    seen = ints([0] * 16)
    mine = [0] * size
    for _ in range(10):
        fh.Read_shared(seen)
        equal(seen, ints([seen[0]] * 16), "an undivided record")
        mine[seen[0] - 1] += 1
    total = [sum(c) for c in zip(*world.allgather(mine))]
    equal(total, [10] * size, "records of each rank")
    fh.Seek_shared(0)
    fh.Write_ordered(ints([100 + rank] * (rank + 1)))
    fh.Seek_shared(0)
    got = ints([0] * (rank + 1))
    fh.Read_ordered(got)
    equal(got, ints([100 + rank] * (rank + 1)), "read in order")
    fh.Close()


def hints(name):
    info = MPI.Info.Create()
    info.Set("cb_nodes", "1")
    fh = MPI.File.Open(world, name, RDWR, info)
    info.Free()
    got = fh.Get_info()
    version = got.Get("brio_version")
    equal(version is not None, expect_brio, f"Brio serves the file (brio_version {version})")
    if expect_brio:
        equal(got.Get_nkeys() > 3, True, "the number of hints shown")
    got.Free()
    equal(fh.Get_amode(), RDWR, "amode")
    group = fh.Get_group()
    equal(group.Get_size(), size, "size of the group")
    group.Free()
    equal(fh.Get_atomicity(), False, "atomicity")
    fh.Set_atomicity(True)
    equal(fh.Get_atomicity(), True, "atomicity")
    fh.Preallocate(4096)
    equal(fh.Get_size(), 4096, "size after preallocate")
    fh.Close()


def exceptions(name):
    missing = path("missing/file")
    raises(MPI.ERR_NO_SUCH_FILE, "open", MPI.File.Open, world, missing, MPI.MODE_RDONLY)
    raises(MPI.ERR_AMODE, "no access mode", MPI.File.Open, world, name, MPI.MODE_CREATE)
    if rank == 0:
        raises(MPI.ERR_NO_SUCH_FILE, "delete", MPI.File.Delete, missing)
    fh = MPI.File.Open(world, name, RDWR)
    if expect_brio:  # Open MPI's own I/O lets it pass
        raises(MPI.ERR_ARG, "negative offset", fh.Write_at, -8, ints([1]))
    raises(MPI.ERR_UNSUPPORTED_DATAREP, "set_view", fh.Set_view, 0, MPI.INT, MPI.INT, "klingon")
    fh.Write_at_all(rank * 4, ints([rank]))
    fh.Close()
    fh = MPI.File.Open(world, name, MPI.MODE_RDONLY)
    raises(MPI.ERR_READ_ONLY, "write", fh.Write_at, 0, ints([1]))
    fh.Close()
    raises(MPI.ERR_FILE, "a closed file", fh.Get_size)
    got = open(name, "rb").read()
    equal(got, ints(range(size)).tobytes(), "the file after all errors")


def delete_on_close(name):
    fh = MPI.File.Open(world, name, RDWR | MPI.MODE_DELETE_ON_CLOSE)
    fh.Write_at_all(rank, b"x")
    equal(os.path.exists(name), True, "the file exists while open")
    world.Barrier()
    fh.Close()
    world.Barrier()
    equal(os.path.exists(name), False, "the file is gone after close")


def bytes_and_self(name):
    """Each rank its own file; buffers that are bytes, bytearray, memoryview."""
    fh = MPI.File.Open(MPI.COMM_SELF, f"{name}.{rank}", RDWR)
    fh.Write(b"hello ")
    fh.Write(bytearray(b"from "))
    fh.Write(memoryview(f"rank {rank}".encode()))
    back = bytearray(32)
    status = MPI.Status()
    fh.Read_at(0, back, status)
    equal(bytes(back[: status.Get_count()]), f"hello from rank {rank}".encode(), "text")
    fh.Close()
    MPI.File.Delete(f"{name}.{rank}")


def external32(name):
    fh = MPI.File.Open(world, name, RDWR)
    fh.Set_view(0, MPI.DOUBLE, MPI.DOUBLE, "external32")
    fh.Write_at_all(rank, array.array("d", [rank + 0.5]))
    fh.Close()
    world.Barrier()
    want = array.array("d", [i + 0.5 for i in range(size)])
    if sys.byteorder == "little":
        want.byteswap()
    equal(open(name, "rb").read(), want.tobytes(), "external32 in the file")


CASES = [explicit_offsets, individual_pointers, views, nonblocking, split_collectives,
         shared_pointer, hints, exceptions, delete_on_close, bytes_and_self, external32]


def main():
    bad = 0
    for case in CASES:
        if len(sys.argv) > 1 and case.__name__ not in sys.argv[1:]:
            continue
        name = path(case.__name__ + ".dat")
        if rank == 0 and os.path.exists(name):
            os.unlink(name)
        world.Barrier()
        try:
            case(name)
            failed = False
        except Exception:  # a rank that fails must not leave the others in a collective
            traceback.print_exc()
            sys.stderr.flush()
            if size > 1:
                world.Abort(1)
            failed = True
        bad += failed
        if rank == 0:
            print("FAIL" if failed else "ok", case.__name__, flush=True)
        world.Barrier()
    return 1 if bad else 0


sys.exit(main())
