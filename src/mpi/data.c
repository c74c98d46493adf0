/* Data access with counts of type int, and the ends of split collectives: what to do is said
 * in a struct brio_call, doing it is mpi/access.c. */
#include "mpi/access.h"

#pragma GCC visibility push(default)

int MPI_File_read_at(MPI_File fh, MPI_Offset offset, void *buf, int count,
                     MPI_Datatype datatype, MPI_Status *status)
{
    struct brio_call call = {BRIO_READ, BRIO_AT, false, offset, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_read_at);

int MPI_File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                      MPI_Datatype datatype, MPI_Status *status)
{
    struct brio_call call = {BRIO_WRITE, BRIO_AT, false, offset, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_write_at);

int MPI_File_iread_at(MPI_File fh, MPI_Offset offset, void *buf, int count,
                      MPI_Datatype datatype, MPI_Request *request)
{
    struct brio_call call = {BRIO_READ, BRIO_AT, false, offset, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iread_at);

int MPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                       MPI_Datatype datatype, MPI_Request *request)
{
    struct brio_call call = {BRIO_WRITE, BRIO_AT, false, offset, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iwrite_at);

int MPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
                         MPI_Datatype datatype, MPI_Status *status)
{
    struct brio_call call = {BRIO_READ, BRIO_AT, true, offset, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_read_at_all);

int MPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                          MPI_Datatype datatype, MPI_Status *status)
{
    struct brio_call call = {BRIO_WRITE, BRIO_AT, true, offset, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_write_at_all);

int MPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
                          MPI_Datatype datatype, MPI_Request *request)
{
    struct brio_call call = {BRIO_READ, BRIO_AT, true, offset, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iread_at_all);

int MPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                           MPI_Datatype datatype, MPI_Request *request)
{
    struct brio_call call = {BRIO_WRITE, BRIO_AT, true, offset, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iwrite_at_all);

int MPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void *buf, int count,
                               MPI_Datatype datatype)
{
    struct brio_call call = {BRIO_READ, BRIO_AT, true, offset, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BEGUN, &call, (union brio_answer){NULL});
}
BRIO_TWIN(File_read_at_all_begin);

int MPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                                MPI_Datatype datatype)
{
    struct brio_call call = {BRIO_WRITE, BRIO_AT, true, offset, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BEGUN, &call, (union brio_answer){NULL});
}
BRIO_TWIN(File_write_at_all_begin);

int MPI_File_read(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    struct brio_call call = {BRIO_READ, BRIO_OWN, false, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_read);

int MPI_File_write(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                   MPI_Status *status)
{
    struct brio_call call = {BRIO_WRITE, BRIO_OWN, false, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_write);

int MPI_File_iread(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                   MPI_Request *request)
{
    struct brio_call call = {BRIO_READ, BRIO_OWN, false, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iread);

int MPI_File_iwrite(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                    MPI_Request *request)
{
    struct brio_call call = {BRIO_WRITE, BRIO_OWN, false, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iwrite);

int MPI_File_read_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    struct brio_call call = {BRIO_READ, BRIO_OWN, true, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_read_all);

int MPI_File_write_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                       MPI_Status *status)
{
    struct brio_call call = {BRIO_WRITE, BRIO_OWN, true, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_write_all);

int MPI_File_iread_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    struct brio_call call = {BRIO_READ, BRIO_OWN, true, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iread_all);

int MPI_File_iwrite_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                        MPI_Request *request)
{
    struct brio_call call = {BRIO_WRITE, BRIO_OWN, true, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iwrite_all);

int MPI_File_read_all_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    struct brio_call call = {BRIO_READ, BRIO_OWN, true, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BEGUN, &call, (union brio_answer){NULL});
}
BRIO_TWIN(File_read_all_begin);

int MPI_File_write_all_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    struct brio_call call = {BRIO_WRITE, BRIO_OWN, true, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BEGUN, &call, (union brio_answer){NULL});
}
BRIO_TWIN(File_write_all_begin);

int MPI_File_read_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                         MPI_Status *status)
{
    struct brio_call call = {BRIO_READ, BRIO_SHARED, false, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_read_shared);

int MPI_File_write_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    struct brio_call call = {BRIO_WRITE, BRIO_SHARED, false, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_write_shared);

int MPI_File_iread_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                          MPI_Request *request)
{
    struct brio_call call = {BRIO_READ, BRIO_SHARED, false, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iread_shared);

int MPI_File_iwrite_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                           MPI_Request *request)
{
    struct brio_call call = {BRIO_WRITE, BRIO_SHARED, false, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_STARTED, &call, (union brio_answer){.request = request});
}
BRIO_TWIN(File_iwrite_shared);

int MPI_File_read_ordered(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    struct brio_call call = {BRIO_READ, BRIO_SHARED, true, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_read_ordered);

int MPI_File_write_ordered(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                           MPI_Status *status)
{
    struct brio_call call = {BRIO_WRITE, BRIO_SHARED, true, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BLOCKING, &call, (union brio_answer){.status = status});
}
BRIO_TWIN(File_write_ordered);

int MPI_File_read_ordered_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    struct brio_call call = {BRIO_READ, BRIO_SHARED, true, 0, buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BEGUN, &call, (union brio_answer){NULL});
}
BRIO_TWIN(File_read_ordered_begin);

int MPI_File_write_ordered_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    struct brio_call call = {BRIO_WRITE, BRIO_SHARED, true, 0, (void *)buf, count, datatype};
    return brio_mpi_access(fh, BRIO_BEGUN, &call, (union brio_answer){NULL});
}
BRIO_TWIN(File_write_ordered_begin);

int MPI_File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return brio_mpi_end(fh, BRIO_READ, BRIO_AT, buf, status);
}
BRIO_TWIN(File_read_at_all_end);

int MPI_File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return brio_mpi_end(fh, BRIO_WRITE, BRIO_AT, buf, status);
}
BRIO_TWIN(File_write_at_all_end);

int MPI_File_read_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return brio_mpi_end(fh, BRIO_READ, BRIO_OWN, buf, status);
}
BRIO_TWIN(File_read_all_end);

int MPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return brio_mpi_end(fh, BRIO_WRITE, BRIO_OWN, buf, status);
}
BRIO_TWIN(File_write_all_end);

int MPI_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return brio_mpi_end(fh, BRIO_READ, BRIO_SHARED, buf, status);
}
BRIO_TWIN(File_read_ordered_end);

int MPI_File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return brio_mpi_end(fh, BRIO_WRITE, BRIO_SHARED, buf, status);
}
BRIO_TWIN(File_write_ordered_end);

#pragma GCC visibility pop
