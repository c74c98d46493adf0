/* Nonblocking operations under all completion calls: the cases of request.c, where Brio has
 * threads, and of request_nothreads.c, where the calls themselves must drive it. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "check_mpi.h"

enum {
    N = 24,
    BLOCK = 1000
};

static char data[N][BLOCK], back[N][BLOCK];
static MPI_Request reqs[2 * N];
static MPI_Status stats[2 * N];
static int where[2 * N];
/* MPI_STATUSES_IGNORE where the compiler does not see that MPICH's is no array. */
static MPI_Status *volatile no_statuses = MPI_STATUSES_IGNORE;
static int handled; /* calls of the file's error handler */

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void count_calls(MPI_File *fh, int *code, ...)
{
    (void)fh;
    (void)code;
    handled++;
}

static MPI_File open_rw(void)
{
    MPI_File fh;
    int rc = MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                           MPI_INFO_NULL, &fh);
    CHECK(rc == MPI_SUCCESS, "open: %d", rc);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < BLOCK; k++)
            data[i][k] = (char)(test_rank * 31 + i * 7 + k);
    return fh;
}

static MPI_Offset place(int i)
{
    return ((MPI_Offset)i * test_nranks + test_rank) * BLOCK;
}

static void start_writes(MPI_File fh, int n)
{
    for (int i = 0; i < n; i++) {
        int rc = MPI_File_iwrite_at(fh, place(i), data[i], BLOCK, MPI_BYTE, &reqs[i]);
        CHECK(rc == MPI_SUCCESS && reqs[i] != MPI_REQUEST_NULL, "start: %d", rc);
    }
}

static void check_count(const MPI_Status *status, int want)
{
    int bytes = -1, cancelled = 1;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    MPI_Test_cancelled(status, &cancelled);
    CHECK(bytes == want && !cancelled, "%d bytes, cancelled %d", bytes, cancelled);
}

/* What this rank wrote is in the file; ends the case. */
static void check_and_close(MPI_File fh, int n)
{
    MPI_Status status;
    memset(back, 0, sizeof back);
    for (int i = 0; i < n; i++) {
        CHECK(reqs[i] == MPI_REQUEST_NULL, "request %d is not null", i);
        int rc = MPI_File_read_at(fh, place(i), back[i], BLOCK, MPI_BYTE, &status);
        CHECK(rc == MPI_SUCCESS, "read: %d", rc);
        check_count(&status, BLOCK);
        CHECK(memcmp(back[i], data[i], BLOCK) == 0, "block %d is wrong", i);
    }
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS, "close");
}

/* ---- The nine calls --------------------------------------------------------------------- */

static void wait_each(void)
{
    MPI_File fh = open_rw();
    start_writes(fh, N);
    for (int i = N - 1; i >= 0; i--) {
        MPI_Status status = {.MPI_ERROR = 4711};
        CHECK(MPI_Wait(&reqs[i], &status) == MPI_SUCCESS, "wait");
        check_count(&status, BLOCK);
    }
    check_and_close(fh, N);
}

static void wait_all(void)
{
    MPI_File fh = open_rw();
    start_writes(fh, N);
    CHECK(MPI_Waitall(N, reqs, stats) == MPI_SUCCESS, "waitall");
    for (int i = 0; i < N; i++)
        check_count(&stats[i], BLOCK);
    check_and_close(fh, N);
}

static void wait_any(void)
{
    int seen[N] = {0}, index;
    MPI_Status status;
    MPI_File fh = open_rw();
    start_writes(fh, N);
    for (int i = 0; i < N; i++) {
        CHECK(MPI_Waitany(N, reqs, &index, &status) == MPI_SUCCESS, "waitany");
        REQUIRE(index >= 0 && index < N, "index %d", index);
        check_count(&status, BLOCK);
        CHECK(!seen[index]++, "%d came twice", index);
    }
    MPI_Waitany(N, reqs, &index, &status);
    CHECK(index == MPI_UNDEFINED, "index %d", index);
    check_and_close(fh, N);
}

static void wait_some(void)
{
    int left = N, n;
    MPI_File fh = open_rw();
    start_writes(fh, N);
    while (left > 0) {
        CHECK(MPI_Waitsome(N, reqs, &n, where, stats) == MPI_SUCCESS, "waitsome");
        REQUIRE(n > 0 && n <= left, "%d of %d", n, left);
        for (int i = 0; i < n; i++)
            check_count(&stats[i], BLOCK);
        left -= n;
    }
    MPI_Waitsome(N, reqs, &n, where, stats);
    CHECK(n == MPI_UNDEFINED, "%d", n);
    check_and_close(fh, N);
}

static void test_each(void)
{
    MPI_Status status;
    MPI_File fh = open_rw();
    start_writes(fh, N);
    for (int i = 0; i < N; i++) {
        int flag = 0;
        while (!flag)
            CHECK(MPI_Test(&reqs[i], &flag, &status) == MPI_SUCCESS, "test");
        check_count(&status, BLOCK);
    }
    check_and_close(fh, N);
}

static void test_all(void)
{
    int flag = 0;
    MPI_File fh = open_rw();
    start_writes(fh, N);
    while (!flag) {
        CHECK(MPI_Testall(N, reqs, &flag, stats) == MPI_SUCCESS, "testall");
        CHECK(flag || reqs[0] != MPI_REQUEST_NULL, "a request is gone before its time");
    }
    for (int i = 0; i < N; i++)
        check_count(&stats[i], BLOCK);
    check_and_close(fh, N);
}

static void test_any(void)
{
    int left = N, index, flag;
    MPI_Status status;
    MPI_File fh = open_rw();
    start_writes(fh, N);
    while (left > 0) {
        CHECK(MPI_Testany(N, reqs, &index, &flag, &status) == MPI_SUCCESS, "testany");
        if (!flag)
            continue;
        REQUIRE(index >= 0 && index < N, "index %d", index);
        check_count(&status, BLOCK);
        left--;
    }
    check_and_close(fh, N);
}

static void test_some(void)
{
    int left = N, n;
    MPI_File fh = open_rw();
    start_writes(fh, N);
    while (left > 0) {
        CHECK(MPI_Testsome(N, reqs, &n, where, stats) == MPI_SUCCESS, "testsome");
        REQUIRE(n >= 0 && n <= left, "%d of %d", n, left);
        for (int i = 0; i < n; i++)
            check_count(&stats[i], BLOCK);
        left -= n;
    }
    check_and_close(fh, N);
}

static void get_status(void)
{
    MPI_Status status;
    int flag = 0;
    MPI_File fh = open_rw();
    start_writes(fh, 1);
    while (!flag)
        CHECK(MPI_Request_get_status(reqs[0], &flag, &status) == MPI_SUCCESS, "get_status");
    check_count(&status, BLOCK);
    CHECK(reqs[0] != MPI_REQUEST_NULL, "get_status freed it");
    CHECK(MPI_Wait(&reqs[0], &status) == MPI_SUCCESS, "wait");
    check_count(&status, BLOCK);
    check_and_close(fh, 1);
}

static void ignored_statuses(void)
{
    int n, index, flag = 0, left = N - 3;
    MPI_File fh = open_rw();
    start_writes(fh, N);
    CHECK(MPI_Wait(&reqs[0], MPI_STATUS_IGNORE) == MPI_SUCCESS, "wait");
    while (!flag)
        MPI_Test(&reqs[1], &flag, MPI_STATUS_IGNORE);
    CHECK(MPI_Waitany(1, &reqs[2], &index, MPI_STATUS_IGNORE) == MPI_SUCCESS, "waitany");
    while (left > N / 2) {
        MPI_Waitsome(N, reqs, &n, where, no_statuses);
        left -= n;
    }
    CHECK(MPI_Waitall(N, reqs, no_statuses) == MPI_SUCCESS, "waitall");
    check_and_close(fh, N);
}

/* ---- Together with other requests ---------------------------------------------------------
 */

static void mixed_with_messages(void)
{
    int out[N], in[N];
    int to = (test_rank + 1) % test_nranks, from = (test_rank + test_nranks - 1) % test_nranks;
    MPI_File fh = open_rw();
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < N; i++) {
            out[i] = test_rank * 1000 + i + round;
            in[i] = -1;
        }
        int n = 0;
        for (int i = 0; i < N / 3; i++) {
            MPI_File_iwrite_at(fh, place(i), data[i], BLOCK, MPI_BYTE, &reqs[n++]);
            MPI_Irecv(&in[i], 1, MPI_INT, from, i, MPI_COMM_WORLD, &reqs[n++]);
            MPI_Isend(&out[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &reqs[n++]);
            reqs[n++] = MPI_REQUEST_NULL;
        }
        int rc = MPI_Waitall(n, reqs, stats);
        CHECK(rc == MPI_SUCCESS, "waitall: %d", rc);
        for (int i = 0; i < N / 3; i++) {
            CHECK(in[i] == from * 1000 + i + round, "message %d: %d", i, in[i]);
            check_count(&stats[4 * i], BLOCK);
            CHECK(stats[4 * i + 1].MPI_SOURCE == from, "from %d", stats[4 * i + 1].MPI_SOURCE);
        }
    }
    check_and_close(fh, N / 3);
}

static void with_persistent_requests(void)
{
    int out = 17, in = 0, flag;
    MPI_Request own[2];
    MPI_File fh = open_rw();
    MPI_Send_init(&out, 1, MPI_INT, test_rank, 5, MPI_COMM_WORLD, &own[0]);
    MPI_Recv_init(&in, 1, MPI_INT, test_rank, 5, MPI_COMM_WORLD, &own[1]);
    start_writes(fh, 4);
    CHECK(MPI_Testall(2, own, &flag, no_statuses) == MPI_SUCCESS && flag, "inactive");
    MPI_Startall(2, own);
    CHECK(MPI_Waitall(2, own, no_statuses) == MPI_SUCCESS && in == 17, "got %d", in);
    CHECK(own[0] != MPI_REQUEST_NULL && own[1] != MPI_REQUEST_NULL, "persistent ones are gone");
    MPI_Request_free(&own[0]);
    MPI_Request_free(&own[1]);
    MPI_Waitall(4, reqs, no_statuses);
    check_and_close(fh, 4);
}

/* Waiting for a message must not stop an operation that its sender waits for first. */
static void messages_do_not_block_collectives(void)
{
    MPI_File fh = open_rw();
    MPI_Request message = MPI_REQUEST_NULL;
    int token = 0;
    for (int round = 0; round < 20; round++) {
        MPI_File_iwrite_at_all(fh, place(0), data[0], BLOCK, MPI_BYTE, &reqs[0]);
        if (test_rank > 0) {
            MPI_Irecv(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &message);
            MPI_Wait(&message, MPI_STATUS_IGNORE);
            CHECK(token == round, "%d in round %d", token, round);
        }
        CHECK(MPI_Wait(&reqs[0], MPI_STATUS_IGNORE) == MPI_SUCCESS, "wait");
        for (int r = 1; test_rank == 0 && r < test_nranks; r++)
            MPI_Send(&round, 1, MPI_INT, r, 9, MPI_COMM_WORLD);
    }
    check_and_close(fh, 1);
}

static void many_at_once(void)
{
    enum {
        MANY = 2000,
        SMALL = 64
    };
    static char out[MANY][SMALL], in[MANY][SMALL];
    static MPI_Request r[MANY];
    MPI_File fh = open_rw();
    for (int i = 0; i < MANY; i++) {
        memset(out[i], i + test_rank, SMALL);
        MPI_Offset at = ((MPI_Offset)i * test_nranks + test_rank) * SMALL;
        MPI_File_iwrite_at(fh, at, out[i], SMALL, MPI_BYTE, &r[i]);
    }
    CHECK(MPI_Waitall(MANY, r, no_statuses) == MPI_SUCCESS, "waitall");
    for (int i = 0; i < MANY; i++) {
        MPI_Offset at = ((MPI_Offset)i * test_nranks + test_rank) * SMALL;
        MPI_File_iread_at(fh, at, in[i], SMALL, MPI_BYTE, &r[i]);
    }
    CHECK(MPI_Waitall(MANY, r, no_statuses) == MPI_SUCCESS, "waitall");
    CHECK(memcmp(in, out, sizeof in) == 0, "what was read is not what was written");
    MPI_File_close(&fh);
}

static void many_collectives(void)
{
    MPI_File fh = open_rw();
    for (int i = 0; i < N; i++)
        MPI_File_iwrite_at_all(fh, place(i), data[i], BLOCK, MPI_BYTE, &reqs[i]);
    CHECK(MPI_Waitall(N, reqs, stats) == MPI_SUCCESS, "waitall");
    for (int i = 0; i < N; i++)
        check_count(&stats[i], BLOCK);
    memset(back, 0, sizeof back);
    for (int i = 0; i < N; i++)
        MPI_File_iread_at_all(fh, place(i), back[i], BLOCK, MPI_BYTE, &reqs[i]);
    CHECK(MPI_Waitall(N, reqs, stats) == MPI_SUCCESS, "waitall");
    CHECK(memcmp(back, data, sizeof back) == 0, "what was read is not what was written");
    check_and_close(fh, N);
}

/* ---- Freed and cancelled -------------------------------------------------------------------
 */

static void freed_requests_still_write(void)
{
    MPI_File fh = open_rw();
    start_writes(fh, N);
    for (int i = 0; i < N; i++)
        CHECK(MPI_Request_free(&reqs[i]) == MPI_SUCCESS, "free");
    MPI_File_close(&fh); /* completes them */
    fh = open_rw();
    check_and_close(fh, N);
}

static void cancel_is_ignored(void)
{
    MPI_Status status;
    MPI_File fh = open_rw();
    start_writes(fh, 1);
    CHECK(MPI_Cancel(&reqs[0]) == MPI_SUCCESS, "cancel");
    CHECK(MPI_Wait(&reqs[0], &status) == MPI_SUCCESS, "wait");
    check_count(&status, BLOCK);
    check_and_close(fh, 1);
}

static void end_of_file_is_counted(void)
{
    MPI_Status status;
    int got;
    MPI_File fh = open_rw();
    if (test_rank == 0)
        MPI_File_write_at(fh, 0, data[0], 10, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(fh);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(fh);
    MPI_File_iread_at(fh, 4, back[0], BLOCK, MPI_BYTE, &reqs[0]);
    CHECK(MPI_Wait(&reqs[0], &status) == MPI_SUCCESS, "wait");
    check_count(&status, 6);
    MPI_File_iread_at(fh, 2, back[0], BLOCK / 4, MPI_INT, &reqs[0]);
    MPI_Wait(&reqs[0], &status);
    MPI_Get_count(&status, MPI_INT, &got);
    CHECK(got == 2, "%d ints", got);
    MPI_File_close(&fh);
}

/* ---- Failures -------------------------------------------------------------------------------
 */

enum {
    LIMIT = 1 << 20
};

/* From here on the system refuses to write beyond LIMIT bytes: a failure that shows only when
 * the bytes move. */
static void limit_size(bool on)
{
    struct rlimit lim;
    getrlimit(RLIMIT_FSIZE, &lim);
    lim.rlim_cur = on ? LIMIT : lim.rlim_max;
    setrlimit(RLIMIT_FSIZE, &lim);
    signal(SIGXFSZ, on ? SIG_IGN : SIG_DFL);
}

static MPI_File open_handled(void)
{
    MPI_Errhandler eh;
    MPI_File fh = open_rw();
    MPI_File_create_errhandler(count_calls, &eh);
    MPI_File_set_errhandler(fh, eh);
    MPI_Errhandler_free(&eh);
    handled = 0;
    limit_size(true);
    return fh;
}

static void close_handled(MPI_File fh)
{
    limit_size(false);
    MPI_File_close(&fh);
}

/* Request i fails if i is odd. */
static void start_failing(MPI_File fh, int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Offset at = i % 2 ? 2 * LIMIT + place(i) : place(i);
        int rc = MPI_File_iwrite_at(fh, at, data[i], BLOCK, MPI_BYTE, &reqs[i]);
        CHECK(rc == MPI_SUCCESS, "start: %d", rc);
    }
}

static void check_failure(int i, int code)
{
    int class = class_of(code);
    bool failed = class == MPI_ERR_QUOTA || class == MPI_ERR_IO;
    CHECK(i % 2 ? failed : code == MPI_SUCCESS, "request %d: class %d", i, class);
}

static void failure_in_wait_and_test(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int len, flag = 0, code = MPI_SUCCESS;
    MPI_Status status;
    MPI_File fh = open_handled();
    start_failing(fh, 4);
    check_failure(0, MPI_Wait(&reqs[0], &status));
    code = MPI_Wait(&reqs[1], &status);
    check_failure(1, code);
    check_count(&status, 0);
    MPI_Error_string(code, text, &len);
    CHECK(strstr(text, "brio: rank") && strstr(text, "request"), "%s", text);
    while (!flag)
        code = MPI_Test(&reqs[3], &flag, &status);
    check_failure(3, code);
    check_failure(2, MPI_Wait(&reqs[2], &status));
    CHECK(handled == 2, "the handler was called %d times", handled);
    for (int i = 0; i < 4; i++)
        CHECK(reqs[i] == MPI_REQUEST_NULL, "request %d", i);
    close_handled(fh);
}

static void failure_in_any(void)
{
    int index, flag;
    MPI_File fh = open_handled();
    start_failing(fh, N);
    for (int i = 0; i < N / 2; i++) {
        int code = MPI_Waitany(N, reqs, &index, MPI_STATUS_IGNORE);
        check_failure(index, code);
    }
    for (int i = N / 2; i < N;) {
        int code = MPI_Testany(N, reqs, &index, &flag, MPI_STATUS_IGNORE);
        if (flag) {
            check_failure(index, code);
            i++;
        }
    }
    CHECK(handled == N / 2, "the handler was called %d times", handled);
    close_handled(fh);
}

static void failure_in_all(void)
{
    int flag = 0, rc = MPI_SUCCESS;
    MPI_File fh = open_handled();
    for (int by_test = 0; by_test < 2; by_test++) {
        start_failing(fh, N);
        MPI_Irecv(&flag, 0, MPI_INT, test_rank, 3, MPI_COMM_WORLD, &reqs[N]);
        MPI_Isend(&flag, 0, MPI_INT, test_rank, 3, MPI_COMM_WORLD, &reqs[N + 1]);
        for (int i = 0; i < N + 2; i++)
            stats[i].MPI_ERROR = 4711;
        if (!by_test)
            rc = MPI_Waitall(N + 2, reqs, stats);
        for (flag = 0; by_test && !flag;)
            rc = MPI_Testall(N + 2, reqs, &flag, stats);
        CHECK(class_of(rc) == MPI_ERR_IN_STATUS, "class %d", class_of(rc));
        for (int i = 0; i < N; i++) {
            check_failure(i, stats[i].MPI_ERROR);
            check_count(&stats[i], i % 2 ? 0 : BLOCK);
        }
        CHECK(stats[N].MPI_ERROR == MPI_SUCCESS, "%d", stats[N].MPI_ERROR);
        CHECK(stats[N + 1].MPI_ERROR == MPI_SUCCESS, "%d", stats[N + 1].MPI_ERROR);
        CHECK(handled == N / 2, "the handler was called %d times", handled);
        handled = 0;
    }
    start_failing(fh, 2);
    rc = MPI_Waitall(2, reqs, no_statuses);
    CHECK(class_of(rc) == MPI_ERR_IN_STATUS, "statuses ignored: class %d", class_of(rc));
    close_handled(fh);
}

static void failure_in_some(void)
{
    int left = N, n;
    MPI_File fh = open_handled();
    start_failing(fh, N);
    while (left > 0) {
        bool failed = false;
        int rc = left > N / 2 ? MPI_Waitsome(N, reqs, &n, where, stats)
                              : MPI_Testsome(N, reqs, &n, where, stats);
        for (int i = 0; i < n; i++)
            failed |= where[i] % 2 == 1;
        CHECK(class_of(rc) == (failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS), "class %d",
              class_of(rc));
        for (int i = 0; failed && i < n; i++)
            check_failure(where[i], stats[i].MPI_ERROR);
        left -= n;
    }
    CHECK(handled == N / 2, "the handler was called %d times", handled);
    close_handled(fh);
}

/* The failure is told by the call that completes the request, not before. */
static void failure_after_get_status(void)
{
    int flag = 0;
    MPI_File fh = open_handled();
    start_failing(fh, 2);
    while (!flag)
        CHECK(MPI_Request_get_status(reqs[1], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS,
              "early");
    CHECK(handled == 0, "the handler was called %d times", handled);
    check_failure(1, MPI_Wait(&reqs[1], MPI_STATUS_IGNORE));
    CHECK(handled == 1, "the handler was called %d times", handled);
    MPI_Wait(&reqs[0], MPI_STATUS_IGNORE);
    close_handled(fh);
}

static void failure_of_a_collective(void)
{
    MPI_File fh = open_rw();
    MPI_File_close(&fh);
    MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDONLY, MPI_INFO_NULL, &fh);
    int rc = MPI_File_iwrite_at_all(fh, 0, data[0], BLOCK, MPI_BYTE, &reqs[0]);
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(&reqs[0], MPI_STATUS_IGNORE);
    CHECK(class_of(rc) == MPI_ERR_READ_ONLY, "class %d", class_of(rc));
    MPI_File_close(&fh);
}

static void failure_at_the_start(void)
{
    MPI_File fh = open_rw();
    memset(&reqs[0], 1, sizeof reqs[0]);
    int rc = MPI_File_iwrite_at(fh, 0, data[0], -1, MPI_BYTE, &reqs[0]);
    CHECK(class_of(rc) == MPI_ERR_COUNT, "class %d", class_of(rc));
    CHECK(reqs[0] == MPI_REQUEST_NULL, "a request came back");
    MPI_File_close(&fh);
}

/* The program is told the level it asked for. */
static void thread_level(void)
{
    int level = -1;
    MPI_Query_thread(&level);
    CHECK(level == MPI_THREAD_SINGLE, "level %d", level);
}

static const struct test_case cases[] = {TEST(thread_level),
                                         TEST(wait_each),
                                         TEST(wait_all),
                                         TEST(wait_any),
                                         TEST(wait_some),
                                         TEST(test_each),
                                         TEST(test_all),
                                         TEST(test_any),
                                         TEST(test_some),
                                         TEST(get_status),
                                         TEST(ignored_statuses),
                                         TEST(mixed_with_messages),
                                         TEST(with_persistent_requests),
                                         TEST(messages_do_not_block_collectives),
                                         TEST(many_at_once),
                                         TEST(many_collectives),
                                         TEST(freed_requests_still_write),
                                         TEST(cancel_is_ignored),
                                         TEST(end_of_file_is_counted),
                                         TEST(failure_in_wait_and_test),
                                         TEST(failure_in_any),
                                         TEST(failure_in_all),
                                         TEST(failure_in_some),
                                         TEST(failure_after_get_status),
                                         TEST(failure_of_a_collective),
                                         TEST(failure_at_the_start),
                                         {0}};
