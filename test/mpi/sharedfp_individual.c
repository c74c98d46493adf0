/* The sharedfp module that keeps a log of each rank and merges: every record whole, exactly
 * once, in the order of the messages between their writers, from memory and from side files. */
#include <dirent.h>

#include "expect.h"

static const char *memory; /* bytes kept in memory, as the hint has it */

static MPI_File open_logs(const char *path, int amode)
{
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sharedfp", "individual");
    MPI_Info_set(info, "individual_memory", memory);
    OK(MPI_File_open(MPI_COMM_WORLD, path, amode, info, &fh));
    MPI_Info_free(&info);
    return fh;
}

static MPI_File open_write(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        unlink(test_file());
    MPI_Barrier(MPI_COMM_WORLD);
    return open_logs(test_file(), MPI_MODE_WRONLY | MPI_MODE_CREATE);
}

/* Little memory, so that nearly all goes through side files, and enough. */
static void both(void (*fn)(void))
{
    static const char *const amounts[] = {"4096", "1m"};
    for (int i = 0; i < 2; i++) {
        int before = test_failed;
        memory = amounts[i];
        fn();
        if (test_failed > before)
            fprintf(stderr, "  with %s in memory\n", memory);
    }
}

static int side_files(void)
{
    char dir[700];
    int n = 0;
    snprintf(dir, sizeof dir, "%s", test_file());
    *strrchr(dir, '/') = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        n += strstr(e->d_name, ".brio-") != NULL;
    if (d)
        closedir(d);
    return n;
}

/* A record: its length, its writer, its number, and bytes that belong to them. */
enum {
    LONGEST = 900
};

static int length_of(int rank, int seq)
{
    return 3 + (rank * 131 + seq * 37) % (LONGEST - 3);
}

static void fill(int *rec, int rank, int seq)
{
    int n = length_of(rank, seq);
    rec[0] = n;
    rec[1] = rank;
    rec[2] = seq;
    for (int i = 3; i < n; i++)
        rec[i] = rank * 1000003 + seq * 1009 + i;
}

/* n records of each rank in [at, end) of the file, in rising order for each rank. */
static void check_records(int64_t at, int n)
{
    int *next = calloc((size_t)test_nranks, sizeof *next);
    int got[LONGEST], want[LONGEST];
    for (int i = 0; i < n * test_nranks; i++) {
        load_file(test_file(), at, got, sizeof got);
        int r = got[1];
        if (r < 0 || r >= test_nranks || got[2] != next[r] || got[0] != length_of(r, got[2])) {
            CHECK(0, "record %d at %lld: length %d of rank %d, number %d", i, (long long)at,
                  got[0], r, got[2]);
            break;
        }
        fill(want, r, next[r]);
        CHECK(memcmp(got, want, (size_t)got[0] * sizeof *got) == 0, "record %d is broken", i);
        next[r]++;
        at += (int64_t)sizeof *got * got[0];
    }
    CHECK(size_on_disk(test_file()) == at, "size %lld, not %lld",
          (long long)size_on_disk(test_file()), (long long)at);
    free(next);
}

static void records_once(void)
{
    enum {
        N = 60
    };
    int rec[LONGEST];
    MPI_File fh = open_write();
    MPI_Status st;
    OK(MPI_File_set_view(fh, 16, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < N; i++) {
        fill(rec, test_rank, i);
        if (i % 3 == 0) {
            MPI_Request req;
            OK(MPI_File_iwrite_shared(fh, rec, rec[0], MPI_INT, &req));
            OK(MPI_Wait(&req, &st));
        } else {
            OK(MPI_File_write_shared(fh, rec, rec[0], MPI_INT, &st));
        }
        CHECK(status_count(&st, MPI_INT) == rec[0], "count %d", status_count(&st, MPI_INT));
        if (i == N / 2)
            OK(MPI_File_sync(fh)); /* merges, and the logs begin anew */
    }
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    check_records(16, N);
    CHECK(side_files() == 0, "%d side files", side_files());
}

static void records(void)
{
    both(records_once);
}

/* A token goes round; who has it writes. */
static void token_once(void)
{
    enum {
        ROUNDS = 40
    };
    int next = (test_rank + 1) % test_nranks, token = 0,
        before = (test_rank + test_nranks - 1) % test_nranks;
    MPI_File fh = open_write();
    for (int i = 0; i < ROUNDS; i++) {
        int rec[100];
        for (int k = 0; k < 100; k++)
            rec[k] = i * test_nranks + test_rank;
        if (test_nranks > 1 && (test_rank > 0 || i > 0))
            MPI_Recv(&token, 1, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        OK(MPI_File_write_shared(fh, rec, 100, MPI_INT, MPI_STATUS_IGNORE));
        if (test_nranks > 1 && (test_rank < test_nranks - 1 || i < ROUNDS - 1))
            MPI_Send(&token, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS * test_nranks; i++) {
        int got = -1;
        load_file(test_file(), (int64_t)sizeof got * (100 * i + 50), &got, sizeof got);
        CHECK(got == i, "record %d is %d", i, got);
    }
}

static void order_of_messages(void)
{
    both(token_once);
}

/* Shared, ordered, a seek, shared again: each stage behind the one before. */
static void stages_once(void)
{
    int n = test_nranks, me = test_rank;
    MPI_File fh = open_write();
    MPI_Offset at;
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < 30; i++)
        OK(MPI_File_write_shared(fh, (int[50]){100 + me}, 50, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_write_ordered(fh, (int[2]){200 + me, me}, 2, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(size_on_disk(test_file()) >= 4 * (int64_t)(1500 * n), "not merged");
    FAILS(MPI_File_get_position_shared(fh, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    OK(MPI_File_write_shared(fh, &(int){300 + me}, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_seek_shared(fh, 5, MPI_SEEK_CUR));
    int last = 400 + me;
    OK(MPI_File_write_ordered_begin(fh, &last, 1, MPI_INT));
    OK(MPI_File_write_ordered_end(fh, &last, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    int64_t first = 1500 * n, behind = first + 3 * n + 5;
    CHECK(size_on_disk(test_file()) == 4 * (behind + n), "size %lld",
          (long long)size_on_disk(test_file()));
    int got[2];
    load_file(test_file(), 4 * (first + 2 * me), got, sizeof got);
    CHECK(got[0] == 200 + me && got[1] == me, "ordered: %d %d", got[0], got[1]);
    for (int i = 0; i < n; i++) {
        load_file(test_file(), 4 * (first + 2 * n + i), got, 4);
        CHECK(got[0] >= 300 && got[0] < 300 + n, "shared again: %d", got[0]);
    }
    load_file(test_file(), 4 * (behind + me), got, 4);
    CHECK(got[0] == 400 + me, "ordered again: %d", got[0]);
    for (int i = 0; i < 30 * n; i++) {
        load_file(test_file(), 4 * (int64_t)(50 * i), got, 4);
        CHECK(got[0] >= 100 && got[0] < 100 + n, "shared %d: %d", i, got[0]);
    }
}

static void stages(void)
{
    both(stages_once);
}

/* Through a strided view behind a displacement, and then through another one. */
static void views_once(void)
{
    enum {
        N = 300,
        DISP = 11
    };
    MPI_File fh = open_write();
    MPI_Datatype three, v, t;
    MPI_Type_contiguous(3, MPI_BYTE, &three);
    MPI_Type_vector(2, 1, 2, three, &v);
    MPI_Type_create_resized(v, 0, 12, &t);
    MPI_Type_commit(&three);
    MPI_Type_commit(&t);
    OK(MPI_File_set_view(fh, DISP, three, t, "native", MPI_INFO_NULL));
    for (int i = 0; i < N; i++) {
        unsigned char me[6] = {
            (unsigned char)(test_rank + 1), (unsigned char)i, (unsigned char)(test_rank + i),
            (unsigned char)(test_rank + 1), (unsigned char)i, (unsigned char)(test_rank + i)};
        OK(MPI_File_write_shared(fh, me, 2, three, MPI_STATUS_IGNORE));
    }
    MPI_Offset end = DISP + (MPI_Offset)12 * N * test_nranks;
    OK(MPI_File_set_view(fh, end, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_shared(fh, &(int){77}, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N * test_nranks; i++) {
        unsigned char got[12];
        load_file(test_file(), DISP + 12 * i, got, 12);
        CHECK(got[0] >= 1 && got[0] <= test_nranks &&
                  got[2] == (unsigned char)(got[0] - 1 + got[1]) &&
                  memcmp(got, got + 6, 3) == 0,
              "record %d: %d %d %d", i, got[0], got[1], got[2]);
        CHECK(got[3] == 0 && got[4] == 0 && got[5] == 0 && got[9] == 0, "gap %d", i);
    }
    for (int i = 0; i < test_nranks; i++) {
        int got = 0;
        load_file(test_file(), end + 4 * i, &got, 4);
        CHECK(got == 77, "the other view: %d", got);
    }
    MPI_Type_free(&three);
    MPI_Type_free(&v);
    MPI_Type_free(&t);
}

static void views(void)
{
    both(views_once);
}

/* Longer than what is kept in memory, and not contiguous there. */
static void long_records(void)
{
    enum {
        N = 5000
    };
    int *data = calloc(2 * N, sizeof *data);
    MPI_Datatype t;
    memory = "4096";
    for (int i = 0; i < 2 * N; i++)
        data[i] = test_rank * 100000 + i;
    MPI_Type_vector(N, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_File fh = open_write();
    OK(MPI_File_write_shared(fh, "abcd", 4, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_write_shared(fh, data, 1, t, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(size_on_disk(test_file()) == (4 + 4 * (int64_t)N) * test_nranks, "size %lld",
          (long long)size_on_disk(test_file()));
    for (int r = 0; r < test_nranks; r++) {
        int64_t at = 4 * test_nranks + (int64_t)4 * N * r;
        load_file(test_file(), at, data, 4 * N);
        int who = data[0] / 100000;
        for (int i = 0; i < N; i++)
            if (data[i] != who * 100000 + 2 * i) {
                CHECK(0, "long record %d, word %d: %d", r, i, data[i]);
                break;
            }
    }
    MPI_Type_free(&t);
    free(data);
}

/* Logs of several parts, which begin in the side file and end in memory. First one rank at a
 * time, so that pieces are long, then all together. */
static void many_records(void)
{
    enum {
        N = 12000,
        TURN = 6000
    };
    int rec[LONGEST];
    memory = "6m";
    MPI_File fh = open_write();
    for (int r = 0; r <= test_nranks; r++) {
        const int first = r < test_nranks ? 0 : TURN;
        for (int i = first; i < first + N - TURN && (r == test_rank || first > 0); i++) {
            fill(rec, test_rank, i);
            OK(MPI_File_write_shared(fh, rec, rec[0], MPI_INT, MPI_STATUS_IGNORE));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        check_records(0, N);
    CHECK(side_files() == 0, "%d side files", side_files());
}

/* What it cannot do it says. */
static void refusals(void)
{
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info, said;
    char name[MPI_MAX_INFO_VAL + 1] = "";
    int flag = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sharedfp", "individual");
    FAILS(
        MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh),
        MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_Info_delete(info, "sharedfp");
    MPI_Info_set(info, "OMPIO_SHAREDFP_RELAXED_ORDERING", "true");
    for (int writing = 0; writing < 2; writing++) {
        OK(MPI_File_open(MPI_COMM_WORLD, test_file(),
                         MPI_MODE_CREATE | (writing ? MPI_MODE_WRONLY : MPI_MODE_RDWR), info,
                         &fh));
        OK(MPI_File_get_info(fh, &said));
        MPI_Info_get(said, "brio_sharedfp", MPI_MAX_INFO_VAL, name, &flag);
        CHECK(flag && (strcmp(name, "individual") == 0) == writing, "%s", name);
        MPI_Info_free(&said);
        OK(MPI_File_close(&fh));
    }
    MPI_Info_free(&info);
}

/* A file that does not use the pointer has nothing beside it, nor has one with little data. */
static void no_traces(void)
{
    memory = "1m";
    MPI_File fh = open_write();
    CHECK(side_files() == 0, "%d side files", side_files());
    OK(MPI_File_write_shared(fh, "abcd", 4, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(side_files() == 0, "%d side files", side_files());
    OK(MPI_File_close(&fh));
}

static const struct test_case cases[] = {
    TEST(records),  TEST(order_of_messages), TEST(stages),
    TEST(views),    TEST(long_records),      TEST(many_records),
    TEST(refusals), TEST(no_traces),         {0}};
TEST_MAIN(cases)
