/* Opening, closing and what concerns a file as a whole. */
#include "mpi/entry.h"
#include "mpi/errhandler.h"
#include "mpi/errors.h"

#include <stdlib.h>

#include "base/mem.h"

static enum brio_err open_file(MPI_Comm comm, const char *path, int amode, MPI_Info info,
                               MPI_File *fh)
{
    struct brio_file *f;
    enum brio_err err = brio_process_init();
    if (err == BRIO_OK)
        err = brio_file_open(comm, path, amode, info, &f);
    if (err == BRIO_OK) {
        brio_handler_inherit(f);
        *fh = brio_to_handle(f);
    }
    return err;
}

/* The file is gone when its close is found to have failed, so what the failure is told to is
 * taken before. */
static int close_file(struct brio_file *f, MPI_File fh)
{
    int code = MPI_SUCCESS;
    char *path = NULL;
    struct brio_handler *handler = brio_handler_detach(f);
    bool named = brio_strdup(brio_file_path(f), &path) == BRIO_OK;
    enum brio_err err = brio_file_close(f);
    if (err != BRIO_OK) {
        brio_error_where(MPI_COMM_WORLD, named ? path : NULL);
        code = brio_error_code(err);
        brio_handler_call(handler, fh, code);
    }
    brio_handler_drop(handler);
    free(path);
    return code;
}

#pragma GCC visibility push(default)

int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    MPI_File file = MPI_FILE_NULL;
    if (!brio_process_ready()) {
        if (fh)
            *fh = MPI_FILE_NULL;
        return MPI_ERR_OTHER;
    }
    /* Without a place for the handle the other ranks must still be told: no name does it. */
    const char *path = fh ? filename : NULL;
    enum brio_err err = open_file(comm, path, amode, info, &file);
    if (fh)
        *fh = file;
    return brio_leave_path(err == BRIO_ECOMM ? MPI_COMM_WORLD : comm, path, err);
}
BRIO_TWIN(File_open);

int MPI_File_close(MPI_File *fh)
{
    if (!fh)
        return brio_leave(MPI_FILE_NULL, brio_no_room("fh"));
    MPI_File file = *fh;
    struct brio_file *f = brio_from_handle(file);
    if (!f)
        return brio_leave(file, BRIO_EFILE);
    *fh = MPI_FILE_NULL;
    return close_file(f, file);
}
BRIO_TWIN(File_close);

int MPI_File_delete(const char *filename, MPI_Info info)
{
    if (!brio_process_ready())
        return MPI_ERR_OTHER;
    enum brio_err err = filename ? brio_process_init() : brio_no_room("filename");
    if (err == BRIO_OK)
        err = brio_file_delete(filename, info);
    return brio_leave_path(MPI_COMM_WORLD, filename, err);
}
BRIO_TWIN(File_delete);

int MPI_File_set_size(MPI_File fh, MPI_Offset size)
{
    struct brio_file *f = brio_from_handle(fh);
    return brio_leave(fh, f ? brio_file_set_size(f, size) : BRIO_EFILE);
}
BRIO_TWIN(File_set_size);

int MPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
    struct brio_file *f = brio_from_handle(fh);
    return brio_leave(fh, f ? brio_file_preallocate(f, size) : BRIO_EFILE);
}
BRIO_TWIN(File_preallocate);

int MPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
    brio_off out;
    struct brio_file *f = brio_from_handle(fh);
    enum brio_err err = !f     ? BRIO_EFILE
                        : size ? brio_file_get_size(f, &out)
                               : brio_no_room("size");
    if (err == BRIO_OK)
        *size = out;
    return brio_leave(fh, err);
}
BRIO_TWIN(File_get_size);

int MPI_File_get_group(MPI_File fh, MPI_Group *group)
{
    struct brio_file *f = brio_from_handle(fh);
    return brio_leave(fh, !f      ? BRIO_EFILE
                          : group ? brio_file_get_group(f, group)
                                  : brio_no_room("group"));
}
BRIO_TWIN(File_get_group);

int MPI_File_get_amode(MPI_File fh, int *amode)
{
    struct brio_file *f = brio_from_handle(fh);
    if (f && amode)
        *amode = brio_file_amode(f);
    return brio_leave(fh, !f ? BRIO_EFILE : amode ? BRIO_OK : brio_no_room("amode"));
}
BRIO_TWIN(File_get_amode);

int MPI_File_set_info(MPI_File fh, MPI_Info info)
{
    struct brio_file *f = brio_from_handle(fh);
    return brio_leave(fh, f ? brio_file_set_info(f, info) : BRIO_EFILE);
}
BRIO_TWIN(File_set_info);

int MPI_File_get_info(MPI_File fh, MPI_Info *info)
{
    struct brio_file *f = brio_from_handle(fh);
    return brio_leave(fh, !f     ? BRIO_EFILE
                          : info ? brio_file_get_info(f, info)
                                 : brio_no_room("info"));
}
BRIO_TWIN(File_get_info);

int MPI_File_set_atomicity(MPI_File fh, int flag)
{
    struct brio_file *f = brio_from_handle(fh);
    return brio_leave(fh, f ? brio_file_set_atomicity(f, flag != 0) : BRIO_EFILE);
}
BRIO_TWIN(File_set_atomicity);

int MPI_File_get_atomicity(MPI_File fh, int *flag)
{
    struct brio_file *f = brio_from_handle(fh);
    if (f && flag)
        *flag = brio_file_atomicity(f);
    return brio_leave(fh, !f ? BRIO_EFILE : flag ? BRIO_OK : brio_no_room("flag"));
}
BRIO_TWIN(File_get_atomicity);

int MPI_File_sync(MPI_File fh)
{
    struct brio_file *f = brio_from_handle(fh);
    return brio_leave(fh, f ? brio_file_sync(f) : BRIO_EFILE);
}
BRIO_TWIN(File_sync);

#pragma GCC visibility pop
