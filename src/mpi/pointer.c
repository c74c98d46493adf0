/* File pointers and offsets. */
#include "mpi/entry.h"

#pragma GCC visibility push(default)

int MPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
    struct brio_file *f = brio_from_handle(fh);
    return brio_leave(fh, f ? brio_file_seek(f, offset, whence) : BRIO_EFILE);
}
BRIO_TWIN(File_seek);

int MPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
    brio_off out;
    struct brio_file *f = brio_from_handle(fh);
    enum brio_err err = !f       ? BRIO_EFILE
                        : offset ? brio_file_get_position(f, &out)
                                 : brio_no_room("offset");
    if (err == BRIO_OK)
        *offset = out;
    return brio_leave(fh, err);
}
BRIO_TWIN(File_get_position);

int MPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
    brio_off out;
    struct brio_file *f = brio_from_handle(fh);
    enum brio_err err = !f     ? BRIO_EFILE
                        : disp ? brio_file_get_byte_offset(f, offset, &out)
                               : brio_no_room("disp");
    if (err == BRIO_OK)
        *disp = out;
    return brio_leave(fh, err);
}
BRIO_TWIN(File_get_byte_offset);

int MPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    struct brio_file *f = brio_from_handle(fh);
    return brio_leave(fh, f ? brio_file_seek_shared(f, offset, whence) : BRIO_EFILE);
}
BRIO_TWIN(File_seek_shared);

int MPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    brio_off out;
    struct brio_file *f = brio_from_handle(fh);
    enum brio_err err = !f       ? BRIO_EFILE
                        : offset ? brio_file_get_position_shared(f, &out)
                                 : brio_no_room("offset");
    if (err == BRIO_OK)
        *offset = out;
    return brio_leave(fh, err);
}
BRIO_TWIN(File_get_position_shared);

#pragma GCC visibility pop
