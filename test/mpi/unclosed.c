/* Files that are still open in MPI_Finalize: a program must not do that, but what it has
 * written is in the file all the same. */
#include <mpi.h>
#include <sys/stat.h>

#include "check.h"

enum {
    BLOCK = 64,
    NBLOCKS = 300
};

static const char *const caches[] = {"none", "writebehind", "auto", "coherent"};
static int rank, nranks;

static void name_file(char *path, size_t room, const char *cache)
{
    const char *dir = getenv("BRIO_TEST_DIR");
    snprintf(path, room, "%s/unclosed.%s", dir ? dir : ".", cache);
}

static void write_blocks(MPI_File fh)
{
    char block[BLOCK];
    memset(block, 'a' + rank, BLOCK);
    for (int i = 0; i < NBLOCKS; i++)
        CHECK(MPI_File_write_at(fh, (MPI_Offset)(i * nranks + rank) * BLOCK, block, BLOCK,
                                MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
              "block %d", i);
}

static void leave_open(const char *cache)
{
    char path[512];
    MPI_File fh;
    MPI_Info info;
    name_file(path, sizeof path, cache);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cache", cache);
    int err = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &fh);
    MPI_Info_free(&info);
    REQUIRE(err == MPI_SUCCESS, "%s: %d", path, err);
    write_blocks(fh);
}

static void all_is_in_the_files(void)
{
    for (size_t c = 0; c < sizeof caches / sizeof caches[0]; c++) {
        char path[512];
        int bad = 0, size = 0;
        name_file(path, sizeof path, caches[c]);
        FILE *file = fopen(path, "r");
        REQUIRE(file, "%s", path);
        for (int byte; (byte = fgetc(file)) != EOF; size++)
            bad += byte != 'a' + size / BLOCK % nranks;
        fclose(file);
        CHECK(size == nranks * NBLOCKS * BLOCK && bad == 0, "%s: %d bytes, %d wrong", caches[c],
              size, bad);
    }
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {TEST(all_is_in_the_files), {0}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    for (size_t c = 0; c < sizeof caches / sizeof caches[0]; c++)
        leave_open(caches[c]);
    MPI_Finalize();
    return test_main(argc, argv, cases);
}
