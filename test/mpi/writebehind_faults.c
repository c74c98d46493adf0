/* Writes that are kept back and then cannot be written: told at the call that filled the page
 * or wanted its room, else at sync and close, on all ranks alike; and nothing is lost as long
 * as the file is open. Short writes are no failures. */
#include <errno.h>
#include <sys/syscall.h>

#include "calls.h"
#include "check_mpi.h"
#include "nodes_comm.h"
#include "oracle.h"

enum {
    PAGE = 4096,
    PIECE = 64,
    PIECES = 300 /* of each rank */
};

/* ---- The system ----------------------------------------------------------------------------
 */

/* Calls of the library come here, for the program's symbols go first. */
static struct {
    int err;  /* with which every write fails, 0: none does */
    int half; /* writes are cut in half */
} sys;

#pragma GCC visibility push(default)

ssize_t pwrite(int fd, const void *buf, size_t len, off_t off)
{
    if (sys.err) {
        errno = sys.err;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, buf, sys.half && len > 1 ? len / 2 : len, off);
}

#pragma GCC visibility pop

/* ---- The file ------------------------------------------------------------------------------
 */

static MPI_File open_file(int nodes)
{
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info;
    if (test_rank == 0)
        unlink(test_file());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cache", "writebehind");
    MPI_Info_set(info, "cache_page", "4096");
    int rc = MPI_File_open(nodes_comm(nodes), test_file(), MPI_MODE_WRONLY | MPI_MODE_CREATE,
                           info, &fh);
    CHECK(rc == MPI_SUCCESS, "open: %d", rc);
    MPI_Info_free(&info);
    return fh;
}

static char byte_at(int64_t off)
{
    return (char)('a' + off / PIECE % 23);
}

static int class_of(int rc)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(rc, &class);
    return class;
}

/* Every other piece of the rank's: no page becomes full. The errors that were told. */
static int write_pieces(MPI_File fh)
{
    char buf[PIECE];
    int errors = 0;
    for (int i = 0; i < PIECES; i++) {
        MPI_Offset at = (MPI_Offset)(i * test_nranks + test_rank) * 2 * PIECE;
        memset(buf, byte_at(at), PIECE);
        errors += MPI_File_write_at(fh, at, buf, PIECE, MPI_BYTE, MPI_STATUS_IGNORE) != 0;
    }
    return errors;
}

static void check_pieces(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) {
        int64_t len = (int64_t)(PIECES * test_nranks - 1) * 2 * PIECE + PIECE, bad = 0;
        char *now = calloc(1, (size_t)len + 1);
        int fd = open(test_file(), O_RDONLY);
        CHECK(now && pread(fd, now, (size_t)len + 1, 0) == len, "another length");
        for (int64_t i = 0; now && i < len; i++)
            bad += now[i] != (i / PIECE % 2 ? 0 : byte_at(i));
        CHECK(bad == 0, "%lld bytes are wrong", (long long)bad);
        free(now);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All or none of the ranks failed; how many did. */
static int same_everywhere(int rc, const char *what)
{
    int failed = rc != MPI_SUCCESS, n = 0;
    MPI_Allreduce(&failed, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(n == 0 || n == test_nranks, "%s failed on %d of %d ranks", what, n, test_nranks);
    return n;
}

/* ---- Cases ---------------------------------------------------------------------------------
 */

/* The device is full at the sync and has room later: nothing was lost. */
static void told_at_sync_and_kept(void)
{
    for (int nodes = 1; nodes <= NODES; nodes++) {
        MPI_File fh = open_file(nodes);
        CHECK(write_pieces(fh) == 0, "an error at once");
        MPI_Barrier(MPI_COMM_WORLD);
        sys.err = ENOSPC;
        int rc = MPI_File_sync(fh), class = class_of(rc), worst;
        sys.err = 0;
        CHECK(same_everywhere(rc, "sync") == test_nranks, "no error");
        class = class == MPI_ERR_NO_SPACE;
        MPI_Allreduce(&class, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK(worst == 1, "nobody says that the device is full");
        rc = MPI_File_sync(fh);
        CHECK(same_everywhere(rc, "the second sync") == 0, "%d", rc);
        check_pieces();
        MPI_File_close(&fh);
        check_pieces();
    }
}

/* One rank cannot write. Whoever tries for it, all ranks hear the same; and if that is that
 * all is well, it is. */
static void one_rank_fails(void)
{
    for (int nodes = 1; nodes <= NODES; nodes++) {
        MPI_File fh = open_file(nodes);
        write_pieces(fh);
        sys.err = test_rank == test_nranks - 1 ? EIO : 0;
        int rc = MPI_File_sync(fh);
        int n = same_everywhere(rc, "sync");
        sys.err = 0;
        if (n > 0)
            CHECK(same_everywhere(MPI_File_sync(fh), "the second sync") == 0, "again");
        check_pieces();
        CHECK(same_everywhere(MPI_File_close(&fh), "close") == 0, "close");
    }
}

/* Told at the close if not before; the file is gone, and all ranks come back. */
static void told_at_close(void)
{
    for (int nodes = 1; nodes <= NODES; nodes++) {
        MPI_File fh = open_file(nodes);
        write_pieces(fh);
        MPI_Barrier(MPI_COMM_WORLD);
        sys.err = ENOSPC;
        int rc = MPI_File_close(&fh);
        sys.err = 0;
        CHECK(same_everywhere(rc, "close") == test_nranks, "no error");
    }
}

/* The call that fills a page tries to write it, and says so if that fails. */
static void told_at_the_call(void)
{
    char buf[PAGE / 4];
    MPI_File fh = open_file(1);
    int rc[4];
    memset(buf, 'x', sizeof buf);
    sys.err = ENOSPC;
    for (int i = 0; i < 4; i++)
        rc[i] = MPI_File_write_at(fh, test_rank * PAGE + i * (PAGE / 4), buf, PAGE / 4,
                                  MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD); /* one that closes could write another's page */
    sys.err = 0;
    CHECK(!rc[0] && !rc[1] && !rc[2], "an error before the page was full");
    CHECK(class_of(rc[3]) == MPI_ERR_NO_SPACE, "class %d", class_of(rc[3]));
    CHECK(same_everywhere(MPI_File_close(&fh), "close") == 0, "close");
    if (test_rank == 0) {
        struct stat st;
        CHECK(stat(test_file(), &st) == 0 && st.st_size == (off_t)PAGE * test_nranks,
              "%lld bytes", (long long)st.st_size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void short_writes(void)
{
    for (int nodes = 1; nodes <= NODES; nodes++) {
        MPI_File fh = open_file(nodes);
        sys.half = 1;
        CHECK(write_pieces(fh) == 0, "an error");
        CHECK(same_everywhere(MPI_File_close(&fh), "close") == 0, "close");
        sys.half = 0;
        check_pieces();
    }
}

static const struct test_case cases[] = {TEST(told_at_sync_and_kept), TEST(one_rank_fails),
                                         TEST(told_at_close),         TEST(told_at_the_call),
                                         TEST(short_writes),          {0}};

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    int code = test_main_mpi(argc, argv, cases);
    nodes_forget();
    MPI_Finalize();
    return code;
}
