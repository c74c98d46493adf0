/* MPI error classes: the only place that knows them. Codes come from MPI_Add_error_code, so
 * that MPI_Error_class works, and their texts are kept here, because MPICH 4.0 has no texts
 * for codes that are added to a class of its own. */
#include "mpi/errors.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "comm/real.h"
#include "mpi/entry.h"
#include "mpi/errhandler.h"
#include "mpi/next.h"

static const int classes[BRIO_ERR_COUNT] = {
    [BRIO_OK] = MPI_SUCCESS,
    [BRIO_EARG] = MPI_ERR_ARG,
    [BRIO_ECOUNT] = MPI_ERR_COUNT,
    [BRIO_ETYPE] = MPI_ERR_TYPE,
    [BRIO_ECOMM] = MPI_ERR_COMM,
    [BRIO_EAMODE] = MPI_ERR_AMODE,
    [BRIO_EFILE] = MPI_ERR_FILE,
    [BRIO_ENOTSAME] = MPI_ERR_NOT_SAME,
    [BRIO_EACCESS] = MPI_ERR_ACCESS,
    [BRIO_ERDONLY] = MPI_ERR_READ_ONLY,
    [BRIO_EBADFILE] = MPI_ERR_BAD_FILE,
    [BRIO_ENOENT] = MPI_ERR_NO_SUCH_FILE,
    [BRIO_EEXIST] = MPI_ERR_FILE_EXISTS,
    [BRIO_EINUSE] = MPI_ERR_FILE_IN_USE,
    [BRIO_ENOSPC] = MPI_ERR_NO_SPACE,
    [BRIO_EQUOTA] = MPI_ERR_QUOTA,
    [BRIO_EIO] = MPI_ERR_IO,
    [BRIO_ENOMEM] = MPI_ERR_NO_MEM,
    [BRIO_EUNSUPREP] = MPI_ERR_UNSUPPORTED_DATAREP,
    [BRIO_EUNSUPOP] = MPI_ERR_UNSUPPORTED_OPERATION,
    [BRIO_EDUPREP] = MPI_ERR_DUP_DATAREP,
    [BRIO_ECONV] = MPI_ERR_CONVERSION,
    [BRIO_EINFOKEY] = MPI_ERR_INFO_KEY,
    [BRIO_EPEER] = MPI_ERR_IO,
    [BRIO_EINTERN] = MPI_ERR_INTERN,
};

enum {
    RING = 8
}; /* codes of one kind that keep their texts at the same time */

struct kept {
    int code; /* 0: not made yet */
    char text[MPI_MAX_ERROR_STRING];
};

static struct kept kept[BRIO_ERR_COUNT][RING];
static unsigned turn[BRIO_ERR_COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What does not fit is taken out of the middle: the beginning says where, the end why. */
static void keep_text(struct kept *k, const char *text)
{
    enum {
        ROOM = sizeof k->text - 1,
        HEAD = ROOM / 3
    };
    size_t len = strlen(text);
    if (len <= ROOM)
        memcpy(k->text, text, len + 1);
    else
        snprintf(k->text, sizeof k->text, "%.*s...%s", HEAD, text,
                 text + len - (ROOM - HEAD - 3));
}

int brio_error_code(enum brio_err err)
{
    const char *text = brio_err_text();
    pthread_mutex_lock(&lock);
    struct kept *k = &kept[err][turn[err]++ % RING];
    if (k->code == 0 && PMPI_Add_error_code(classes[err], &k->code) != MPI_SUCCESS)
        k->code = 0;
    keep_text(k, *text ? text : brio_err_name(err));
    int code = k->code ? k->code : classes[err];
    pthread_mutex_unlock(&lock);
    return code;
}

/* False if the code is not one of Brio's. */
static bool find_text(int code, char *out, int *len)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; !found && i < BRIO_ERR_COUNT * RING; i++) {
        const struct kept *k = &kept[i / RING][i % RING];
        found = k->code != 0 && k->code == code;
        if (found)
            *len = (int)strlen(strcpy(out, k->text));
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void brio_error_where(MPI_Comm comm, const char *path)
{
    enum {
        SHOWN = 96
    }; /* of a path, so that the reason behind it is not cut off */
    int rank = 0;
    PMPI_Comm_rank(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, &rank);
    size_t len = path ? strlen(path) : 0;
    if (len > SHOWN)
        brio_err_context("brio: rank %d, file ...%s: ", rank, path + len - SHOWN);
    else if (path)
        brio_err_context("brio: rank %d, file %s: ", rank, path);
    else
        brio_err_context("brio: rank %d: ", rank);
}

static int raise_to(struct brio_handler *handler, MPI_File fh, enum brio_err err)
{
    int code = brio_error_code(err);
    brio_handler_call(handler, fh, code);
    return code;
}

int brio_raise(MPI_File fh, enum brio_err err)
{
    struct brio_file *f = brio_from_handle(fh);
    if (!brio_process_ready())
        return MPI_ERR_OTHER;
    if (!f && err == BRIO_EFILE)
        brio_fail(BRIO_EFILE, "%s",
                  fh == MPI_FILE_NULL ? "the file handle is MPI_FILE_NULL"
                                      : "not the handle of an open file");
    if (f)
        brio_error_where(brio_file_comm(f), brio_file_path(f));
    else
        brio_error_where(MPI_COMM_WORLD, NULL);
    struct brio_handler *handler = brio_handler_hold(f);
    int code = raise_to(handler, f ? fh : MPI_FILE_NULL, err);
    brio_handler_drop(handler);
    return code;
}

int brio_leave_path(MPI_Comm comm, const char *path, enum brio_err err)
{
    if (err == BRIO_OK)
        return MPI_SUCCESS;
    if (!brio_process_ready())
        return MPI_ERR_OTHER;
    brio_error_where(comm, path);
    struct brio_handler *handler = brio_handler_hold(NULL);
    int code = raise_to(handler, MPI_FILE_NULL, err);
    brio_handler_drop(handler);
    return code;
}

enum brio_err brio_no_room(const char *what)
{
    return brio_fail(BRIO_EARG, "%s is a null pointer", what);
}

#pragma GCC visibility push(default)

int MPI_Error_string(int code, char *out, int *len)
{
    if (out && len && find_text(code, out, len))
        return MPI_SUCCESS;
    return BRIO_NEXT(MPI_Error_string)(code, out, len);
}

int PMPI_Error_string(int code, char *out, int *len)
{
    if (out && len && find_text(code, out, len))
        return MPI_SUCCESS;
    return BRIO_NEXT(PMPI_Error_string)(code, out, len);
}

#pragma GCC visibility pop
