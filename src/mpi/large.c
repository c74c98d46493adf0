/* Data access with counts of type MPI_Count: mpi/data.c again, one for one. */
#include "mpi/access.h"

#pragma GCC visibility push(default)

int MPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                       MPI_Datatype datatype, MPI_Status *status)
{
    struct brio_call call = {BRIO_READ, BRIO_AT, false, offset, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_read_at_c);

int MPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Status *status)
{
    struct brio_call call = {BRIO_WRITE, BRIO_AT, false, offset, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_write_at_c);

int MPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Request *request)
{
    struct brio_call call = {BRIO_READ, BRIO_AT, false, offset, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iread_at_c);

int MPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Request *request)
{
    struct brio_call call = {BRIO_WRITE, BRIO_AT, false, offset, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iwrite_at_c);

int MPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Status *status)
{
    struct brio_call call = {BRIO_READ, BRIO_AT, true, offset, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_read_at_all_c);

int MPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status *status)
{
    struct brio_call call = {BRIO_WRITE, BRIO_AT, true, offset, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_write_at_all_c);

int MPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Request *request)
{
    struct brio_call call = {BRIO_READ, BRIO_AT, true, offset, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iread_at_all_c);

int MPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Request *request)
{
    struct brio_call call = {BRIO_WRITE, BRIO_AT, true, offset, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iwrite_at_all_c);

int MPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                                 MPI_Datatype datatype)
{
    struct brio_call call = {BRIO_READ, BRIO_AT, true, offset, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BEGUN, &call, (union brio_answer){NULL});
}
BRIO_TWIN(File_read_at_all_begin_c);

int MPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void *buf,
                                  MPI_Count count, MPI_Datatype datatype)
{
    struct brio_call call = {BRIO_WRITE, BRIO_AT, true, offset, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BEGUN, &call, (union brio_answer){NULL});
}
BRIO_TWIN(File_write_at_all_begin_c);

int MPI_File_read_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Status *status)
{
    struct brio_call call = {BRIO_READ, BRIO_OWN, false, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_read_c);

int MPI_File_write_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Status *status)
{
    struct brio_call call = {BRIO_WRITE, BRIO_OWN, false, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_write_c);

int MPI_File_iread_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Request *request)
{
    struct brio_call call = {BRIO_READ, BRIO_OWN, false, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iread_c);

int MPI_File_iwrite_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Request *request)
{
    struct brio_call call = {BRIO_WRITE, BRIO_OWN, false, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iwrite_c);

int MPI_File_read_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Status *status)
{
    struct brio_call call = {BRIO_READ, BRIO_OWN, true, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_read_all_c);

int MPI_File_write_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Status *status)
{
    struct brio_call call = {BRIO_WRITE, BRIO_OWN, true, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_write_all_c);

int MPI_File_iread_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Request *request)
{
    struct brio_call call = {BRIO_READ, BRIO_OWN, true, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iread_all_c);

int MPI_File_iwrite_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Request *request)
{
    struct brio_call call = {BRIO_WRITE, BRIO_OWN, true, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iwrite_all_c);

int MPI_File_read_all_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    struct brio_call call = {BRIO_READ, BRIO_OWN, true, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BEGUN, &call, (union brio_answer){NULL});
}
BRIO_TWIN(File_read_all_begin_c);

int MPI_File_write_all_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                               MPI_Datatype datatype)
{
    struct brio_call call = {BRIO_WRITE, BRIO_OWN, true, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BEGUN, &call, (union brio_answer){NULL});
}
BRIO_TWIN(File_write_all_begin_c);

int MPI_File_read_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Status *status)
{
    struct brio_call call = {BRIO_READ, BRIO_SHARED, false, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_read_shared_c);

int MPI_File_write_shared_c(MPI_File fh, const void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status *status)
{
    struct brio_call call = {BRIO_WRITE, BRIO_SHARED, false, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_write_shared_c);

int MPI_File_iread_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Request *request)
{
    struct brio_call call = {BRIO_READ, BRIO_SHARED, false, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iread_shared_c);

int MPI_File_iwrite_shared_c(MPI_File fh, const void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Request *request)
{
    struct brio_call call = {BRIO_WRITE, BRIO_SHARED, false, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iwrite_shared_c);

int MPI_File_read_ordered_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status *status)
{
    struct brio_call call = {BRIO_READ, BRIO_SHARED, true, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_read_ordered_c);

int MPI_File_write_ordered_c(MPI_File fh, const void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Status *status)
{
    struct brio_call call = {BRIO_WRITE, BRIO_SHARED, true, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_write_ordered_c);

int MPI_File_read_ordered_begin_c(MPI_File fh, void *buf, MPI_Count count,
                                  MPI_Datatype datatype)
{
    struct brio_call call = {BRIO_READ, BRIO_SHARED, true, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BEGUN, &call, (union brio_answer){NULL});
}
BRIO_TWIN(File_read_ordered_begin_c);

int MPI_File_write_ordered_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                                   MPI_Datatype datatype)
{
    struct brio_call call = {BRIO_WRITE, BRIO_SHARED, true, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BEGUN, &call, (union brio_answer){NULL});
}
BRIO_TWIN(File_write_ordered_begin_c);

#pragma GCC visibility pop
