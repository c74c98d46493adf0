/* Memory that is kept for the next who needs some: who gets it, and what becomes of the rest.
 */
#include "comm/attic.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum {
    PIECE = 1 << 16
};

/* One that this process made, or another. */
static struct brio_spare make(int64_t id, size_t bytes, int own)
{
    struct brio_spare s = {.id = id, .bytes = bytes, .fd = -1};
    int fd = memfd_create("test", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        return s;
    s.mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    s.had = calloc(1, 16);
    memset(s.mem, 'k', bytes);
    if (own)
        s.fd = fd;
    else
        close(fd);
    return s;
}

static int is_mapped(const char *mem)
{
    unsigned char in_core;
    return mincore((char *)mem, 4096, &in_core) == 0;
}

static void keeps_for_its_maker(void)
{
    struct brio_spare s = make(7, 2 * PIECE, 1), out = {.mem = NULL};
    brio_attic_put(&s);
    CHECK(!brio_attic_own(2 * PIECE + 1, &out), "more than there is");
    REQUIRE(brio_attic_own(PIECE, &out), "less than there is");
    CHECK(out.mem == s.mem && out.bytes == s.bytes && out.fd == s.fd && out.id == 7,
          "another piece");
    CHECK(out.mem[0] == 'k' && out.mem[2 * PIECE - 1] == 'k', "not as it was left");
    struct brio_spare again;
    CHECK(!brio_attic_own(1, &again) && !brio_attic_find(7, 1, &again), "given out twice");
    brio_spare_free(&out);
}

static void is_found_by_its_number(void)
{
    struct brio_spare s = make(8, PIECE, 0), out;
    brio_attic_put(&s);
    CHECK(!brio_attic_own(PIECE, &out), "made by another process, which can give it out");
    CHECK(!brio_attic_find(9, PIECE, &out), "another number");
    CHECK(!brio_attic_find(0, PIECE, &out), "no number");
    CHECK(!brio_attic_find(8, PIECE + 1, &out), "too small");
    REQUIRE(brio_attic_find(8, PIECE, &out), "number 8");
    CHECK(out.mem == s.mem, "another piece");
    brio_spare_free(&out);
}

static void keeps_one_piece(void)
{
    struct brio_spare a = make(10, PIECE, 1), b = make(11, PIECE, 1), c = make(0, PIECE, 1),
                      out;
    brio_attic_put(&a);
    brio_attic_put(&b);
    CHECK(!is_mapped(a.mem), "the older piece was not given back");
    brio_attic_put(&c);
    CHECK(!is_mapped(c.mem), "a piece without a number was kept");
    CHECK(!brio_attic_find(10, 1, &out), "the older piece is still there");
    REQUIRE(brio_attic_find(11, 1, &out), "the newer piece is gone");
    brio_attic_put(&out);
    brio_attic_finalize();
    CHECK(!is_mapped(b.mem), "kept beyond the end");
    CHECK(!brio_attic_own(1, &out), "found after the end");
}

/* A child has the mapping; its parent and the other ranks go on to use it. */
static void is_not_inherited(void)
{
    struct brio_spare s = make(12, PIECE, 1), out;
    int status = 0;
    brio_attic_put(&s);
    pid_t child = fork();
    if (child == 0)
        _exit(brio_attic_own(1, &out) || brio_attic_find(12, 1, &out));
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child, "fork");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child took the parent's memory");
    CHECK(brio_attic_own(1, &out), "it is gone");
    brio_spare_free(&out);
}

static const struct test_case cases[] = {TEST(keeps_for_its_maker),
                                         TEST(is_found_by_its_number),
                                         TEST(keeps_one_piece),
                                         TEST(is_not_inherited),
                                         {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
