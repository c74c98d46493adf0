/* Messages around a ring of ranks: of every length about the border of a piece, many pieces
 * long, and where there is no memory for what comes. */
#include <stdlib.h>

#include "check_mpi.h"
#include "comm/cargo.h"

enum {
    PIECE = 64,
    TAG = 5
};

static unsigned char byte_of(int rank, size_t i, size_t bytes)
{
    return (unsigned char)((size_t)rank * 31 + i * 7 + bytes);
}

/* What a rank sends: the others' lengths differ. */
static size_t length_of(int rank, size_t bytes)
{
    return bytes + (size_t)rank * 3;
}

static int before(void)
{
    return (test_rank + test_nranks - 1) % test_nranks;
}

static struct brio_cargo load(size_t bytes, char *out)
{
    size_t mine = length_of(test_rank, bytes);
    for (size_t i = 0; i < mine; i++)
        out[i] = (char)byte_of(test_rank, i, bytes);
    return (struct brio_cargo){.comm = MPI_COMM_WORLD,
                               .to = (test_rank + 1) % test_nranks,
                               .from = before(),
                               .tag = TAG,
                               .piece = PIECE,
                               .out = out,
                               .out_bytes = mine};
}

static void pass(size_t bytes)
{
    char *out = malloc(length_of(test_rank, bytes) + 1);
    if (!out)
        abort();
    struct brio_cargo c = load(bytes, out);
    size_t bad = 0;
    brio_cargo_start(&c);
    while (!brio_cargo_step(&c))
        ;
    CHECK(c.err == BRIO_OK && c.in && c.in_bytes == length_of(before(), bytes),
          "%zu of %zu bytes, error %d", c.in_bytes, length_of(before(), bytes), (int)c.err);
    for (size_t i = 0; c.in && i < c.in_bytes; i++)
        bad += (unsigned char)c.in[i] != byte_of(before(), i, bytes);
    CHECK(bad == 0, "%zu of %zu bytes are others", bad, c.in_bytes);
    free(c.in);
    free(out);
}

static void every_length(void)
{
    for (size_t bytes = 0; bytes < 3 * PIECE + 2; bytes++)
        pass(bytes);
}

static void many_pieces(void)
{
    pass((size_t)1000 * PIECE);
    pass((size_t)1000 * PIECE + 1);
}

/* The first rank has failed for want of memory before a piece comes: it takes them all the
 * same, and the next message comes as if nothing had been. */
static void no_memory(void)
{
    enum {
        BYTES = 20 * PIECE + 5
    };
    char out[BYTES + 1000];
    struct brio_cargo c = load(BYTES, out);
    brio_cargo_start(&c);
    if (test_rank == 0)
        c.err = BRIO_ENOMEM;
    while (!brio_cargo_step(&c))
        ;
    CHECK(c.err == (test_rank == 0 ? BRIO_ENOMEM : BRIO_OK), "error %d", (int)c.err);
    CHECK((c.in == NULL) == (test_rank == 0), "memory");
    free(c.in);
    pass(100);
}

static const struct test_case cases[] = {
    TEST(every_length), TEST(many_pieces), TEST(no_memory), {0}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int code = test_main_mpi(argc, argv, cases);
    MPI_Finalize();
    return code;
}
