/* Every way to move data with MPI-IO as one function of the same shape, so that a test can
 * go through all of them. A nonblocking form waits; a split form begins and ends. */
#ifndef BRIO_TEST_FORMS_H
#define BRIO_TEST_FORMS_H

#include <mpi.h>

enum {
    FORM_WRITE = 1,
    FORM_COLL = 2,
    FORM_AT = 4,
    FORM_OWN = 8,
    FORM_SHARED = 16,
    FORM_NONBLOCKING = 32,
    FORM_SPLIT = 64
};

struct form_call {
    MPI_File fh;
    MPI_Offset off; /* for FORM_AT */
    void *buf;
    int count;
    MPI_Datatype type;
};

struct form {
    const char *name;
    int flags;
    /* The first error that the form met, at the call or at its completion. The status is
     * meaningful unless the call itself failed; form_run clears it. */
    int (*run)(const struct form_call *c, MPI_Status *status);
};

#define FORM_BLOCKING_AT(name)                                                                 \
    static int form_##name(const struct form_call *c, MPI_Status *status)                      \
    {                                                                                          \
        return MPI_File_##name(c->fh, c->off, c->buf, c->count, c->type, status);              \
    }
#define FORM_BLOCKING(name)                                                                    \
    static int form_##name(const struct form_call *c, MPI_Status *status)                      \
    {                                                                                          \
        return MPI_File_##name(c->fh, c->buf, c->count, c->type, status);                      \
    }
#define FORM_REQUEST_AT(name)                                                                  \
    static int form_##name(const struct form_call *c, MPI_Status *status)                      \
    {                                                                                          \
        MPI_Request req = MPI_REQUEST_NULL;                                                    \
        int code = MPI_File_##name(c->fh, c->off, c->buf, c->count, c->type, &req);            \
        return code == MPI_SUCCESS ? MPI_Wait(&req, status) : code;                            \
    }
#define FORM_REQUEST(name)                                                                     \
    static int form_##name(const struct form_call *c, MPI_Status *status)                      \
    {                                                                                          \
        MPI_Request req = MPI_REQUEST_NULL;                                                    \
        int code = MPI_File_##name(c->fh, c->buf, c->count, c->type, &req);                    \
        return code == MPI_SUCCESS ? MPI_Wait(&req, status) : code;                            \
    }
/* A begin that failed has begun nothing: there is no end to call. */
#define FORM_HALVES_AT(name)                                                                   \
    static int form_split_##name(const struct form_call *c, MPI_Status *status)                \
    {                                                                                          \
        int code = MPI_File_##name##_begin(c->fh, c->off, c->buf, c->count, c->type);          \
        return code == MPI_SUCCESS ? MPI_File_##name##_end(c->fh, c->buf, status) : code;      \
    }
#define FORM_HALVES(name)                                                                      \
    static int form_split_##name(const struct form_call *c, MPI_Status *status)                \
    {                                                                                          \
        int code = MPI_File_##name##_begin(c->fh, c->buf, c->count, c->type);                  \
        return code == MPI_SUCCESS ? MPI_File_##name##_end(c->fh, c->buf, status) : code;      \
    }

FORM_BLOCKING_AT(read_at)
FORM_BLOCKING_AT(write_at)
FORM_BLOCKING_AT(read_at_all)
FORM_BLOCKING_AT(write_at_all)
FORM_BLOCKING(read)
FORM_BLOCKING(write)
FORM_BLOCKING(read_all)
FORM_BLOCKING(write_all)
FORM_BLOCKING(read_shared)
FORM_BLOCKING(write_shared)
FORM_BLOCKING(read_ordered)
FORM_BLOCKING(write_ordered)
FORM_REQUEST_AT(iread_at)
FORM_REQUEST_AT(iwrite_at)
FORM_REQUEST_AT(iread_at_all)
FORM_REQUEST_AT(iwrite_at_all)
FORM_REQUEST(iread)
FORM_REQUEST(iwrite)
FORM_REQUEST(iread_all)
FORM_REQUEST(iwrite_all)
FORM_REQUEST(iread_shared)
FORM_REQUEST(iwrite_shared)
FORM_HALVES_AT(read_at_all)
FORM_HALVES_AT(write_at_all)
FORM_HALVES(read_all)
FORM_HALVES(write_all)
FORM_HALVES(read_ordered)
FORM_HALVES(write_ordered)

#define FORM_ENTRY(name, flags)                                                                \
    {                                                                                          \
#name, flags, form_##name                                                              \
    }

static const struct form forms[] = {
    FORM_ENTRY(read_at, FORM_AT),
    FORM_ENTRY(write_at, FORM_AT | FORM_WRITE),
    FORM_ENTRY(read_at_all, FORM_AT | FORM_COLL),
    FORM_ENTRY(write_at_all, FORM_AT | FORM_COLL | FORM_WRITE),
    FORM_ENTRY(iread_at, FORM_AT | FORM_NONBLOCKING),
    FORM_ENTRY(iwrite_at, FORM_AT | FORM_NONBLOCKING | FORM_WRITE),
    FORM_ENTRY(iread_at_all, FORM_AT | FORM_NONBLOCKING | FORM_COLL),
    FORM_ENTRY(iwrite_at_all, FORM_AT | FORM_NONBLOCKING | FORM_COLL | FORM_WRITE),
    FORM_ENTRY(read, FORM_OWN),
    FORM_ENTRY(write, FORM_OWN | FORM_WRITE),
    FORM_ENTRY(read_all, FORM_OWN | FORM_COLL),
    FORM_ENTRY(write_all, FORM_OWN | FORM_COLL | FORM_WRITE),
    FORM_ENTRY(iread, FORM_OWN | FORM_NONBLOCKING),
    FORM_ENTRY(iwrite, FORM_OWN | FORM_NONBLOCKING | FORM_WRITE),
    FORM_ENTRY(iread_all, FORM_OWN | FORM_NONBLOCKING | FORM_COLL),
    FORM_ENTRY(iwrite_all, FORM_OWN | FORM_NONBLOCKING | FORM_COLL | FORM_WRITE),
    FORM_ENTRY(read_shared, FORM_SHARED),
    FORM_ENTRY(write_shared, FORM_SHARED | FORM_WRITE),
    FORM_ENTRY(iread_shared, FORM_SHARED | FORM_NONBLOCKING),
    FORM_ENTRY(iwrite_shared, FORM_SHARED | FORM_NONBLOCKING | FORM_WRITE),
    FORM_ENTRY(read_ordered, FORM_SHARED | FORM_COLL),
    FORM_ENTRY(write_ordered, FORM_SHARED | FORM_COLL | FORM_WRITE),
    FORM_ENTRY(split_read_at_all, FORM_AT | FORM_SPLIT | FORM_COLL),
    FORM_ENTRY(split_write_at_all, FORM_AT | FORM_SPLIT | FORM_COLL | FORM_WRITE),
    FORM_ENTRY(split_read_all, FORM_OWN | FORM_SPLIT | FORM_COLL),
    FORM_ENTRY(split_write_all, FORM_OWN | FORM_SPLIT | FORM_COLL | FORM_WRITE),
    FORM_ENTRY(split_read_ordered, FORM_SHARED | FORM_SPLIT | FORM_COLL),
    FORM_ENTRY(split_write_ordered, FORM_SHARED | FORM_SPLIT | FORM_COLL | FORM_WRITE),
};

enum {
    FORMS = (int)(sizeof forms / sizeof forms[0])
};

static inline int form_is(const struct form *form, int flags)
{
    return (form->flags & flags) == flags;
}

/* Runs the form; *bytes is what its status claims, 0 if no status came back. */
static inline int form_run(const struct form *form, const struct form_call *c, MPI_Count *bytes)
{
    MPI_Status status;
    MPI_Status_set_elements_x(&status, MPI_BYTE, 0);
    int code = form->run(c, &status);
    *bytes = 0;
    if (MPI_Get_elements_x(&status, MPI_BYTE, bytes) != MPI_SUCCESS || *bytes < 0)
        *bytes = 0;
    return code;
}

static inline int form_class(int code)
{
    int class = MPI_ERR_UNKNOWN;
    MPI_Error_class(code, &class);
    return class;
}

#endif
