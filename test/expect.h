/* Short words for tests of MPI calls: what a call must return, what a status must say, what
 * the bytes on disk must be (read with system calls, behind the back of any MPI). */
#ifndef BRIO_TEST_EXPECT_H
#define BRIO_TEST_EXPECT_H

#include <fcntl.h>
#include <sys/stat.h>

#include "check_mpi.h"
#include "disk.h"

static inline const char *error_text(int err)
{
    static char text[MPI_MAX_ERROR_STRING + 32];
    char words[MPI_MAX_ERROR_STRING];
    int len, class;
    if (err == MPI_SUCCESS)
        return "success";
    MPI_Error_class(err, &class);
    MPI_Error_string(err, words, &len);
    snprintf(text, sizeof text, "class %d: %s", class, words);
    return text;
}

static inline int error_class(int err)
{
    int class;
    MPI_Error_class(err, &class);
    return class;
}

/* The call succeeds. */
#define OK(call)                                                                               \
    do {                                                                                       \
        int got_ = (call);                                                                     \
        if (got_ != MPI_SUCCESS)                                                               \
            test_report(__FILE__, __LINE__, "%s: %s", #call, error_text(got_));                \
    } while (0)

/* The call fails with this error class. */
#define FAILS(call, want)                                                                      \
    do {                                                                                       \
        int got_ = (call);                                                                     \
        if (got_ == MPI_SUCCESS || error_class(got_) != (want))                                \
            test_report(__FILE__, __LINE__, "%s: not %s but %s", #call, #want,                 \
                        error_text(got_));                                                     \
    } while (0)

static inline int64_t status_bytes(const MPI_Status *st)
{
    MPI_Count n = -1;
    MPI_Get_elements_x(st, MPI_BYTE, &n);
    return n;
}

static inline int status_count(const MPI_Status *st, MPI_Datatype type)
{
    int n = -1;
    MPI_Get_count(st, type, &n);
    return n;
}

/* Opens test_file() on all ranks. */
static inline MPI_File open_file(int amode)
{
    MPI_File fh = MPI_FILE_NULL;
    OK(MPI_File_open(MPI_COMM_WORLD, test_file(), amode, MPI_INFO_NULL, &fh));
    return fh;
}

static inline MPI_File open_new(void)
{
    return open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
}

/* Rank 0 makes the file, `size` bytes of `fill`; all ranks return when it is there. */
static inline void make_file(const char *path, int64_t size, int fill)
{
    if (test_rank == 0) {
        int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
        char *data = malloc((size_t)size + 1);
        memset(data, fill, (size_t)size);
        CHECK(fd >= 0 && write(fd, data, (size_t)size) == size, "cannot write %s", path);
        hand_over(fd);
        close(fd);
        free(data);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A second name beside test_file(). */
static inline const char *other_file(const char *suffix)
{
    static char path[640];
    snprintf(path, sizeof path, "%s.%s", test_file(), suffix);
    return path;
}

/* The same order of events on all ranks, and data visible (sync, barrier, sync). */
static inline void sync_all(MPI_File fh)
{
    OK(MPI_File_sync(fh));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_sync(fh));
}

#define TEST_MAIN(cases)                                                                       \
    int main(int argc, char **argv)                                                            \
    {                                                                                          \
        MPI_Init(&argc, &argv);                                                                \
        int code = test_main_mpi(argc, argv, cases);                                           \
        MPI_Finalize();                                                                        \
        return code;                                                                           \
    }

#endif
