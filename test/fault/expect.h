/* What the error tests have in common: an expected error class, a file to misuse, and the
 * proof that a file still works after the misuse. */
#ifndef BRIO_TEST_EXPECT_H
#define BRIO_TEST_EXPECT_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "check_mpi.h"
#include "fault/forms.h"

enum {
    ANY_ERROR = -1
};

static inline const char *class_name(int class)
{
    static char text[2][MPI_MAX_ERROR_STRING];
    static int turn;
    int len = 0;
    turn = !turn;
    if (class == ANY_ERROR)
        return "any error";
    if (MPI_Error_string(class, text[turn], &len) != MPI_SUCCESS)
        snprintf(text[turn], sizeof text[turn], "class %d", class);
    return text[turn];
}

/* Reports unless `code` is of class want or of class other. */
static inline void expect(int line, const char *what, int code, int want, int other)
{
    int got = form_class(code);
    bool right = want == ANY_ERROR ? got != MPI_SUCCESS : got == want || got == other;
    if (!right)
        test_report(what, line, "rank %d: class %d (%s) where %d (%s) is due", test_rank, got,
                    class_name(got), want, class_name(want));
}

#define EXPECT(call, class)         expect(__LINE__, #call, call, class, class)
#define EXPECT_OR(call, one, other) expect(__LINE__, #call, call, one, other)
#define EXPECT_OK(call)             expect(__LINE__, #call, call, MPI_SUCCESS, MPI_SUCCESS)
#define EXPECT_ERROR(call)          expect(__LINE__, #call, call, ANY_ERROR, ANY_ERROR)

/* A file of n zero bytes, made without MPI. Collective. */
static inline void make_file(const char *path, off_t n)
{
    if (test_rank == 0) {
        int fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0666);
        CHECK(fd >= 0 && ftruncate(fd, n) == 0, "cannot make %s", path);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Opens the case's file on all ranks; MPI_FILE_NULL and a report if that fails. */
static inline MPI_File open_file(int amode)
{
    MPI_File fh = MPI_FILE_NULL;
    int code = MPI_File_open(MPI_COMM_WORLD, test_file(), amode, MPI_INFO_NULL, &fh);
    CHECK(code == MPI_SUCCESS, "open: %s", class_name(form_class(code)));
    return code == MPI_SUCCESS ? fh : MPI_FILE_NULL;
}

static inline MPI_File open_new(void)
{
    return open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
}

static inline void close_file(MPI_File *fh)
{
    EXPECT_OK(MPI_File_close(fh));
    CHECK(*fh == MPI_FILE_NULL, "close leaves a handle");
}

enum {
    PROBE = 24
}; /* bytes that still_works moves per rank and call */

static inline void probe_bytes(const char *what, int line, int code, MPI_Status *status,
                               const char *got, const char *want)
{
    int n = -1;
    expect(line, what, code, MPI_SUCCESS, MPI_SUCCESS);
    if (code != MPI_SUCCESS)
        return;
    MPI_Get_count(status, MPI_BYTE, &n);
    if (n != PROBE || memcmp(got, want, PROBE) != 0)
        test_report(what, line, "rank %d: %d bytes, or not what was written", test_rank, n);
}

/* After an error: collective and independent data access still work on the file, which is
 * open for reading and writing. Collective. Leaves a view of bytes. */
static inline void still_works(int line, MPI_File fh)
{
    static char salt;
    char out[PROBE], in[PROBE];
    MPI_Offset off = (MPI_Offset)test_rank * PROBE;
    MPI_Status status;
    int code = MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    expect(line, "afterwards: set_view", code, MPI_SUCCESS, MPI_SUCCESS);
    if (code != MPI_SUCCESS)
        return;
    memset(out, ++salt + test_rank, sizeof out);
    code = MPI_File_write_at_all(fh, off, out, PROBE, MPI_BYTE, &status);
    probe_bytes("afterwards: write_at_all", line, code, &status, out, out);
    memset(in, 0, sizeof in);
    code = MPI_File_read_at_all(fh, off, in, PROBE, MPI_BYTE, &status);
    probe_bytes("afterwards: read_at_all", line, code, &status, in, out);
    memset(out, ++salt + test_rank, sizeof out);
    code = MPI_File_write_at(fh, off, out, PROBE, MPI_BYTE, &status);
    probe_bytes("afterwards: write_at", line, code, &status, out, out);
    memset(in, 0, sizeof in);
    code = MPI_File_read_at(fh, off, in, PROBE, MPI_BYTE, &status);
    probe_bytes("afterwards: read_at", line, code, &status, in, out);
}

#define STILL_WORKS(fh) still_works(__LINE__, fh)

/* This process may not make files longer than n bytes (-1: as long as it likes). SIGXFSZ is
 * to be ignored, so that the system says EFBIG. */
static inline void limit_file_size(off_t n)
{
    struct rlimit lim;
    getrlimit(RLIMIT_FSIZE, &lim);
    lim.rlim_cur = n < 0 ? lim.rlim_max : (rlim_t)n;
    setrlimit(RLIMIT_FSIZE, &lim);
}

/* The number of bytes of the file from `off` on that are `want`, at most n: what the file
 * holds, asked of the system. */
static inline MPI_Count bytes_there(const char *path, MPI_Offset off, const char *want,
                                    MPI_Count n)
{
    char buf[65536];
    MPI_Count there = 0;
    int fd = open(path, O_RDONLY);
    while (fd >= 0 && there < n) {
        size_t ask = n - there < (MPI_Count)sizeof buf ? (size_t)(n - there) : sizeof buf;
        ssize_t got = pread(fd, buf, ask, (off_t)(off + there));
        ssize_t same = 0;
        while (same < got && buf[same] == want[there + same])
            same++;
        there += same;
        if (got <= 0 || same < got)
            break;
    }
    if (fd >= 0)
        close(fd);
    return there;
}

/* The environment that these tests need, around test_main_mpi. */
static inline int run_error_cases(int argc, char **argv, const struct test_case *cases)
{
    /* Completion calls raise their errors on a communicator. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    return test_main_mpi(argc, argv, cases);
}

#endif
