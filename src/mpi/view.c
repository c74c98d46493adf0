/* Views and data representations. */
#include "mpi/entry.h"
#include "type/datarep.h"

static enum brio_err type_extent(struct brio_file *f, MPI_Datatype type, brio_off *out)
{
    return f ? brio_file_get_type_extent(f, type, out) : BRIO_EFILE;
}

/* Before MPI_Init there is nobody to tell about a failure. */
static int register_rep(const char *name, const struct brio_datarep_fns *fns)
{
    if (!brio_process_ready())
        return MPI_ERR_OTHER;
    enum brio_err err = name ? brio_datarep_register(name, fns) : brio_no_room("datarep");
    return brio_leave_path(MPI_COMM_WORLD, NULL, err);
}

#pragma GCC visibility push(default)

int MPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                      const char *datarep, MPI_Info info)
{
    struct brio_file *f = brio_from_handle(fh);
    return brio_leave(fh, f ? brio_file_set_view(f, disp, etype, filetype, datarep, info)
                            : BRIO_EFILE);
}
BRIO_TWIN(File_set_view);

int MPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype,
                      MPI_Datatype *filetype, char *datarep)
{
    struct brio_file *f = brio_from_handle(fh);
    bool room = disp && etype && filetype && datarep;
    return brio_leave(fh, !f     ? BRIO_EFILE
                          : room ? brio_file_get_view(f, disp, etype, filetype, datarep)
                                 : brio_no_room("an argument"));
}
BRIO_TWIN(File_get_view);

int MPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent)
{
    brio_off out;
    enum brio_err err =
        extent ? type_extent(brio_from_handle(fh), datatype, &out) : brio_no_room("extent");
    if (err == BRIO_OK)
        *extent = (MPI_Aint)out;
    return brio_leave(fh, err);
}
BRIO_TWIN(File_get_type_extent);

int MPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count *extent)
{
    brio_off out;
    enum brio_err err =
        extent ? type_extent(brio_from_handle(fh), datatype, &out) : brio_no_room("extent");
    if (err == BRIO_OK)
        *extent = out;
    return brio_leave(fh, err);
}
BRIO_TWIN(File_get_type_extent_c);

int MPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_fn,
                         MPI_Datarep_conversion_function *write_fn,
                         MPI_Datarep_extent_function *extent_fn, void *extra_state)
{
    struct brio_datarep_fns fns = {.extent = extent_fn, .extra = extra_state};
    fns.read = read_fn == MPI_CONVERSION_FN_NULL ? NULL : read_fn;
    fns.write = write_fn == MPI_CONVERSION_FN_NULL ? NULL : write_fn;
    return register_rep(datarep, &fns);
}
BRIO_TWIN(Register_datarep);

int MPI_Register_datarep_c(const char *datarep, MPI_Datarep_conversion_function_c *read_fn,
                           MPI_Datarep_conversion_function_c *write_fn,
                           MPI_Datarep_extent_function *extent_fn, void *extra_state)
{
    struct brio_datarep_fns fns = {.extent = extent_fn, .extra = extra_state};
    fns.read_c = read_fn == MPI_CONVERSION_FN_NULL_C ? NULL : read_fn;
    fns.write_c = write_fn == MPI_CONVERSION_FN_NULL_C ? NULL : write_fn;
    return register_rep(datarep, &fns);
}
BRIO_TWIN(Register_datarep_c);

#pragma GCC visibility pop
