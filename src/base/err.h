/* What can go wrong, and how it is said: one enum for the whole library, and one text
 * per thread that is made together with the code, where the failure is first known.
 * MPI's own error classes exist only in mpi/errors.c. */
#ifndef BRIO_BASE_ERR_H
#define BRIO_BASE_ERR_H

#include <stddef.h>

#include "base/door.h"

BRIO_DOOR_BEGIN

enum brio_err {
    BRIO_OK = 0,
    BRIO_EARG,      /* an argument is outside its range */
    BRIO_ECOUNT,    /* a negative count */
    BRIO_ETYPE,     /* a datatype that is null, not committed or not allowed here */
    BRIO_ECOMM,     /* a communicator that cannot be used */
    BRIO_EAMODE,    /* contradictory access mode */
    BRIO_EFILE,     /* not a handle of an open file */
    BRIO_ENOTSAME,  /* an argument that must be the same on all ranks is not */
    BRIO_EACCESS,   /* permission denied, or reading a write-only file */
    BRIO_ERDONLY,   /* writing where only reading is possible */
    BRIO_EBADFILE,  /* a name that cannot be a file's */
    BRIO_ENOENT,    /* no such file */
    BRIO_EEXIST,    /* the file exists */
    BRIO_EINUSE,    /* the file is in use */
    BRIO_ENOSPC,    /* no space left */
    BRIO_EQUOTA,    /* quota or file-size limit */
    BRIO_EIO,       /* the system failed to move the bytes, or the call comes out of turn */
    BRIO_ENOMEM,    /* out of memory */
    BRIO_EUNSUPREP, /* unknown data representation */
    BRIO_EUNSUPOP,  /* not possible on this file */
    BRIO_EDUPREP,   /* data representation registered before */
    BRIO_ECONV,     /* a user's conversion function failed */
    BRIO_EINFOKEY,  /* info key too long */
    BRIO_EPEER,     /* this rank did its part, another rank failed */
    BRIO_EINTERN,   /* a fault of Brio or of the MPI below it */
    BRIO_ERR_COUNT
};

/* The return type of every function and slot that can fail. */
#define BRIO_ERR __attribute__((warn_unused_result)) enum brio_err

/* Keeps the text for this thread and returns `code`. Say what was tried, on what, and
 * why it failed; rank and file name are added above. */
enum brio_err brio_fail(enum brio_err code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a failed system call: the code follows from `errnum`, and the text ends
 * with the system's own words for it. */
enum brio_err brio_fail_errno(int errnum, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds `prefix` before the text of this thread's last failure (file name, rank). */
void brio_err_context(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

enum {
    BRIO_ERR_TEXT = 400
};

/* This thread's last text; "" if none. Valid until the next brio_fail on this thread. */
const char *brio_err_text(void);

/* Hands a text over to another thread: copy it out here, put it back there. */
void brio_err_save(char text[BRIO_ERR_TEXT]);
void brio_err_restore(const char *text);

/* A short name of the code itself ("no space left"), never NULL. */
const char *brio_err_name(enum brio_err code);

BRIO_DOOR_END

#endif
