/* The large-count functions, under both their names: each moves what its int form would, and
 * counts beyond 2^31 arrive whole. Open MPI 4 has none of them; brio.h declares them there. */
#include <sys/mman.h>

#include "brio/brio.h"
#include "check_mpi.h"

enum {
    N = 16
};

static int out[N], in[N];
static MPI_Status status;
static MPI_Request request;

static MPI_File open_ints(void)
{
    MPI_File fh;
    int rc = MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                           MPI_INFO_NULL, &fh);
    CHECK(rc == MPI_SUCCESS, "open: %d", rc);
    MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    return fh;
}

static MPI_Offset mine(void)
{
    return (MPI_Offset)test_rank * N;
}

static void before_write(MPI_File fh)
{
    static int salt;
    salt++;
    for (int i = 0; i < N; i++)
        out[i] = test_rank * 1000 + i + salt * 100000;
    memset(in, 0, sizeof in);
    MPI_File_seek(fh, mine(), MPI_SEEK_SET);
    MPI_File_seek_shared(fh, 0, MPI_SEEK_SET);
}

static void before_read(MPI_File fh)
{
    status = (MPI_Status){0};
    MPI_File_seek(fh, mine(), MPI_SEEK_SET);
    MPI_File_seek_shared(fh, 0, MPI_SEEK_SET);
}

static void check_moved(const char *what, int rc)
{
    int n = -1;
    MPI_Get_count(&status, MPI_INT, &n);
    CHECK(rc == MPI_SUCCESS && n == N, "%s: %d, %d ints", what, rc, n);
}

static void check_same(const char *what)
{
    CHECK(memcmp(in, out, sizeof in) == 0, "%s: %d, not %d", what, in[0], out[0]);
}

/* A write and the read that belongs to it, by the MPI_ and by the PMPI_ names. */
#define PAIR(fh, w, r)                                                                         \
    do {                                                                                       \
        before_write(fh);                                                                      \
        check_moved(#w, w);                                                                    \
        before_read(fh);                                                                       \
        check_moved(#r, r);                                                                    \
        check_same(#r);                                                                        \
    } while (0)
#define BOTH(fh, name, ...)                                                                    \
    PAIR(fh, MPI_File_write##name(fh, __VA_ARGS__ out, N, MPI_INT, &status),                   \
         MPI_File_read##name(fh, __VA_ARGS__ in, N, MPI_INT, &status));                        \
    PAIR(fh, PMPI_File_write##name(fh, __VA_ARGS__ out, N, MPI_INT, &status),                  \
         PMPI_File_read##name(fh, __VA_ARGS__ in, N, MPI_INT, &status))

static int waited(int rc)
{
    return rc == MPI_SUCCESS ? MPI_Wait(&request, &status) : rc;
}
#define STARTED(fh, name, ...)                                                                 \
    PAIR(fh, waited(MPI_File_iwrite##name(fh, __VA_ARGS__ out, N, MPI_INT, &request)),         \
         waited(MPI_File_iread##name(fh, __VA_ARGS__ in, N, MPI_INT, &request)));              \
    PAIR(fh, waited(PMPI_File_iwrite##name(fh, __VA_ARGS__ out, N, MPI_INT, &request)),        \
         waited(PMPI_File_iread##name(fh, __VA_ARGS__ in, N, MPI_INT, &request)))

#define SPLIT(fh, name, ...)                                                                   \
    PAIR(fh,                                                                                   \
         (MPI_File_write##name##_begin_c(fh, __VA_ARGS__ out, N, MPI_INT),                     \
          MPI_File_write##name##_end(fh, out, &status)),                                       \
         (MPI_File_read##name##_begin_c(fh, __VA_ARGS__ in, N, MPI_INT),                       \
          MPI_File_read##name##_end(fh, in, &status)));                                        \
    PAIR(fh,                                                                                   \
         (PMPI_File_write##name##_begin_c(fh, __VA_ARGS__ out, N, MPI_INT),                    \
          PMPI_File_write##name##_end(fh, out, &status)),                                      \
         (PMPI_File_read##name##_begin_c(fh, __VA_ARGS__ in, N, MPI_INT),                      \
          PMPI_File_read##name##_end(fh, in, &status)))

static void explicit_offsets(void)
{
    MPI_File fh = open_ints();
    BOTH(fh, _at_c, mine(), );
    BOTH(fh, _at_all_c, mine(), );
    STARTED(fh, _at_c, mine(), );
    STARTED(fh, _at_all_c, mine(), );
    SPLIT(fh, _at_all, mine(), );
    MPI_File_close(&fh);
}

static void individual_pointer(void)
{
    MPI_File fh = open_ints();
    BOTH(fh, _c, );
    BOTH(fh, _all_c, );
    STARTED(fh, _c, );
    STARTED(fh, _all_c, );
    SPLIT(fh, _all, );
    MPI_File_close(&fh);
}

static void ordered(void)
{
    MPI_File fh = open_ints();
    BOTH(fh, _ordered_c, );
    SPLIT(fh, _ordered, );
    MPI_File_close(&fh);
}

/* Each rank on a file of its own, for the order among ranks is not fixed. */
static void shared_pointer(void)
{
    MPI_File fh;
    char path[600];
    snprintf(path, sizeof path, "%s.%d", test_file(), test_rank);
    int rc = MPI_File_open(MPI_COMM_SELF, path,
                           MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &fh);
    REQUIRE(rc == MPI_SUCCESS, "open: %d", rc);
    BOTH(fh, _shared_c, );
    STARTED(fh, _shared_c, );
    MPI_File_close(&fh);
}

static void extent_and_datarep(void)
{
    MPI_Count extent = -1;
    MPI_File fh = open_ints();
    CHECK(MPI_File_get_type_extent_c(fh, MPI_DOUBLE, &extent) == MPI_SUCCESS, "extent");
    CHECK(extent == sizeof(double), "%lld", (long long)extent);
    extent = -1;
    CHECK(PMPI_File_get_type_extent_c(fh, MPI_INT, &extent) == MPI_SUCCESS, "extent");
    CHECK(extent == sizeof(int), "%lld", (long long)extent);
    MPI_File_close(&fh);
    int rc = MPI_Register_datarep_c("brio-none", MPI_CONVERSION_FN_NULL_C,
                                    MPI_CONVERSION_FN_NULL_C, NULL, NULL);
    int class;
    MPI_Error_class(rc, &class);
    CHECK(class == MPI_ERR_ARG, "no extent function: class %d", class);
}

/* More bytes are asked for than fit an int, and fewer are there. */
static void beyond_two_gigabytes(void)
{
    const MPI_Count many = (MPI_Count)5 << 30;
    void *room = mmap(NULL, (size_t)many, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(room != MAP_FAILED, "mmap");
    MPI_Count n = -1;
    MPI_File fh = open_ints();
    before_write(fh);
    MPI_File_write_at_all_c(fh, mine(), out, N, MPI_INT, &status);
    MPI_File_set_view(fh, mine() * (MPI_Offset)sizeof(int), MPI_BYTE, MPI_BYTE, "native",
                      MPI_INFO_NULL);
    int rc = MPI_File_read_at_c(fh, 0, room, many, MPI_BYTE, &status);
    MPI_Get_elements_x(&status, MPI_BYTE, &n);
    MPI_Count want = (MPI_Count)sizeof out * (test_nranks - test_rank);
    CHECK(rc == MPI_SUCCESS && n == want, "%d, %lld bytes", rc, (long long)n);
    CHECK(memcmp(room, out, sizeof out) == 0, "not what was written");
    MPI_File_close(&fh);
    munmap(room, (size_t)many);
}

static const struct test_case cases[] = {TEST(explicit_offsets),
                                         TEST(individual_pointer),
                                         TEST(ordered),
                                         TEST(shared_pointer),
                                         TEST(extent_and_datarep),
                                         TEST(beyond_two_gigabytes),
                                         {0}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int code = test_main_mpi(argc, argv, cases);
    MPI_Finalize();
    return code;
}
