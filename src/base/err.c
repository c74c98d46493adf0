/* The error texts: one buffer per thread. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last[BRIO_ERR_TEXT];

enum brio_err brio_fail(enum brio_err code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(last, sizeof last, fmt, args);
    va_end(args);
    return code;
}

static enum brio_err from_errno(int errnum)
{
    switch (errnum) {
    case EACCES:
    case EPERM:
        return BRIO_EACCESS;
    case ENAMETOOLONG:
    case EISDIR:
    case ENOTDIR:
    case ELOOP:
        return BRIO_EBADFILE;
    case ENOENT:
        return BRIO_ENOENT;
    case EROFS:
        return BRIO_ERDONLY;
    case EEXIST:
        return BRIO_EEXIST;
    case ENOSPC:
        return BRIO_ENOSPC;
    case EDQUOT:
    case EFBIG:
        return BRIO_EQUOTA;
    case ETXTBSY:
    case EBUSY:
        return BRIO_EINUSE;
    case ENOMEM:
        return BRIO_ENOMEM;
    case EOPNOTSUPP:
    case ENOSYS:
        return BRIO_EUNSUPOP;
    default:
        return BRIO_EIO;
    }
}

enum brio_err brio_fail_errno(int errnum, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(last, sizeof last, fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof last) {
        char why[128];
        /* The GNU form: returns a string that need not be `why`. */
        const char *text = strerror_r(errnum, why, sizeof why);
        snprintf(last + n, sizeof last - (size_t)n, ": %s", text);
    }
    return from_errno(errnum);
}

void brio_err_context(const char *fmt, ...)
{
    char before[BRIO_ERR_TEXT];
    char whole[2 * BRIO_ERR_TEXT];
    va_list args;
    va_start(args, fmt);
    vsnprintf(before, sizeof before, fmt, args);
    va_end(args);
    snprintf(whole, sizeof whole, "%s%s", before, last);
    memcpy(last, whole, sizeof last - 1);
    last[sizeof last - 1] = '\0';
}

const char *brio_err_text(void)
{
    return last;
}

void brio_err_save(char text[BRIO_ERR_TEXT])
{
    memcpy(text, last, sizeof last);
}

void brio_err_restore(const char *text)
{
    snprintf(last, sizeof last, "%s", text);
}

const char *brio_err_name(enum brio_err code)
{
    static const char *const names[BRIO_ERR_COUNT] = {
        [BRIO_OK] = "success",
        [BRIO_EARG] = "invalid argument",
        [BRIO_ECOUNT] = "invalid count",
        [BRIO_ETYPE] = "invalid datatype",
        [BRIO_ECOMM] = "invalid communicator",
        [BRIO_EAMODE] = "contradictory access mode",
        [BRIO_EFILE] = "invalid file handle",
        [BRIO_ENOTSAME] = "arguments differ between ranks",
        [BRIO_EACCESS] = "access denied",
        [BRIO_ERDONLY] = "read-only file",
        [BRIO_EBADFILE] = "invalid file name",
        [BRIO_ENOENT] = "no such file",
        [BRIO_EEXIST] = "file exists",
        [BRIO_EINUSE] = "file in use",
        [BRIO_ENOSPC] = "no space left",
        [BRIO_EQUOTA] = "quota exceeded",
        [BRIO_EIO] = "I/O error",
        [BRIO_ENOMEM] = "out of memory",
        [BRIO_EUNSUPREP] = "unknown data representation",
        [BRIO_EUNSUPOP] = "operation not supported",
        [BRIO_EDUPREP] = "data representation already registered",
        [BRIO_ECONV] = "conversion function failed",
        [BRIO_EINFOKEY] = "info key too long",
        [BRIO_EPEER] = "another rank failed",
        [BRIO_EINTERN] = "internal error",
    };
    return (unsigned)code < BRIO_ERR_COUNT ? names[code] : "unknown error";
}
