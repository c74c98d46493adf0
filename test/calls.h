/* Every kind of data access by explicit offset or individual pointer, behind one function:
 * blocking, nonblocking and split, independent and collective. */
#ifndef BRIO_TEST_CALLS_H
#define BRIO_TEST_CALLS_H

#include <mpi.h>

enum kind {
    AT,
    OWN,
    IAT,
    IOWN,
    INDEPENDENT_KINDS,
    AT_ALL = INDEPENDENT_KINDS,
    OWN_ALL,
    IAT_ALL,
    IOWN_ALL,
    AT_SPLIT,
    OWN_SPLIT,
    KINDS
};

struct call {
    enum kind kind;
    MPI_Offset off; /* not used with the individual pointer */
    void *buf;
    int count;
    MPI_Datatype type;
    int poll; /* complete a nonblocking call with MPI_Test instead of MPI_Wait */
};

static inline int uses_pointer(enum kind k)
{
    return k == OWN || k == IOWN || k == OWN_ALL || k == IOWN_ALL || k == OWN_SPLIT;
}

static inline int call_finish(const struct call *c, int err, MPI_Request *req, MPI_Status *st)
{
    int done = 0;
    if (err)
        return err;
    if (!c->poll)
        return MPI_Wait(req, st);
    while (!err && !done)
        err = MPI_Test(req, &done, st);
    return err;
}

static inline int call_write(MPI_File fh, const struct call *c, MPI_Status *st)
{
    MPI_Request req;
    const void *buf = c->buf;
    int n = c->count, err;
    MPI_Datatype t = c->type;
    switch (c->kind) {
    case AT:
        return MPI_File_write_at(fh, c->off, buf, n, t, st);
    case OWN:
        return MPI_File_write(fh, buf, n, t, st);
    case IAT:
        return call_finish(c, MPI_File_iwrite_at(fh, c->off, buf, n, t, &req), &req, st);
    case IOWN:
        return call_finish(c, MPI_File_iwrite(fh, buf, n, t, &req), &req, st);
    case AT_ALL:
        return MPI_File_write_at_all(fh, c->off, buf, n, t, st);
    case OWN_ALL:
        return MPI_File_write_all(fh, buf, n, t, st);
    case IAT_ALL:
        return call_finish(c, MPI_File_iwrite_at_all(fh, c->off, buf, n, t, &req), &req, st);
    case IOWN_ALL:
        return call_finish(c, MPI_File_iwrite_all(fh, buf, n, t, &req), &req, st);
    case AT_SPLIT:
        err = MPI_File_write_at_all_begin(fh, c->off, buf, n, t);
        return err ? err : MPI_File_write_at_all_end(fh, buf, st);
    default:
        err = MPI_File_write_all_begin(fh, buf, n, t);
        return err ? err : MPI_File_write_all_end(fh, buf, st);
    }
}

static inline int call_read(MPI_File fh, const struct call *c, MPI_Status *st)
{
    MPI_Request req;
    void *buf = c->buf;
    int n = c->count, err;
    MPI_Datatype t = c->type;
    switch (c->kind) {
    case AT:
        return MPI_File_read_at(fh, c->off, buf, n, t, st);
    case OWN:
        return MPI_File_read(fh, buf, n, t, st);
    case IAT:
        return call_finish(c, MPI_File_iread_at(fh, c->off, buf, n, t, &req), &req, st);
    case IOWN:
        return call_finish(c, MPI_File_iread(fh, buf, n, t, &req), &req, st);
    case AT_ALL:
        return MPI_File_read_at_all(fh, c->off, buf, n, t, st);
    case OWN_ALL:
        return MPI_File_read_all(fh, buf, n, t, st);
    case IAT_ALL:
        return call_finish(c, MPI_File_iread_at_all(fh, c->off, buf, n, t, &req), &req, st);
    case IOWN_ALL:
        return call_finish(c, MPI_File_iread_all(fh, buf, n, t, &req), &req, st);
    case AT_SPLIT:
        err = MPI_File_read_at_all_begin(fh, c->off, buf, n, t);
        return err ? err : MPI_File_read_at_all_end(fh, buf, st);
    default:
        err = MPI_File_read_all_begin(fh, buf, n, t);
        return err ? err : MPI_File_read_all_end(fh, buf, st);
    }
}

#endif
