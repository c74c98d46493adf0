/* Nonblocking operations: completed by every function that MPI has for it, in any order,
 * telling the truth. */
#include "calls.h"
#include "expect.h"

enum {
    N = 2000
};

static int data[N], got[N];

/* Ints of this rank behind those of the ranks before. */
static MPI_File open_mine(void)
{
    MPI_File fh = open_new();
    for (int i = 0; i < N; i++)
        data[i] = test_rank * N + i;
    memset(got, 0, sizeof got);
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * N * 4, MPI_INT, MPI_INT, "native",
                         MPI_INFO_NULL));
    return fh;
}

/* ---- Completion by each of them; each gets `n` live requests -------------------------------
 */

static void by_wait(int n, MPI_Request *req, MPI_Status *st)
{
    for (int i = n - 1; i >= 0; i--)
        OK(MPI_Wait(&req[i], &st[i]));
}

static void by_test(int n, MPI_Request *req, MPI_Status *st)
{
    for (int i = 0; i < n; i++)
        for (int done = 0; !done;)
            OK(MPI_Test(&req[i], &done, &st[i]));
}

static void by_waitall(int n, MPI_Request *req, MPI_Status *st)
{
    OK(MPI_Waitall(n, req, st));
}

static void by_testall(int n, MPI_Request *req, MPI_Status *st)
{
    for (int done = 0; !done;)
        OK(MPI_Testall(n, req, &done, st));
}

static void by_waitany(int n, MPI_Request *req, MPI_Status *st)
{
    for (int left = n; left > 0; left--) {
        MPI_Status one;
        int which = -1;
        OK(MPI_Waitany(n, req, &which, &one));
        CHECK(which >= 0 && which < n, "index %d", which);
        if (which >= 0 && which < n)
            st[which] = one;
    }
}

static void by_testany(int n, MPI_Request *req, MPI_Status *st)
{
    for (int left = n; left > 0;) {
        MPI_Status one;
        int which = -1, done = 0;
        OK(MPI_Testany(n, req, &which, &done, &one));
        if (done) {
            CHECK(which >= 0 && which < n, "index %d", which);
            if (which < 0)
                return;
            st[which] = one;
            left--;
        }
    }
}

static void by_some(int n, MPI_Request *req, MPI_Status *st, int test)
{
    int which[16], some;
    MPI_Status part[16];
    for (int left = n; left > 0; left -= some) {
        if (test)
            OK(MPI_Testsome(n, req, &some, which, part));
        else
            OK(MPI_Waitsome(n, req, &some, which, part));
        CHECK(some >= 0 && some <= left, "%d of %d", some, left);
        if (some < 0)
            return;
        for (int i = 0; i < some; i++)
            st[which[i]] = part[i];
    }
}

static void by_waitsome(int n, MPI_Request *req, MPI_Status *st)
{
    by_some(n, req, st, 0);
}

static void by_testsome(int n, MPI_Request *req, MPI_Status *st)
{
    by_some(n, req, st, 1);
}

static void by_get_status(int n, MPI_Request *req, MPI_Status *st)
{
    for (int i = 0; i < n; i++) {
        for (int done = 0; !done;)
            OK(MPI_Request_get_status(req[i], &done, &st[i]));
        CHECK(req[i] != MPI_REQUEST_NULL, "it does not free the request");
        OK(MPI_Wait(&req[i], &st[i]));
    }
}

static void (*const ways[])(int n, MPI_Request *req, MPI_Status *st) = {
    by_wait,    by_test,     by_waitall,  by_testall,   by_waitany,
    by_testany, by_waitsome, by_testsome, by_get_status};
enum {
    WAYS = sizeof ways / sizeof ways[0]
};

/* ---- Cases
 * ----------------------------------------------------------------------------------- */

static void check_all(int n, MPI_Request *req, MPI_Status *st, int each, int way)
{
    for (int i = 0; i < n; i++) {
        CHECK(req[i] == MPI_REQUEST_NULL, "way %d: request %d is left", way, i);
        CHECK(status_count(&st[i], MPI_INT) == each, "way %d: count %d", way,
              status_count(&st[i], MPI_INT));
        int cancelled = 1;
        MPI_Test_cancelled(&st[i], &cancelled);
        CHECK(!cancelled, "way %d: cancelled", way);
    }
}

static void every_completion(void)
{
    enum {
        OPS = 10,
        EACH = N / OPS
    };
    MPI_File fh = open_mine();
    for (int w = 0; w < WAYS; w++) {
        MPI_Request req[OPS];
        MPI_Status st[OPS];
        for (int i = 0; i < N; i++)
            data[i] += w;
        memset(got, 0, sizeof got);
        for (int i = 0; i < OPS; i++)
            OK(MPI_File_iwrite_at(fh, i * EACH, data + i * EACH, EACH, MPI_INT, &req[i]));
        ways[w](OPS, req, st);
        check_all(OPS, req, st, EACH, w);
        for (int i = 0; i < OPS; i++)
            OK(MPI_File_iread_at(fh, i * EACH, got + i * EACH, EACH, MPI_INT, &req[i]));
        ways[w](OPS, req, st);
        check_all(OPS, req, st, EACH, w);
        CHECK(memcmp(got, data, sizeof got) == 0, "way %d: data", w);
    }
    OK(MPI_File_close(&fh));
}

/* Collective ones: begun in the same order everywhere, completed in another on each rank. */
static void collectives_in_any_order(void)
{
    enum {
        OPS = 6,
        EACH = 300
    };
    MPI_File fh = open_mine();
    for (int w = 0; w < WAYS; w++) {
        MPI_Request req[OPS];
        MPI_Status st[OPS];
        for (int i = 0; i < OPS; i++)
            OK(MPI_File_iwrite_at_all(fh, i * EACH, data + i * EACH, EACH, MPI_INT, &req[i]));
        if (w == 0) {
            for (int k = 0; k < OPS; k++) {
                int i = (k + test_rank) % OPS;
                OK(MPI_Wait(&req[i], &st[i]));
            }
        } else {
            ways[(w + test_rank) % WAYS](OPS, req, st); /* another way on each rank, too */
        }
        check_all(OPS, req, st, EACH, w);
        memset(got, 0, sizeof got);
        OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
        for (int i = 0; i < OPS; i++)
            OK(MPI_File_iread_all(fh, got + i * EACH, EACH, MPI_INT, &req[i]));
        ways[(w + 2 * test_rank) % WAYS](OPS, req, st);
        check_all(OPS, req, st, EACH, w);
        CHECK(memcmp(got, data, OPS * EACH * 4) == 0, "way %d: data", w);
    }
    OK(MPI_File_close(&fh));
}

/* Requests of files and of messages in one array. */
static void among_messages(void)
{
    MPI_File fh = open_mine();
    int out = test_rank, in = -1, next = (test_rank + 1) % test_nranks,
        before = (test_rank + test_nranks - 1) % test_nranks;
    for (int w = 0; w < WAYS; w++) {
        MPI_Request req[4];
        MPI_Status st[4];
        MPI_Irecv(&in, 1, MPI_INT, before, 5, MPI_COMM_WORLD, &req[0]);
        OK(MPI_File_iwrite_at(fh, 0, data, N / 2, MPI_INT, &req[1]));
        MPI_Isend(&out, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &req[2]);
        OK(MPI_File_iwrite_at_all(fh, N / 2, data + N / 2, N / 2, MPI_INT, &req[3]));
        ways[w](4, req, st);
        CHECK(in == before, "message from %d", in);
        CHECK(status_count(&st[0], MPI_INT) == 1 && st[0].MPI_SOURCE == before, "receive");
        CHECK(status_count(&st[1], MPI_INT) == N / 2, "way %d: write", w);
        CHECK(status_count(&st[3], MPI_INT) == N / 2, "way %d: collective write", w);
    }
    OK(MPI_File_read_at(fh, 0, got, N, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(memcmp(got, data, sizeof got) == 0, "data");
    OK(MPI_File_close(&fh));
}

/* The datatype belongs to the operation from the call on. */
static void type_freed_at_once(void)
{
    enum {
        OPS = 8,
        EACH = 100
    };
    MPI_File fh = open_mine();
    MPI_Request req[OPS];
    MPI_Status st[OPS];
    for (int i = 0; i < OPS; i++) {
        MPI_Datatype v, other;
        MPI_Type_vector(EACH, 1, 2, MPI_INT, &v);
        MPI_Type_commit(&v);
        if (i % 2)
            OK(MPI_File_iwrite_at(fh, i * EACH, data + i * 2 * EACH, 1, v, &req[i]));
        else
            OK(MPI_File_iwrite_at_all(fh, i * EACH, data + i * 2 * EACH, 1, v, &req[i]));
        MPI_Type_free(&v);
        MPI_Type_vector(EACH, 1, 3, MPI_INT, &other); /* may get the same handle */
        MPI_Type_commit(&other);
        MPI_Type_free(&other);
    }
    OK(MPI_Waitall(OPS, req, st));
    OK(MPI_File_read_at(fh, 0, got, OPS * EACH, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < OPS * EACH; i++)
        if (got[i] != data[2 * i]) {
            CHECK(0, "%d: %d, not %d", i, got[i], data[2 * i]);
            break;
        }
    OK(MPI_File_close(&fh));
}

/* What a read finds is known when it completes, also in collectives, also at end of file. */
static void true_counts(void)
{
    MPI_File fh = open_new();
    MPI_Request req;
    MPI_Status st;
    int last = test_rank == test_nranks - 1;
    OK(MPI_File_set_size(fh, (MPI_Offset)test_nranks * 400 - 60));
    OK(MPI_File_iread_at(fh, test_rank * 400, got, 100, MPI_INT, &req));
    OK(MPI_Wait(&req, &st));
    CHECK(status_count(&st, MPI_INT) == (last ? 85 : 100), "count %d",
          status_count(&st, MPI_INT));
    OK(MPI_File_iread_at_all(fh, test_rank * 400, got, 100, MPI_INT, &req));
    OK(MPI_Wait(&req, &st));
    CHECK(status_count(&st, MPI_INT) == (last ? 85 : 100), "collective: count %d",
          status_count(&st, MPI_INT));
    OK(MPI_File_iread_at_all(fh, test_nranks * 400, got, 100, MPI_INT, &req));
    OK(MPI_Wait(&req, &st));
    CHECK(status_count(&st, MPI_INT) == 0, "behind the end: count %d",
          status_count(&st, MPI_INT));
    OK(MPI_File_iwrite_at_all(fh, 0, data, 0, MPI_INT, &req));
    OK(MPI_Wait(&req, &st));
    CHECK(status_count(&st, MPI_INT) == 0, "nothing: count %d", status_count(&st, MPI_INT));
    OK(MPI_File_close(&fh));
}

/* Compute, talk, and use other files while operations are under way. */
static void work_meanwhile(void)
{
    MPI_File fh = open_mine(), other;
    MPI_Request req[3];
    MPI_Status st[3];
    double sum = 0, all;
    char path[700];
    snprintf(path, sizeof path, "%s", other_file("o"));
    OK(MPI_File_iwrite_at_all(fh, 0, data, N, MPI_INT, &req[0]));
    OK(MPI_File_open(MPI_COMM_WORLD, path,
                     MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &other));
    OK(MPI_File_iwrite_at_all(other, test_rank * N * 4, data, N, MPI_INT, &req[1]));
    for (int i = 1; i < 200000; i++)
        sum += 1.0 / i;
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all > 12.0 * test_nranks, "%g", all);
    OK(MPI_File_write_at_all(other, (test_nranks + test_rank) * N * 4, data, N, MPI_INT,
                             MPI_STATUS_IGNORE));
    OK(MPI_Wait(&req[1], &st[1]));
    OK(MPI_Wait(&req[0], &st[0]));
    CHECK(status_count(&st[0], MPI_INT) == N && status_count(&st[1], MPI_INT) == N, "counts");
    OK(MPI_File_iread_at(other, test_rank * N * 4, got, N, MPI_INT, &req[2]));
    OK(MPI_Wait(&req[2], &st[2]));
    CHECK(memcmp(got, data, sizeof got) == 0, "data");
    OK(MPI_File_close(&other));
    OK(MPI_File_close(&fh));
}

/* A request may be freed before it is done; closing the file finishes it. */
static void freed_request(void)
{
    MPI_File fh = open_mine();
    MPI_Request req;
    OK(MPI_File_iwrite_at(fh, 0, data, N, MPI_INT, &req));
    OK(MPI_Request_free(&req));
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    load_file(test_file(), (int64_t)test_rank * N * 4, got, sizeof got);
    CHECK(memcmp(got, data, sizeof got) == 0, "data");
}

/* A cancelled operation completes all the same. */
static void cancelled(void)
{
    MPI_File fh = open_mine();
    MPI_Request req;
    MPI_Status st;
    OK(MPI_File_iwrite_at(fh, 0, data, N, MPI_INT, &req));
    OK(MPI_Cancel(&req));
    OK(MPI_Wait(&req, &st));
    int flag = 1;
    MPI_Test_cancelled(&st, &flag);
    CHECK(!flag && status_count(&st, MPI_INT) == N, "flag %d, count %d", flag,
          status_count(&st, MPI_INT));
    OK(MPI_File_close(&fh));
}

/* ---- Calls that wait for all ranks while an operation on another file is under way --------
 */

static char beside[560];

static void open_beside(MPI_File *fh)
{
    OK(MPI_File_open(MPI_COMM_WORLD, beside, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                     fh));
}
static void view_beside(MPI_File *fh)
{
    OK(MPI_File_set_view(*fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
}
static void write_beside(MPI_File *fh)
{
    OK(MPI_File_write_at_all(*fh, (MPI_Offset)test_rank * N, data, N, MPI_INT,
                             MPI_STATUS_IGNORE));
}
static void order_beside(MPI_File *fh)
{
    OK(MPI_File_write_ordered(*fh, data, N, MPI_INT, MPI_STATUS_IGNORE));
}
static void split_beside(MPI_File *fh)
{
    OK(MPI_File_write_ordered_begin(*fh, data, N, MPI_INT));
    OK(MPI_File_write_ordered_end(*fh, data, MPI_STATUS_IGNORE));
}
static void seek_beside(MPI_File *fh)
{
    OK(MPI_File_seek_shared(*fh, 0, MPI_SEEK_SET));
}
static void size_beside(MPI_File *fh)
{
    OK(MPI_File_set_size(*fh, 4 * N));
}
static void sync_beside(MPI_File *fh)
{
    OK(MPI_File_sync(*fh));
}
static void atomic_beside(MPI_File *fh)
{
    OK(MPI_File_set_atomicity(*fh, 1));
}
static void info_beside(MPI_File *fh)
{
    OK(MPI_File_set_info(*fh, MPI_INFO_NULL));
}
static void close_beside(MPI_File *fh)
{
    OK(MPI_File_close(fh));
}

/* The last rank completes the operation before it comes to the call, in which all others wait
 * for it: they must go on with the operation from there. */
static void waiting_in_any_call(void)
{
    static void (*const call[])(MPI_File *) = {
        open_beside, view_beside, write_beside, order_beside,  split_beside, seek_beside,
        size_beside, sync_beside, info_beside,  atomic_beside, close_beside,
    };
    MPI_File fh = open_mine(), other = MPI_FILE_NULL;
    MPI_Request req;
    int last = test_rank == test_nranks - 1;
    snprintf(beside, sizeof beside, "%.500s.beside", test_file());
    for (size_t i = 0; i < sizeof call / sizeof *call; i++) {
        OK(MPI_File_iwrite_at_all(fh, 0, data, N, MPI_INT, &req));
        if (last)
            OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        call[i](&other);
        if (!last)
            OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    }
    load_file(test_file(), (int64_t)test_rank * N * 4, got, sizeof got);
    CHECK(memcmp(got, data, sizeof got) == 0, "data");
    OK(MPI_File_close(&fh));
    if (last)
        unlink(beside);
}

static const struct test_case cases[] = {
    TEST(every_completion),    TEST(collectives_in_any_order),
    TEST(among_messages),      TEST(type_freed_at_once),
    TEST(true_counts),         TEST(work_meanwhile),
    TEST(freed_request),       TEST(cancelled),
    TEST(waiting_in_any_call), {0}};
TEST_MAIN(cases)
