/* Several threads of each rank on one file and on many files. */
#include <pthread.h>

#include "expect.h"

enum {
    THREADS = 4,
    ROUNDS = 60,
    N = 50
};

static MPI_File file;
static int failures[THREADS]; /* CHECK is for one thread: each counts for itself */

struct task {
    int id;
    MPI_File fh;
    MPI_Comm comm;
};

static int64_t region(int id)
{
    return ((int64_t)test_rank * THREADS + id) * ROUNDS * N * 4;
}

static void run_threads(void *(*body)(void *), struct task *tasks)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        failures[i] = 0;
        tasks[i].id = i;
        CHECK(pthread_create(&thread[i], NULL, body, &tasks[i]) == 0, "thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        CHECK(failures[i] == 0, "thread %d: %d failures", i, failures[i]);
    }
}

static void *explicit_offsets(void *arg)
{
    struct task *t = arg;
    int data[N], got[N];
    for (int r = 0; r < ROUNDS; r++) {
        MPI_Offset at = region(t->id) + r * N * 4;
        MPI_Status st;
        MPI_Request req;
        for (int i = 0; i < N; i++)
            data[i] = test_rank * 1000000 + t->id * 100000 + r * 100 + i;
        memset(got, 0, sizeof got);
        int bad = 0;
        if (r % 2) {
            bad |= MPI_File_write_at(file, at, data, N, MPI_INT, &st);
        } else {
            bad |= MPI_File_iwrite_at(file, at, data, N, MPI_INT, &req);
            bad |= MPI_Wait(&req, &st);
        }
        bad |= status_count(&st, MPI_INT) != N;
        bad |= MPI_File_read_at(file, at, got, N, MPI_INT, &st);
        bad |= memcmp(got, data, sizeof got) != 0;
        failures[t->id] += bad != 0;
    }
    return NULL;
}

static void one_file_explicit(void)
{
    struct task tasks[THREADS];
    file = open_new();
    run_threads(explicit_offsets, tasks);
    OK(MPI_File_close(&file));
}

/* The individual pointer gives every thread a place of its own. */
static void *append_record(void *arg)
{
    struct task *t = arg;
    for (int r = 0; r < ROUNDS; r++) {
        int rec[2] = {t->id, r};
        MPI_Status st;
        failures[t->id] += MPI_File_write(file, rec, 2, MPI_INT, &st) != MPI_SUCCESS;
        failures[t->id] += status_count(&st, MPI_INT) != 2;
    }
    return NULL;
}

static void one_file_pointer(void)
{
    struct task tasks[THREADS];
    int next[THREADS] = {0};
    MPI_Offset at = -1;
    file = open_new();
    OK(MPI_File_set_view(file, (MPI_Offset)test_rank * THREADS * ROUNDS * 8, MPI_INT, MPI_INT,
                         "native", MPI_INFO_NULL));
    run_threads(append_record, tasks);
    OK(MPI_File_get_position(file, &at));
    CHECK(at == THREADS * ROUNDS * 2, "at %lld", (long long)at);
    for (int i = 0; i < THREADS * ROUNDS; i++) {
        int rec[2] = {-1, -1};
        OK(MPI_File_read_at(file, 2 * i, rec, 2, MPI_INT, MPI_STATUS_IGNORE));
        REQUIRE(rec[0] >= 0 && rec[0] < THREADS && rec[1] == next[rec[0]], "record %d: %d.%d",
                i, rec[0], rec[1]);
        next[rec[0]]++;
    }
    OK(MPI_File_close(&file));
}

static void *shared_record(void *arg)
{
    struct task *t = arg;
    for (int r = 0; r < ROUNDS; r++) {
        int rec[4] = {test_rank, t->id, r, test_rank + t->id + r};
        failures[t->id] += MPI_File_write_shared(file, rec, 4, MPI_INT, MPI_STATUS_IGNORE) != 0;
    }
    return NULL;
}

static void one_file_shared_pointer(void)
{
    struct task tasks[THREADS];
    int total = test_nranks * THREADS * ROUNDS;
    int *next = calloc((size_t)(test_nranks * THREADS), sizeof *next);
    file = open_new();
    run_threads(shared_record, tasks);
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(size_on_disk(test_file()) == 16 * total, "size");
    for (int i = 0; i < total; i++) {
        int rec[4];
        load_file(test_file(), 16 * i, rec, 16);
        int who = rec[0] * THREADS + rec[1];
        if (rec[3] != rec[0] + rec[1] + rec[2] || who < 0 || who >= test_nranks * THREADS ||
            next[who] != rec[2]) {
            CHECK(0, "record %d: %d.%d.%d", i, rec[0], rec[1], rec[2]);
            break;
        }
        next[who]++;
    }
    free(next);
}

/* Each thread its own file and its own communicator: everything at once, collectives too. */
static void *whole_life(void *arg)
{
    struct task *t = arg;
    char path[700];
    snprintf(path, sizeof path, "%s.t%d", test_file(), t->id);
    for (int r = 0; r < 6; r++) {
        MPI_File fh;
        int data[N], got[N], bad = 0;
        for (int i = 0; i < N; i++)
            data[i] = t->id * 1000 + r * 100 + i;
        bad |= MPI_File_open(t->comm, path,
                             MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                             MPI_INFO_NULL, &fh);
        if (bad) {
            fprintf(stderr, "round %d: open: %s\n", r, error_text(bad));
            failures[t->id]++;
            return NULL;
        }
        bad |= MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
        bad |= MPI_File_write_at_all(fh, test_rank * N, data, N, MPI_INT, MPI_STATUS_IGNORE);
        memset(got, 0, sizeof got);
        bad |= MPI_File_read_at_all(fh, test_rank * N, got, N, MPI_INT, MPI_STATUS_IGNORE);
        bad |= memcmp(got, data, sizeof got) != 0;
        bad |= MPI_File_write_ordered(fh, data, 1, MPI_INT, MPI_STATUS_IGNORE);
        bad |= MPI_File_close(&fh);
        if (bad)
            fprintf(stderr, "round %d: %s\n", r, error_text(bad));
        failures[t->id] += bad != 0;
    }
    return NULL;
}

static void many_files(void)
{
    struct task tasks[THREADS];
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &tasks[i].comm);
    run_threads(whole_life, tasks);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&tasks[i].comm);
}

/* One thread waits in a collective of MPI while another does I/O. */
static void *small_writes(void *arg)
{
    struct task *t = arg;
    for (int r = 0; r < ROUNDS; r++) {
        char c = (char)r;
        MPI_Request req;
        int bad = MPI_File_iwrite_at(file, test_rank * ROUNDS + r, &c, 1, MPI_CHAR, &req);
        bad |= MPI_Wait(&req, MPI_STATUS_IGNORE);
        failures[t->id] += bad != 0;
    }
    return NULL;
}

static void beside_messages(void)
{
    struct task task = {0};
    pthread_t thread;
    file = open_new();
    failures[0] = 0;
    CHECK(pthread_create(&thread, NULL, small_writes, &task) == 0, "thread");
    for (int r = 0; r < 30; r++) {
        int sum, one = 1;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == test_nranks, "%d", sum);
    }
    pthread_join(thread, NULL);
    CHECK(failures[0] == 0, "%d failures", failures[0]);
    OK(MPI_File_close(&file));
}

static const struct test_case cases[] = {TEST(one_file_explicit),       TEST(one_file_pointer),
                                         TEST(one_file_shared_pointer), TEST(many_files),
                                         TEST(beside_messages),         {0}};

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "skipped: this MPI gives thread level %d only\n", level);
        MPI_Finalize();
        return 77;
    }
    int code = test_main_mpi(argc, argv, cases);
    MPI_Finalize();
    return code;
}
