/* The shared file pointer: every record whole, exactly once, in the order of the messages
 * that connect the calls. */
#include <dirent.h>

#include "expect.h"

/* One etype: who wrote it, its number there, and two words that belong to both. */
struct record {
    int rank, seq, check, twice;
};

static struct record make(int rank, int seq)
{
    return (struct record){rank, seq, rank * 7919 + seq * 31 + 5, 2 * seq};
}

static int is_whole(const struct record *r)
{
    struct record want = make(r->rank, r->seq);
    return memcmp(r, &want, sizeof want) == 0;
}

static MPI_Datatype record_type(void)
{
    MPI_Datatype t;
    MPI_Type_contiguous(4, MPI_INT, &t);
    MPI_Type_commit(&t);
    return t;
}

static MPI_File open_records(int amode)
{
    MPI_File fh = open_file(amode);
    MPI_Datatype t = record_type();
    OK(MPI_File_set_view(fh, 0, t, t, "native", MPI_INFO_NULL));
    MPI_Type_free(&t);
    return fh;
}

static int64_t shared_position(MPI_File fh)
{
    MPI_Offset at = -1;
    OK(MPI_File_get_position_shared(fh, &at));
    return at;
}

/* Collective: no rank moves it before all have looked. */
static void check_shared(MPI_File fh, int64_t want, int line)
{
    int64_t at = shared_position(fh);
    CHECK(at == want, "line %d: at %lld, not %lld", line, (long long)at, (long long)want);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every rank's 0 .. n-1 are there once, in rising order along the file. */
static void check_records(const char *path, int64_t disp, int n)
{
    int *next = calloc((size_t)test_nranks, sizeof *next);
    CHECK(size_on_disk(path) == disp + (int64_t)sizeof(struct record) * n * test_nranks,
          "size %lld", (long long)size_on_disk(path));
    for (int i = 0; i < n * test_nranks; i++) {
        struct record r;
        load_file(path, disp + (int64_t)sizeof r * i, &r, sizeof r);
        if (!is_whole(&r) || r.rank < 0 || r.rank >= test_nranks) {
            CHECK(0, "record %d is broken", i);
            break;
        }
        CHECK(r.seq == next[r.rank], "record %d: rank %d's %d, not %d", i, r.rank, r.seq,
              next[r.rank]);
        next[r.rank] = r.seq + 1;
    }
    free(next);
}

/* Blocking and nonblocking, one to five records at a time. */
static void write_records(void)
{
    enum {
        N = 120
    };
    MPI_File fh = open_records(MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI_Datatype t = record_type();
    struct record mine[N];
    MPI_Status st;
    for (int i = 0; i < N; i++)
        mine[i] = make(test_rank, i);
    for (int i = 0, turn = test_rank; i < N; turn++) {
        int n = 1 + turn % 5 < N - i ? 1 + turn % 5 : N - i;
        if (turn % 3 == 0) {
            MPI_Request req;
            OK(MPI_File_iwrite_shared(fh, mine + i, n, t, &req));
            OK(MPI_Wait(&req, &st));
        } else {
            OK(MPI_File_write_shared(fh, mine + i, n, t, &st));
        }
        CHECK(status_count(&st, t) == n, "count %d", status_count(&st, t));
        i += n;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(shared_position(fh) == N * test_nranks, "at %lld", (long long)shared_position(fh));
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    check_records(test_file(), 0, N);
}

/* Several nonblocking writes under way at once keep the order of their calls. */
static void outstanding(void)
{
    enum {
        N = 40
    };
    MPI_File fh = open_records(MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI_Datatype t = record_type();
    struct record mine[N];
    MPI_Request req[N];
    MPI_Status st[N];
    for (int i = 0; i < N; i++) {
        mine[i] = make(test_rank, i);
        OK(MPI_File_iwrite_shared(fh, mine + i, 1, t, &req[i]));
    }
    OK(MPI_Waitall(N, req, st));
    for (int i = 0; i < N; i++)
        CHECK(status_count(&st[i], t) == 1, "count %d", status_count(&st[i], t));
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    check_records(test_file(), 0, N);
}

/* All ranks read until the end: each record goes to exactly one of them. */
static void read_records(void)
{
    enum {
        N = 500
    };
    if (test_rank == 0) {
        FILE *f = fopen(test_file(), "w");
        for (int i = 0; i < N; i++) {
            struct record r = make(1, i);
            fwrite(&r, sizeof r, 1, f);
        }
        fflush(f);
        hand_over(fileno(f));
        fclose(f);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File fh = open_records(MPI_MODE_RDONLY);
    MPI_Datatype t = record_type();
    int seen[N] = {0}, all[N], last = -1;
    for (int turn = 0;; turn++) {
        struct record got[3];
        MPI_Status st;
        MPI_Request req;
        if (turn % 2) {
            OK(MPI_File_iread_shared(fh, got, 3, t, &req));
            OK(MPI_Wait(&req, &st));
        } else {
            OK(MPI_File_read_shared(fh, got, 3, t, &st));
        }
        int n = status_count(&st, t);
        CHECK(n >= 0 && n <= 3, "count %d", n);
        if (n <= 0)
            break;
        for (int i = 0; i < n; i++) {
            CHECK(is_whole(&got[i]) && got[i].seq > last, "broken or out of order");
            last = got[i].seq;
            seen[last >= 0 && last < N ? last : 0]++;
        }
    }
    MPI_Allreduce(seen, all, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        CHECK(all[i] == 1, "record %d was read %d times", i, all[i]);
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
}

/* A token goes round; only who has it writes. The file has them in that order. */
static void order_of_messages(void)
{
    enum {
        ROUNDS = 30
    };
    MPI_File fh = open_records(MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI_Datatype t = record_type();
    int token = 0, next = (test_rank + 1) % test_nranks,
        before = (test_rank + test_nranks - 1) % test_nranks;
    for (int i = 0; i < ROUNDS; i++) {
        struct record r = make(test_rank, i);
        if (test_nranks > 1 && (test_rank > 0 || i > 0))
            MPI_Recv(&token, 1, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        OK(MPI_File_write_shared(fh, &r, 1, t, MPI_STATUS_IGNORE));
        if (test_nranks > 1 && (test_rank < test_nranks - 1 || i < ROUNDS - 1))
            MPI_Send(&token, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    }
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS * test_nranks; i++) {
        struct record r;
        load_file(test_file(), (int64_t)sizeof r * i, &r, sizeof r);
        CHECK(r.rank == i % test_nranks && r.seq == i / test_nranks, "record %d: %d.%d", i,
              r.rank, r.seq);
    }
}

static void seek(void)
{
    make_file(test_file(), 16 * 20, 0);
    MPI_File fh = open_records(MPI_MODE_RDWR);
    OK(MPI_File_seek_shared(fh, 7, MPI_SEEK_SET));
    check_shared(fh, 7, __LINE__);
    OK(MPI_File_seek_shared(fh, -3, MPI_SEEK_CUR));
    check_shared(fh, 4, __LINE__);
    OK(MPI_File_seek_shared(fh, -5, MPI_SEEK_END));
    check_shared(fh, 15, __LINE__);
    FAILS(MPI_File_seek_shared(fh, -16, MPI_SEEK_CUR), MPI_ERR_ARG);
    FAILS(MPI_File_seek_shared(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    check_shared(fh, 15, __LINE__);
    MPI_Offset own = -1;
    OK(MPI_File_get_position(fh, &own));
    CHECK(own == 0, "own at %lld", (long long)own);
    OK(MPI_File_close(&fh));
}

/* A pointer that cannot go on stays where it is, and nothing is written. */
static void at_the_limit(void)
{
    const MPI_Offset last = INT64_MAX / 16 - 1; /* of the records that end below 2^63 */
    const MPI_Offset top = INT64_MAX - 2;
    MPI_File fh = open_records(MPI_MODE_RDWR | MPI_MODE_CREATE);
    struct record r[5] = {{.rank = test_rank}};
    MPI_Datatype t = record_type();
    OK(MPI_File_seek_shared(fh, last, MPI_SEEK_SET));
    FAILS(MPI_File_write_ordered(fh, r, 2, t, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_seek_shared(fh, top, MPI_SEEK_SET));
    FAILS(MPI_File_write_shared(fh, r, 3, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    MPI_Barrier(MPI_COMM_WORLD);
    check_shared(fh, top, __LINE__);
    FAILS(MPI_File_write_ordered(fh, r, 3, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    check_shared(fh, top, __LINE__);
    FAILS(MPI_File_seek_shared(fh, 3, MPI_SEEK_CUR), MPI_ERR_ARG);
    OK(MPI_File_seek(fh, top, MPI_SEEK_SET));
    FAILS(MPI_File_write_all(fh, r, 3, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    MPI_Offset own = -1;
    OK(MPI_File_get_position(fh, &own));
    CHECK(own == top, "own at %lld", (long long)own);
    CHECK(size_on_disk(test_file()) == 0, "%lld bytes", (long long)size_on_disk(test_file()));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    OK(MPI_File_write_ordered(fh, r, 3, MPI_BYTE, MPI_STATUS_IGNORE));
    check_shared(fh, 3 * test_nranks, __LINE__);
    OK(MPI_File_close(&fh));
    MPI_Type_free(&t);
}

/* Through a strided view, in etypes of three bytes, behind a displacement. */
static void through_a_view(void)
{
    enum {
        N = 30,
        DISP = 11
    };
    MPI_File fh = open_new();
    MPI_Datatype three, v, t;
    MPI_Type_contiguous(3, MPI_BYTE, &three);
    MPI_Type_vector(2, 1, 2, three, &v);
    MPI_Type_create_resized(v, 0, 12, &t); /* three bytes, gap, three bytes, gap */
    MPI_Type_commit(&three);
    MPI_Type_commit(&t);
    OK(MPI_File_set_view(fh, DISP, three, t, "native", MPI_INFO_NULL));
    for (int i = 0; i < N; i++) {
        unsigned char me[3] = {(unsigned char)(test_rank + 1), (unsigned char)i,
                               (unsigned char)(test_rank + i)};
        OK(MPI_File_write_shared(fh, me, 1, three, MPI_STATUS_IGNORE));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(shared_position(fh) == N * test_nranks, "at %lld", (long long)shared_position(fh));
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N * test_nranks; i++) {
        unsigned char got[6];
        load_file(test_file(), DISP + 6 * i, got, 6);
        int last = i == N * test_nranks - 1;
        CHECK(got[0] >= 1 && got[0] <= test_nranks && got[2] == got[0] - 1 + got[1],
              "record %d: %d %d %d", i, got[0], got[1], got[2]);
        CHECK(last || (got[3] == 0 && got[4] == 0 && got[5] == 0), "gap %d", i);
    }
    MPI_Type_free(&three);
    MPI_Type_free(&v);
    MPI_Type_free(&t);
}

/* Two files with the same last name, and the first opened twice: three pointers. */
static void separate_pointers(void)
{
    char dir[700], path[1500];
    const char *base = strrchr(test_file(), '/');
    snprintf(dir, sizeof dir, "%s", other_file("dir"));
    snprintf(path, sizeof path, "%s/%s", dir, base ? base + 1 : test_file());
    if (test_rank == 0)
        mkdir(dir, 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File a = open_new(), b = open_new(), c = MPI_FILE_NULL;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &c));
    int n = test_nranks;
    OK(MPI_File_write_shared(a, "a", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_write_shared(b, "bb", 2, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_write_shared(c, "ccc", 3, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(shared_position(a) == n && shared_position(b) == 2 * n && shared_position(c) == 3 * n,
          "at %lld %lld %lld", (long long)shared_position(a), (long long)shared_position(b),
          (long long)shared_position(c));
    OK(MPI_File_close(&c));
    OK(MPI_File_close(&b));
    OK(MPI_File_close(&a));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(size_on_disk(path) == 3 * n, "size %lld", (long long)size_on_disk(path));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) {
        unlink(path);
        rmdir(dir);
    }
}

static int entries(const char *path)
{
    char dir[700];
    int n = 0;
    snprintf(dir, sizeof dir, "%s", path);
    *strrchr(dir, '/') = 0;
    DIR *d = opendir(dir);
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* Nothing is laid beside the user's file. */
static void no_side_files(void)
{
    make_file(test_file(), 0, 0);
    int before = entries(test_file()), one = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File fh = open_file(MPI_MODE_RDWR);
    OK(MPI_File_write_shared(fh, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_write_ordered(fh, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(entries(test_file()) == before, "%d entries, not %d", entries(test_file()), before);
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(entries(test_file()) == before, "%d entries, not %d", entries(test_file()), before);
}

static const struct test_case cases[] = {TEST(write_records),
                                         TEST(outstanding),
                                         TEST(read_records),
                                         TEST(order_of_messages),
                                         TEST(seek),
                                         TEST(through_a_view),
                                         TEST(separate_pointers),
                                         TEST(no_side_files),
                                         TEST(at_the_limit),
                                         {0}};
TEST_MAIN(cases)
