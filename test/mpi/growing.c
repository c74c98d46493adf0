/* Small pieces are stored through a mapping of the file, which others make longer at the same
 * time. */
#include "brio/brio.h"
#include "expect.h"
#include "disk.h"

enum {
    PIECES = 20,
    PIECE = 4,
    STRIDE = 16,
    REGION = PIECES * STRIDE,
    ROUNDS = 1500
};

static MPI_File open_scattered(void)
{
    MPI_File fh;
    MPI_Datatype piece;
    OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE,
                     MPI_INFO_NULL, &fh));
    MPI_Type_create_resized(MPI_INT, 0, STRIDE, &piece);
    MPI_Type_commit(&piece);
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * REGION, MPI_INT, piece, "native",
                         MPI_INFO_NULL));
    MPI_Type_free(&piece);
    return fh;
}

/* What a rank has stored must stay, whoever appends behind it. (A kernel that was told nothing
 * lost some of it in one round of 13,000.) */
static void others_append(void)
{
    MPI_File fh = open_scattered();
    int data[PIECES], bad = 0;
    for (int round = 0; round < ROUNDS && bad == 0; round++) {
        unsigned char there[REGION];
        for (int i = 0; i < PIECES; i++)
            data[i] = 1 + round * PIECES + i;
        OK(MPI_File_set_size(fh, 0));
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_write_at(fh, 0, data, PIECES, MPI_INT, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        load_file(test_file(), (int64_t)test_rank * REGION, there, sizeof there);
        for (int i = 0; i < PIECES; i++)
            bad += memcmp(there + (size_t)i * STRIDE, &data[i], PIECE) != 0;
        CHECK(bad == 0, "round %d: %d pieces are gone", round, bad);
        MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&fh));
}

/* A file that is long enough is written to once before it is mapped: this waits for who may
 * just have made it so. */
static void waits_for_who_appends(void)
{
    MPI_File fh = open_scattered();
    int data[PIECES] = {1};
    long long before = 0, after = 0, mapped = 0;
    OK(MPI_File_set_size(fh, (MPI_Offset)test_nranks * REGION));
    OK(brio_counter(fh, "write.calls", &before));
    OK(MPI_File_write_at(fh, 0, data, PIECES, MPI_INT, MPI_STATUS_IGNORE));
    OK(brio_counter(fh, "write.calls", &after));
    OK(brio_counter(fh, "mapped", &mapped));
    CHECK(mapped == 0 || after == before + 1, "%lld calls beside %lld mappings", after - before,
          mapped);
    OK(MPI_File_close(&fh));
}

static const struct test_case cases[] = {TEST(others_append), TEST(waits_for_who_appends), {0}};
TEST_MAIN(cases)
