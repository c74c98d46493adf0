/* A collective access in which one rank's system calls fail: every rank gets an error and a
 * count of bytes that are really in the file (or in the buffer), and the next access works. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "coll_modules.h"

#include "calls.h"

enum {
    BLOCK = 48, /* bytes of a rank before the next one's */
    NBLOCKS = 150,
    BYTES = BLOCK * NBLOCKS
};

/* ---- The system ---------------------------------------------------------------------------
 */

/* Calls of the library come here, for the program's symbols go first. Bytes of the file at
 * `from` and beyond cannot be moved: a call that begins below is short. */
static struct {
    int write, read; /* what fails */
    int err;
    int64_t from;
    int memory; /* there is none for what a rank has, or a little more */
} sys;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum {
    OWN_MEMORY = 0 /* the sanitizer has the allocator for itself */
};
#else
enum {
    OWN_MEMORY = 1
};
void *__libc_calloc(size_t n, size_t size);
#endif

static long willing(int fails, long len, int64_t off)
{
    if (!fails || off + len <= sys.from)
        return len;
    if (off < sys.from)
        return (long)(sys.from - off);
    errno = sys.err;
    return -1;
}

/* Seen by the library instead of the system's. */
#pragma GCC visibility push(default)

ssize_t pwrite(int fd, const void *buf, size_t len, off_t off)
{
    long n = willing(sys.write, (long)len, off);
    return n < 0 ? n : syscall(SYS_pwrite64, fd, buf, (size_t)n, off);
}

ssize_t pread(int fd, void *buf, size_t len, off_t off)
{
    long n = willing(sys.read, (long)len, off);
    return n < 0 ? n : syscall(SYS_pread64, fd, buf, (size_t)n, off);
}

/* A vector that is cut short moves its first piece only, or a part of it. */
static ssize_t vectored(long number, int fails, int fd, const struct iovec *iov, int niov,
                        off_t off)
{
    long len = 0;
    for (int i = 0; i < niov; i++)
        len += (long)iov[i].iov_len;
    long n = willing(fails, len, off);
    if (n < 0)
        return n;
    if (n == len)
        return syscall(number, fd, iov, niov, off, 0);
    struct iovec first = iov[0];
    if (first.iov_len > (size_t)n)
        first.iov_len = (size_t)n;
    return syscall(number, fd, &first, 1, off, 0);
}

ssize_t pwritev(int fd, const struct iovec *iov, int niov, off_t off)
{
    return vectored(SYS_pwritev, sys.write, fd, iov, niov, off);
}

ssize_t preadv(int fd, const struct iovec *iov, int niov, off_t off)
{
    return vectored(SYS_preadv, sys.read, fd, iov, niov, off);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void *calloc(size_t n, size_t size)
{
    if (sys.memory && n * size >= BYTES && n * size <= BYTES + 64) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_calloc(n, size);
}
#endif

#pragma GCC visibility pop

static void limit_file(int64_t bytes)
{
    struct rlimit now;
    getrlimit(RLIMIT_FSIZE, &now);
    now.rlim_cur = bytes < 0 ? now.rlim_max : (rlim_t)bytes;
    setrlimit(RLIMIT_FSIZE, &now);
}

enum fault {
    WRITE_EIO,    /* nothing can be written */
    WRITE_ENOSPC, /* the second half cannot */
    WRITE_LIMIT,  /* the kernel itself refuses it (RLIMIT_FSIZE) */
    READ_EIO,     /* the second half cannot be read */
    WRITE_ENOMEM, /* no memory for data on its way to an owner, */
    READ_ENOMEM,  /* or from one */
    FAULTS
};

static int is_write(enum fault fault)
{
    return fault != READ_EIO && fault != READ_ENOMEM;
}

static void arm(enum fault fault)
{
    int64_t half = (int64_t)test_nranks * BYTES / 2;
    memset(&sys, 0, sizeof sys);
    sys.write = fault == WRITE_EIO || fault == WRITE_ENOSPC;
    sys.read = fault == READ_EIO;
    sys.memory = fault == WRITE_ENOMEM || fault == READ_ENOMEM;
    sys.err = fault == WRITE_ENOSPC ? ENOSPC : EIO;
    sys.from = fault == WRITE_EIO ? 0 : half;
    if (fault == WRITE_LIMIT)
        limit_file(half);
}

static void disarm(void)
{
    sys.write = sys.read = sys.memory = 0;
    limit_file(-1);
}

/* ---- Data ---------------------------------------------------------------------------------
 */

/* Data byte i of a rank in one generation of the file; never twice the same in a row. */
static unsigned char value_at(int rank, int i, int generation)
{
    return (unsigned char)((rank * 31 + i * 7 + generation * 83) % 251);
}

static int64_t place_of(int rank, int i)
{
    return ((int64_t)(i / BLOCK) * test_nranks + rank) * BLOCK + i % BLOCK;
}

static void fill(unsigned char *buf, int generation)
{
    for (int i = 0; i < BYTES; i++)
        buf[i] = value_at(test_rank, i, generation);
}

/* How many leading data bytes of this rank are in the file. */
static int bytes_there(int generation)
{
    size_t size = (size_t)test_nranks * BYTES;
    unsigned char *all = malloc(size);
    int n = 0;
    if (!all)
        abort();
    load_file(test_file(), 0, all, size);
    while (n < BYTES && all[place_of(test_rank, n)] == value_at(test_rank, n, generation))
        n++;
    free(all);
    return n;
}

static void set_blocks_view(MPI_File fh)
{
    MPI_Datatype vector;
    MPI_Type_vector(NBLOCKS, BLOCK, BLOCK * test_nranks, MPI_BYTE, &vector);
    MPI_Type_commit(&vector);
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * BLOCK, MPI_BYTE, vector, "native",
                         MPI_INFO_NULL));
    MPI_Type_free(&vector);
}

/* ---- Trials -------------------------------------------------------------------------------
 */

static int move(MPI_File fh, int write, enum kind kind, unsigned char *buf, int *bytes)
{
    MPI_Status st;
    struct call c = {kind, 0, buf, BYTES, MPI_BYTE, 1};
    memset(&st, 0xff, sizeof st);
    MPI_Status_set_elements(&st, MPI_BYTE, 0);
    int err = write ? call_write(fh, &c, &st) : call_read(fh, &c, &st);
    *bytes = (int)status_bytes(&st);
    return err;
}

static void whole_write(MPI_File fh, enum kind kind, int generation, const char *when)
{
    static unsigned char buf[BYTES];
    int bytes;
    fill(buf, generation);
    int err = move(fh, 1, kind, buf, &bytes);
    CHECK(err == MPI_SUCCESS && bytes == BYTES, "%s: wrote %d bytes: %s", when, bytes,
          error_text(err));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(bytes_there(generation) == BYTES, "%s: %d bytes are in the file", when,
          bytes_there(generation));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void whole_read(MPI_File fh, enum kind kind, int generation, const char *when)
{
    static unsigned char buf[BYTES], want[BYTES];
    int bytes;
    fill(want, generation);
    memset(buf, 0xEE, BYTES);
    int err = move(fh, 0, kind, buf, &bytes);
    CHECK(err == MPI_SUCCESS && bytes == BYTES, "%s: read %d bytes: %s", when, bytes,
          error_text(err));
    CHECK(memcmp(buf, want, BYTES) == 0, "%s: other data was read", when);
}

/* What a rank's failed access claims must be so. */
static void check_claim(int write, const unsigned char *buf, int bytes, int generation)
{
    int there = 0;
    if (write)
        there = bytes_there(generation);
    else
        while (there < BYTES && buf[there] == value_at(test_rank, there, generation))
            there++;
    CHECK(bytes >= 0 && bytes <= there, "%d bytes are claimed, %d are there", bytes, there);
}

/* One access with the fault on rank `where` (-1: on all). Returns whether it failed, which
 * all ranks must see alike; then somebody's bytes were not moved. */
static int faulty_access(MPI_File fh, enum fault fault, enum kind kind, int where)
{
    static unsigned char buf[BYTES];
    int write = is_write(fault), bytes, generation = write ? 2 : 1;
    if (write)
        fill(buf, 2);
    else
        memset(buf, 0xEE, BYTES);
    if (fault == WRITE_LIMIT && test_rank == 0)
        CHECK(truncate(test_file(), 0) == 0, "truncate");
    MPI_Barrier(MPI_COMM_WORLD);
    if (where < 0 || where == test_rank)
        arm(fault);
    int err = move(fh, write, kind, buf, &bytes);
    disarm();
    MPI_Barrier(MPI_COMM_WORLD);
    check_claim(write, buf, bytes, generation);
    int mine[3] = {err != 0, err == 0, bytes < BYTES}, all[3];
    MPI_Allreduce(mine, all, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(all[0] != all[1], "%s here, another rank sees it otherwise", error_text(err));
    CHECK(!err || all[2], "an error, and every rank claims all of its bytes");
    CHECK(err || bytes == BYTES, "no error, and %d of %d bytes", bytes, BYTES);
    CHECK(where >= 0 || err, "all ranks' calls failed, and no error");
    return err != 0;
}

static int trial(const struct coll_setup *setup, enum fault fault, int where)
{
    static const enum kind kinds[] = {AT_ALL, IAT_ALL, AT_SPLIT};
    enum kind kind = kinds[(where + 1 + (int)fault) % 3];
    int before = test_failed;
    make_file(test_file(), (int64_t)test_nranks * BYTES, 0x7f);
    MPI_File fh = coll_open(setup);
    if (fh == MPI_FILE_NULL)
        return 0;
    set_blocks_view(fh);
    whole_write(fh, kind, 1, "before");
    int failed = faulty_access(fh, fault, kind, where);
    whole_write(fh, kind, 3, "after");
    whole_read(fh, kind, 3, "after");
    OK(MPI_File_close(&fh));
    if (test_failed > before)
        fprintf(stderr, "  rank %d: %s, fault %d on rank %d, kind %d\n", test_rank,
                coll_text(setup), fault, where, kind);
    return failed;
}

static void on_one_rank(enum fault fault)
{
    for (int m = 0; m < coll_count && test_failed < 5; m++) {
        struct coll_setup setup = {.module = coll_name[m],
                                   .nodes = 1,
                                   .owners = m % 2 ? test_nranks : 0,
                                   .buffer = 4096,
                                   .no_sieve = 1};
        int failed = 0;
        for (int where = -1; where < test_nranks; where++)
            failed += trial(&setup, fault, where) && where >= 0;
        CHECK(failed > 0, "%s: whichever rank fails, nobody notices", setup.module);
    }
}

static void write_fails(void)
{
    on_one_rank(WRITE_EIO);
}

static void no_space(void)
{
    on_one_rank(WRITE_ENOSPC);
}

static void file_too_large(void)
{
    on_one_rank(WRITE_LIMIT);
}

static void read_fails(void)
{
    on_one_rank(READ_EIO);
}

/* The same through several nodes, where a module serves them. */
static void on_two_nodes(void)
{
    for (int m = 0; m < coll_count; m++) {
        struct coll_setup setup = {
            .module = coll_name[m], .nodes = 2, .buffer = 4096, .no_sieve = 1};
        trial(&setup, WRITE_ENOSPC, test_nranks - 1);
        trial(&setup, READ_EIO, 0);
    }
}

/* However the data gets to the owner that fails. */
static void by_each_exchange(void)
{
    int failed = 0;
    for (int m = 0; m < coll_count && test_failed < 5; m++)
        for (int way = 0; way <= 3; way++) {
            struct coll_setup setup = {.module = coll_name[m],
                                       .nodes = 1 + m % 2,
                                       .owners = test_nranks,
                                       .buffer = 4096,
                                       .exchange = way,
                                       .packed = way == 0,
                                       .no_sieve = 1};
            failed += trial(&setup, WRITE_ENOSPC, (m + way) % test_nranks);
            failed += trial(&setup, READ_EIO, (m + way) % test_nranks);
        }
    CHECK(failed > 0, "whichever rank fails, nobody notices");
}

/* Where data is passed on from rank to rank, one of which has no memory for it: whose it was,
 * nobody knows, so nobody may claim that it has arrived. */
static void no_memory_on_the_way(void)
{
    int failed = 0;
    if (!OWN_MEMORY)
        SKIP("a sanitizer has the allocator for itself");
    if (test_nranks < 3)
        SKIP("nothing is passed on");
    for (int where = 0; where < test_nranks; where++)
        for (int owners = 1; owners <= 2; owners++) {
            struct coll_setup setup = {.module = "iec", .nodes = 1, .owners = owners};
            failed += trial(&setup, WRITE_ENOMEM, where);
            failed += trial(&setup, READ_ENOMEM, where);
        }
    CHECK(failed > 0, "whichever rank has no memory, nobody notices");
}

/* The kernel gives no shared memory either: data must still come, by another way. */
static void no_shared_memory(void)
{
    for (int m = 0; m < coll_count; m++) {
        struct coll_setup setup = {.module = coll_name[m], .nodes = 1, .buffer = 4096};
        make_file(test_file(), 0, 0);
        MPI_File fh = coll_open(&setup);
        if (fh == MPI_FILE_NULL)
            continue;
        set_blocks_view(fh);
        /* Data by independent access, so that no plan or memory is there yet. */
        static unsigned char buf[BYTES];
        fill(buf, 1);
        OK(MPI_File_write_at(fh, 0, buf, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        sync_all(fh);
        limit_file(0);
        whole_read(fh, AT_ALL, 1, "without");
        whole_read(fh, IAT_ALL, 1, "without");
        limit_file(-1);
        MPI_Barrier(MPI_COMM_WORLD);
        whole_read(fh, AT_ALL, 1, "with");
        whole_write(fh, AT_SPLIT, 2, "with");
        OK(MPI_File_close(&fh));
    }
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {TEST(write_fails),
                                             TEST(no_space),
                                             TEST(file_too_large),
                                             TEST(read_fails),
                                             TEST(on_two_nodes),
                                             TEST(no_shared_memory),
                                             TEST(by_each_exchange),
                                             TEST(no_memory_on_the_way),
                                             {0}};
    MPI_Init(&argc, &argv);
    signal(SIGXFSZ, SIG_IGN);
    coll_list();
    int code = test_main_mpi(argc, argv, cases);
    coll_forget();
    MPI_Finalize();
    return code;
}
