/* Who sees which bytes when, and that nobody's byte is ever lost to a neighbour's write. */
#include "calls.h"
#include "expect.h"

static int next_rank(void)
{
    return (test_rank + 1) % test_nranks;
}

static void sync_barrier_sync(void)
{
    enum {
        N = 100
    };
    MPI_File fh = open_new();
    int data[N], got[N];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < N; i++)
            data[i] = round * 10000 + test_rank * 100 + i;
        OK(MPI_File_write_at(fh, test_rank * (int)sizeof data, data, N, MPI_INT,
                             MPI_STATUS_IGNORE));
        sync_all(fh);
        OK(MPI_File_read_at(fh, next_rank() * (int)sizeof data, got, N, MPI_INT,
                            MPI_STATUS_IGNORE));
        for (int i = 0; i < N; i++)
            CHECK(got[i] == round * 10000 + next_rank() * 100 + i, "round %d, %d: %d", round, i,
                  got[i]);
        sync_all(fh); /* readers before the next writers */
    }
    OK(MPI_File_close(&fh));
}

static void close_then_open(void)
{
    for (int round = 0; round < 10; round++) {
        MPI_File fh = open_new();
        int value = round * 100 + test_rank, got = -1;
        OK(MPI_File_write_at_all(fh, 4 * test_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&fh));
        MPI_Barrier(MPI_COMM_WORLD);
        fh = open_file(MPI_MODE_RDONLY);
        OK(MPI_File_read_at(fh, 4 * next_rank(), &got, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(got == round * 100 + next_rank(), "round %d: %d", round, got);
        OK(MPI_File_close(&fh));
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* A rank sees its own write in the very next call, whatever kinds the two are. */
static void own_writes_at_once(void)
{
    enum {
        N = 64
    };
    MPI_File fh = open_new();
    int data[N], got[N];
    OK(MPI_File_set_view(fh, test_rank * (int)sizeof data, MPI_INT, MPI_INT, "native",
                         MPI_INFO_NULL));
    for (int w = 0; w < KINDS; w++)
        for (int r = 0; r < KINDS; r++) {
            for (int i = 0; i < N; i++)
                data[i] = (w * KINDS + r) * 1000 + test_rank * 100 + i;
            memset(got, 0, sizeof got);
            struct call out = {(enum kind)w, 0, data, N, MPI_INT, r & 1},
                        in = {(enum kind)r, 0, got, N, MPI_INT, w & 1};
            OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
            OK(call_write(fh, &out, MPI_STATUS_IGNORE));
            OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
            OK(call_read(fh, &in, MPI_STATUS_IGNORE));
            CHECK(memcmp(got, data, sizeof got) == 0, "written by kind %d, read by kind %d", w,
                  r);
        }
    OK(MPI_File_close(&fh));
}

/* Adjacent blocks of all ranks in one collective write, with several aggregators. */
static void adjacent_blocks(void)
{
    static const int sizes[] = {1, 3, 1000, 4096, 100000};
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "4");
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "cb_buffer_size", "65536");
    unsigned char *data = malloc(100000), *file = malloc(100000);
    for (int k = 0; k < 5; k++) {
        MPI_File fh;
        int n = sizes[k], rounds = 4;
        OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, info,
                         &fh));
        OK(MPI_File_set_size(fh, 0));
        for (int round = 0; round < rounds; round++) {
            memset(data, 1 + round * test_nranks + test_rank, (size_t)n);
            OK(MPI_File_write_at_all(fh, ((MPI_Offset)round * test_nranks + test_rank) * n,
                                     data, n, MPI_BYTE, MPI_STATUS_IGNORE));
        }
        OK(MPI_File_close(&fh));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(size_on_disk(test_file()) == (int64_t)rounds * test_nranks * n, "size");
        for (int round = 0; round < rounds; round++) {
            int value = 1 + round * test_nranks + test_rank, bad = 0;
            load_file(test_file(), ((int64_t)round * test_nranks + test_rank) * n, file,
                      (size_t)n);
            for (int i = 0; i < n; i++)
                bad += file[i] != value;
            CHECK(bad == 0, "block of %d, round %d: %d wrong bytes", n, round, bad);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(data);
    free(file);
    MPI_Info_free(&info);
}

/* Everybody writes one byte in test_nranks, all at the same time, independently: the gaps of
 * one are the data of the others. `piece` bytes at a time, `kind` of call. */
static void interleave(int piece, enum kind kind, int rounds)
{
    enum {
        BYTES = 12000
    };
    int n = BYTES / piece * piece, stride = piece * test_nranks;
    MPI_Datatype v, t;
    MPI_File fh = open_new();
    unsigned char *data = malloc(BYTES);
    MPI_Type_contiguous(piece, MPI_BYTE, &v);
    MPI_Type_create_resized(v, 0, stride, &t);
    MPI_Type_commit(&t);
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * piece, MPI_BYTE, t, "native",
                         MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < rounds; round++) {
        memset(data, 1 + (round * 7 + test_rank) % 250, (size_t)n);
        struct call c = {kind, 0, data, n, MPI_BYTE, 0};
        OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
        OK(call_write(fh, &c, MPI_STATUS_IGNORE));
    }
    MPI_Type_free(&v);
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) {
        unsigned char *all = malloc((size_t)(n * test_nranks));
        load_file(test_file(), 0, all, (size_t)(n * test_nranks));
        int bad = 0, first = -1;
        for (int i = 0; i < n * test_nranks; i++)
            if (all[i] != 1 + ((rounds - 1) * 7 + i / piece % test_nranks) % 250) {
                first = bad++ ? first : i;
            }
        CHECK(bad == 0, "piece %d, kind %d: %d bytes lost, the first at %d", piece, kind, bad,
              first);
        free(all);
    }
    free(data);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void neighbours_in_the_gaps(void)
{
    static const int pieces[] = {1, 4, 24, 600};
    for (int p = 0; p < 4; p++) {
        interleave(pieces[p], AT, 12);
        interleave(pieces[p], OWN, 4);
        interleave(pieces[p], IAT, 4);
    }
}

static void neighbours_in_the_gaps_collective(void)
{
    static const int pieces[] = {1, 24, 600};
    for (int p = 0; p < 3; p++) {
        interleave(pieces[p], AT_ALL, 3);
        interleave(pieces[p], IAT_ALL, 3);
        interleave(pieces[p], OWN_SPLIT, 3);
    }
}

/* The same through handles of different opens, each rank on its own. */
static void gaps_through_own_opens(void)
{
    enum {
        N = 3000,
        ROUNDS = 10
    };
    MPI_File fh;
    MPI_Datatype v, t;
    unsigned char data[N];
    make_file(test_file(), N * test_nranks, 0);
    OK(MPI_File_open(MPI_COMM_SELF, test_file(), MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    MPI_Type_contiguous(1, MPI_BYTE, &v);
    MPI_Type_create_resized(v, 0, test_nranks, &t);
    MPI_Type_commit(&t);
    OK(MPI_File_set_view(fh, test_rank, MPI_BYTE, t, "native", MPI_INFO_NULL));
    for (int i = 0; i < ROUNDS; i++) {
        memset(data, 1 + test_rank + i, N);
        OK(MPI_File_write_at(fh, 0, data, N, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_write_at_all(fh, 0, data, N, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    MPI_Type_free(&v);
    MPI_Type_free(&t);
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    int bad = 0;
    unsigned char *all = malloc((size_t)(N * test_nranks));
    load_file(test_file(), 0, all, (size_t)(N * test_nranks));
    for (int i = 0; i < N * test_nranks; i++)
        bad += all[i] != 1 + i % test_nranks + ROUNDS - 1;
    CHECK(bad == 0, "%d bytes lost", bad);
    free(all);
}

/* A collective write with gaps leaves them to an independent write that follows on another
 * rank at once. */
static void collective_then_independent(void)
{
    enum {
        N = 500,
        ROUNDS = 20
    };
    make_file(test_file(), 2 * N * test_nranks, 0);
    MPI_File fh = open_file(MPI_MODE_RDWR);
    MPI_Datatype v;
    unsigned char even[N], file[2 * N];
    MPI_Type_vector(N, 1, 2, MPI_BYTE, &v);
    MPI_Type_commit(&v);
    for (int i = 0; i < ROUNDS; i++) {
        unsigned char odd = (unsigned char)(100 + i);
        memset(even, 1 + i, N);
        OK(MPI_File_set_view(fh, 2 * N * test_rank, MPI_BYTE, v, "native", MPI_INFO_NULL));
        OK(MPI_File_write_at_all(fh, 0, even, N, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_set_view(fh, 2 * N * test_rank, MPI_BYTE, MPI_BYTE, "native",
                             MPI_INFO_NULL));
        OK(MPI_File_write_at(fh, 2 * i + 1, &odd, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    MPI_Type_free(&v);
    OK(MPI_File_close(&fh));
    load_file(test_file(), 2 * N * test_rank, file, sizeof file);
    for (int i = 0; i < ROUNDS; i++)
        CHECK(file[2 * i + 1] == 100 + i && file[2 * i] == ROUNDS, "%d: %d %d", i, file[2 * i],
              file[2 * i + 1]);
}

/* Views changed and data written again and again through one handle. */
static void views_one_after_another(void)
{
    enum {
        N = 240
    };
    MPI_File fh = open_new();
    int got[N], data[N];
    for (int step = 1; step <= 6; step++) {
        MPI_Datatype v;
        MPI_Type_vector(N / step, 1, step, MPI_INT, &v);
        MPI_Type_commit(&v);
        for (int shift = 0; shift < step; shift++) {
            OK(MPI_File_set_view(fh, (MPI_Offset)(test_rank * N + shift) * 4, MPI_INT, v,
                                 "native", MPI_INFO_NULL));
            for (int i = 0; i < N / step; i++)
                data[i] = test_rank * 10000 + step * 1000 + i * step + shift;
            OK(MPI_File_write(fh, data, N / step, MPI_INT, MPI_STATUS_IGNORE));
        }
        MPI_Type_free(&v);
        OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * N * 4, MPI_INT, MPI_INT, "native",
                             MPI_INFO_NULL));
        OK(MPI_File_read_all(fh, got, N, MPI_INT, MPI_STATUS_IGNORE));
        for (int i = 0; i < N; i++)
            CHECK(got[i] == test_rank * 10000 + step * 1000 + i, "step %d, %d: %d", step, i,
                  got[i]);
    }
    OK(MPI_File_close(&fh));
}

static const struct test_case cases[] = {
    TEST(sync_barrier_sync),       TEST(close_then_open),
    TEST(own_writes_at_once),      TEST(adjacent_blocks),
    TEST(neighbours_in_the_gaps),  TEST(neighbours_in_the_gaps_collective),
    TEST(gaps_through_own_opens),  TEST(collective_then_independent),
    TEST(views_one_after_another), {0}};
TEST_MAIN(cases)
