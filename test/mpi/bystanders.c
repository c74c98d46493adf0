/* What a program did not write stays as it is, and what it did not ask for does not appear:
 * neighbours' bytes, holes, other files in the directory, other threads. */
#include <dirent.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "fault/expect.h"
#include "mpi/peers.h"

enum {
    MIB = 1 << 20
};

/* ---- Neighbours' bytes ------------------------------------------------------------------ */

/* Every second block of 64 bytes is written; the others must keep what they held. The file
 * is several times as long as a sieving buffer. */
static void write_every_second(const struct form *form)
{
    enum {
        BLOCK = 64,
        SIZE = 6 * MIB
    };
    static char before[SIZE], out[SIZE];
    int share = SIZE / test_nranks / (2 * BLOCK) * (2 * BLOCK), nblocks = share / (2 * BLOCK);
    MPI_Offset disp = (MPI_Offset)share * test_rank;
    pattern(before, 0, SIZE, 1);
    make_file(test_file(), 0);
    write_plainly(test_file(), 0, before, SIZE);
    for (int b = 0; b < nblocks; b++)
        pattern(out + b * BLOCK, disp + b * 2 * BLOCK, BLOCK, 2);
    MPI_Datatype type;
    MPI_Type_vector(nblocks, BLOCK, 2 * BLOCK, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_File fh = open_file(MPI_MODE_RDWR);
    EXPECT_OK(MPI_File_set_view(fh, disp, MPI_BYTE, type, "native", MPI_INFO_NULL));
    struct form_call call = {.fh = fh, .buf = out, .count = nblocks * BLOCK, .type = MPI_BYTE};
    MPI_Count n;
    expect(__LINE__, form->name, form_run(form, &call, &n), MPI_SUCCESS, MPI_SUCCESS);
    CHECK(n == nblocks * BLOCK, "%s: %lld bytes", form->name, (long long)n);
    close_file(&fh);
    int lost = 0, spoilt = 0;
    for (int b = 0; b < nblocks; b++) {
        MPI_Offset at = disp + b * 2 * BLOCK;
        lost += bytes_there(test_file(), at, out + b * BLOCK, BLOCK) != BLOCK;
        spoilt += bytes_there(test_file(), at + BLOCK, before + at + BLOCK, BLOCK) != BLOCK;
    }
    CHECK(lost == 0 && spoilt == 0, "%s on rank %d: %d blocks lost, %d of others spoilt",
          form->name, test_rank, lost, spoilt);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&type);
}

static void holes_keep_their_bytes(void)
{
    for (int i = 0; i < FORMS; i++)
        if (form_is(&forms[i], FORM_WRITE) && !form_is(&forms[i], FORM_SHARED) &&
            !form_is(&forms[i], FORM_SPLIT))
            write_every_second(&forms[i]);
}

/* Blocks of `len` bytes in turn for each of `turns` writers. */
static void write_in_turn(MPI_File fh, int turn, int turns, int len, bool coll, int salt)
{
    enum {
        BLOCKS = 200
    };
    char *out = malloc((size_t)(BLOCKS * len));
    MPI_Datatype type;
    MPI_Type_vector(BLOCKS, len, len * turns, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int b = 0; b < BLOCKS; b++)
        pattern(out + b * len, ((MPI_Offset)b * turns + turn) * len, len, salt);
    EXPECT_OK(
        MPI_File_set_view(fh, (MPI_Offset)turn * len, MPI_BYTE, type, "native", MPI_INFO_NULL));
    if (coll)
        EXPECT_OK(MPI_File_write_all(fh, out, BLOCKS * len, MPI_BYTE, MPI_STATUS_IGNORE));
    else
        EXPECT_OK(MPI_File_write(fh, out, BLOCKS * len, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Type_free(&type);
    free(out);
}

static void expect_all_turns(int turns, int len, int salt, const char *what)
{
    int n = 200 * len * turns;
    char *want = malloc((size_t)n);
    pattern(want, 0, n, salt);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Count there = bytes_there(test_file(), 0, want, n);
    CHECK(there == n, "%s: wrong from byte %lld on", what, (long long)there);
    MPI_Barrier(MPI_COMM_WORLD);
    free(want);
}

/* All ranks at once, each its own blocks between the others'. */
static void independent_neighbours(void)
{
    MPI_File fh = open_new();
    for (int round = 0; round < 10; round++) {
        write_in_turn(fh, test_rank, test_nranks, 37, false, round);
        EXPECT_OK(MPI_File_sync(fh));
        expect_all_turns(test_nranks, 37, round, "independent writes");
    }
    close_file(&fh);
}

/* Half the blocks belong to those who opened the file a second time. */
static void neighbours_of_another_open(void)
{
    if (test_nranks < 2)
        SKIP("needs two ranks");
    int side = test_rank % 2;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    make_file(test_file(), 0);
    for (int round = 0; round < 10; round++) {
        MPI_File fh = MPI_FILE_NULL;
        EXPECT_OK(MPI_File_open(half, test_file(), MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
        write_in_turn(fh, test_rank, test_nranks, 37, true, round);
        EXPECT_OK(MPI_File_close(&fh));
        expect_all_turns(test_nranks, 37, round, "two opens");
    }
    MPI_Comm_free(&half);
}

/* Small adjacent blocks at an odd offset, with several aggregators asked for: the domain of
 * one must not reach into another's. */
static void adjacent_blocks(void)
{
    enum {
        N = 1000,
        ROUNDS = 100
    };
    char out[N], text[16];
    MPI_Info info;
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info_create(&info);
    snprintf(text, sizeof text, "%d", test_nranks);
    MPI_Info_set(info, "cb_nodes", text);
    EXPECT_OK(
        MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh));
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Offset mine = 777 + (MPI_Offset)(round * test_nranks + test_rank) * N;
        pattern(out, mine, N, round);
        EXPECT_OK(MPI_File_write_at_all(fh, mine, out, N, MPI_BYTE, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        wrong += bytes_there(test_file(), mine, out, N) != N;
    }
    CHECK(wrong == 0, "rank %d: %d of %d writes spoilt", test_rank, wrong, ROUNDS);
    close_file(&fh);
    MPI_Info_free(&info);
}

/* ---- Beside the file --------------------------------------------------------------------- */

/* Names in the directory other than `own`. */
static int strangers(const char *dir, const char *own)
{
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && strcmp(e->d_name, own)) {
            fprintf(stderr, "beside the file: %s\n", e->d_name);
            n++;
        }
    if (d)
        closedir(d);
    return d ? n : -1;
}

#define EXPECT_ALONE(when)                                                                     \
    CHECK(strangers(dir, "file") == 0, "%s there are other names in the directory", when)

/* Uses the file as little or as much as `shared` says; looks around at every step. */
static void look_around(const char *dir, bool shared)
{
    char path[600], buf[32] = "side";
    MPI_File fh = MPI_FILE_NULL;
    snprintf(path, sizeof path, "%s/file", dir);
    EXPECT_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                            MPI_INFO_NULL, &fh));
    REQUIRE(fh != MPI_FILE_NULL, "no file");
    EXPECT_ALONE("after open");
    EXPECT_OK(MPI_File_write_at_all(fh, test_rank * 32, buf, 32, MPI_BYTE, MPI_STATUS_IGNORE));
    EXPECT_ALONE("after write_at_all");
    if (shared) {
        MPI_Request req;
        EXPECT_OK(MPI_File_write_shared(fh, buf, 32, MPI_BYTE, MPI_STATUS_IGNORE));
        EXPECT_ALONE("after write_shared");
        EXPECT_OK(MPI_File_iwrite_shared(fh, buf, 32, MPI_BYTE, &req));
        EXPECT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        EXPECT_OK(MPI_File_write_ordered(fh, buf, 32, MPI_BYTE, MPI_STATUS_IGNORE));
        EXPECT_ALONE("after write_ordered");
    }
    EXPECT_OK(MPI_File_sync(fh));
    EXPECT_OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_ALONE("after close");
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void no_side_files(void)
{
    char dir[520];
    snprintf(dir, sizeof dir, "%s.d", test_file());
    if (test_rank == 0)
        CHECK(mkdir(dir, 0777) == 0, "mkdir %s", dir);
    MPI_Barrier(MPI_COMM_WORLD);
    look_around(dir, false);
    look_around(dir, true);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        rmdir(dir);
}

/* Root becomes somebody whom permissions bind, and root again. A process that changed its
 * user is not "dumpable" until it says so; one that was started by that user is. */
static void become(uid_t user)
{
    if (getuid() != 0)
        return;
    CHECK(seteuid(0) == 0 && setegid(user) == 0 && seteuid(user) == 0, "cannot change user");
    prctl(PR_SET_DUMPABLE, 1);
}

/* A file that may be written in a directory that may not. */
static void directory_without_permission(void)
{
    char dir[] = "/tmp/brio-ro.XXXXXX", path[64], buf[8] = "written";
    MPI_File fh = MPI_FILE_NULL;
    if (test_rank == 0)
        CHECK(mkdtemp(dir) != NULL, "mkdtemp");
    MPI_Bcast(dir, sizeof dir, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/file", dir);
    make_file(path, 0);
    if (test_rank == 0)
        CHECK(chmod(path, 0666) == 0 && chmod(dir, 0555) == 0, "chmod");
    MPI_Barrier(MPI_COMM_WORLD);
    become(65534);
    EXPECT_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    if (fh != MPI_FILE_NULL) {
        EXPECT_OK(
            MPI_File_write_at_all(fh, 8 * test_rank, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE));
        EXPECT_OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_END));
        EXPECT_OK(MPI_File_write_shared(fh, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE));
        EXPECT_OK(MPI_File_write_ordered(fh, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE));
        MPI_Offset size = -1;
        EXPECT_OK(MPI_File_sync(fh));
        EXPECT_OK(MPI_File_get_size(fh, &size));
        CHECK(size == 24 * test_nranks, "size %lld", (long long)size);
        close_file(&fh);
    }
    snprintf(path, sizeof path, "%s/new", dir);
    EXPECT(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                         &fh),
           MPI_ERR_ACCESS);
    become(0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(strangers(dir, "file") == 0, "other names in the directory");
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) {
        chmod(dir, 0755);
        snprintf(path, sizeof path, "%s/file", dir);
        unlink(path);
        rmdir(dir);
    }
}

/* A colon in a name is a letter like any other. */
static void names_with_colons(void)
{
    static const char *const names[] = {"a:b", "run:2024-01-01T00:00:00.dat", "nosuchfs:x",
                                        ":y"};
    char path[700];
    for (size_t i = 0; i < 2 * sizeof names / sizeof names[0]; i++) {
        MPI_File fh = MPI_FILE_NULL;
        if (i % 2) /* relative to the current directory */
            snprintf(path, sizeof path, "%s", names[i / 2]);
        else
            snprintf(path, sizeof path, "%s.%s", test_file(), names[i / 2]);
        int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                                 MPI_INFO_NULL, &fh);
        expect(__LINE__, path, code, MPI_SUCCESS, MPI_SUCCESS);
        if (code != MPI_SUCCESS)
            continue;
        CHECK(access(path, F_OK) == 0, "there is no %s", path);
        STILL_WORKS(fh);
        close_file(&fh);
        MPI_Barrier(MPI_COMM_WORLD);
        if (test_rank == 0)
            EXPECT_OK(MPI_File_delete(path, MPI_INFO_NULL));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(access(path, F_OK) != 0, "%s is still there", path);
    }
}

static void info_tells_hints(void)
{
    MPI_Info asked, told;
    MPI_File fh = MPI_FILE_NULL;
    int nkeys = -1, flag = 0;
    char value[64] = "";
    MPI_Info_create(&asked);
    MPI_Info_set(asked, "cb_buffer_size", "1048576");
    EXPECT_OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_CREATE | MPI_MODE_RDWR, asked,
                            &fh));
    MPI_Info_free(&asked);
    EXPECT_OK(MPI_File_get_info(fh, &told));
    MPI_Info_get_nkeys(told, &nkeys);
    CHECK(nkeys > 1, "%d keys", nkeys);
    MPI_Info_get(told, "cb_buffer_size", 63, value, &flag);
    CHECK(flag && !strcmp(value, "1048576"), "cb_buffer_size is %s", flag ? value : "unknown");
    MPI_Info_free(&told);
    close_file(&fh);
    fh = open_new();
    EXPECT_OK(MPI_File_get_info(fh, &told));
    MPI_Info_get_nkeys(told, &nkeys);
    CHECK(nkeys > 1, "%d keys without hints", nkeys);
    MPI_Info_free(&told);
    close_file(&fh);
}

/* ---- Threads ------------------------------------------------------------------------------
 */

enum {
    THREADS = 4,
    OPS = 40,
    PIECE = 500
};

struct worker {
    pthread_t thread;
    int number;
    MPI_File fh; /* one for all, or MPI_FILE_NULL: opens one of its own */
    int wrong;
};

/* Explicit offsets, blocking and not, all in the worker's own part of the file. */
static int move_pieces(MPI_File fh, int number)
{
    char out[PIECE], in[PIECE];
    int wrong = 0;
    for (int i = 0; i < OPS; i++) {
        MPI_Offset at = ((MPI_Offset)(test_rank * THREADS + number) * OPS + i) * PIECE;
        MPI_Request req;
        MPI_Status status;
        int n = -1;
        pattern(out, at, PIECE, number);
        memset(in, 0, PIECE);
        if (i % 2)
            wrong += MPI_File_write_at(fh, at, out, PIECE, MPI_BYTE, &status) != MPI_SUCCESS;
        else
            wrong += MPI_File_iwrite_at(fh, at, out, PIECE, MPI_BYTE, &req) != MPI_SUCCESS ||
                     MPI_Wait(&req, &status) != MPI_SUCCESS;
        MPI_Get_count(&status, MPI_BYTE, &n);
        wrong += n != PIECE;
        wrong += MPI_File_read_at(fh, at, in, PIECE, MPI_BYTE, &status) != MPI_SUCCESS;
        wrong += memcmp(in, out, PIECE) != 0;
    }
    return wrong;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    if (w->fh != MPI_FILE_NULL) {
        w->wrong = move_pieces(w->fh, w->number);
        return NULL;
    }
    for (int i = 0; i < 5; i++) {
        char path[600];
        MPI_File fh;
        snprintf(path, sizeof path, "%s.%d.%d", test_file(), test_rank, w->number);
        if (MPI_File_open(MPI_COMM_SELF, path,
                          MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                          MPI_INFO_NULL, &fh) != MPI_SUCCESS) {
            w->wrong++;
            continue;
        }
        w->wrong += move_pieces(fh, w->number);
        w->wrong += MPI_File_close(&fh) != MPI_SUCCESS;
    }
    return NULL;
}

static void run_workers(MPI_File fh)
{
    struct worker workers[THREADS];
    int level = -1;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE)
        SKIP("no MPI_THREAD_MULTIPLE");
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i, .fh = fh};
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(workers[i].wrong == 0, "thread %d: %d wrong", i, workers[i].wrong);
    }
}

static void threads_on_one_file(void)
{
    MPI_File fh = open_new();
    run_workers(fh);
    STILL_WORKS(fh);
    close_file(&fh);
}

static void threads_on_many_files(void)
{
    run_workers(MPI_FILE_NULL);
}

static const struct test_case cases[] = {TEST(holes_keep_their_bytes),
                                         TEST(independent_neighbours),
                                         TEST(neighbours_of_another_open),
                                         TEST(adjacent_blocks),
                                         TEST(no_side_files),
                                         TEST(directory_without_permission),
                                         TEST(names_with_colons),
                                         TEST(info_tells_hints),
                                         TEST(threads_on_one_file),
                                         TEST(threads_on_many_files),
                                         {0}};

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    int result = run_error_cases(argc, argv, cases);
    MPI_Finalize();
    return result;
}
