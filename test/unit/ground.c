/* What a file is known to hold: asked once for much, and not at all where that is no use. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "fs/ground.h"

enum {
    PIECE = 64 << 10
};

static struct brio_ground ground;
static char path[64];

static void make_file(void)
{
    snprintf(path, sizeof path, "ground.%ld.dat", (long)getpid());
    ground = (struct brio_ground){.fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600)};
    CHECK(ground.fd >= 0, "no file to test with");
}

static void write_piece(int i)
{
    static char data[PIECE];
    CHECK(pwrite(ground.fd, data, PIECE, (off_t)i * PIECE) == PIECE, "it cannot be written");
}

static void drop_file(void)
{
    close(ground.fd);
    unlink(path);
}

static bool holds(int i)
{
    return brio_ground_holds(&ground, (brio_off)i * PIECE, PIECE);
}

static void what_is_new_is_not_there(void)
{
    make_file();
    for (int i = 0; i < 8; i++) {
        CHECK(!holds(i), "piece %d is there before it is written", i);
        write_piece(i);
    }
    CHECK(ground.hi == 0, "a file that grows was asked about");
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 8; i++)
            CHECK(holds(i), "piece %d is not there", i);
    CHECK(!brio_ground_holds(&ground, 7 * PIECE, PIECE + 1), "there is more than was written");
    drop_file();
}

static void a_hole_is_not_there(void)
{
    make_file();
    CHECK(!holds(9), "it is there before it is written");
    write_piece(0);
    write_piece(9);
    CHECK(holds(0), "the first piece is not there");
    for (int i = 1; i < 9; i++)
        CHECK(!holds(i), "piece %d of a hole is there", i);
    drop_file();
}

/* However often it is asked in vain, it says yes in the end. */
static void it_is_asked_again(void)
{
    make_file();
    write_piece(9);
    CHECK(!holds(9), "it was asked about what is new");
    for (int k = 0; k < 5000; k++)
        CHECK(!holds(k % 8), "a piece of a hole is there");
    for (int k = 0; k < 5000 && !holds(9); k++)
        ;
    CHECK(holds(9), "it never saw what is there");
    drop_file();
}

static void a_limit_counts(void)
{
    struct rlimit before, now;
    signal(SIGXFSZ, SIG_IGN);
    make_file();
    for (int i = 0; i < 4; i++)
        write_piece(i);
    CHECK(!holds(3), "it was asked about what is new");
    getrlimit(RLIMIT_FSIZE, &before);
    now = before;
    now.rlim_cur = 2 * PIECE + PIECE / 2;
    setrlimit(RLIMIT_FSIZE, &now);
    CHECK(holds(0) && holds(1), "what may be written is not there");
    CHECK(!holds(2) && !holds(3), "what may not be written is there");
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(holds(2) && holds(3), "what may be written again is not there");
    setrlimit(RLIMIT_FSIZE, &now);
    CHECK(!holds(2), "a limit set later is not seen");
    setrlimit(RLIMIT_FSIZE, &before);
    drop_file();
}

static void a_cut_is_remembered(void)
{
    make_file();
    for (int i = 0; i < 4; i++)
        write_piece(i);
    (void)holds(3);
    CHECK(holds(2), "it is not there");
    CHECK(ftruncate(ground.fd, 0) == 0, "it cannot be cut");
    brio_ground_forget(&ground);
    CHECK(!holds(2), "what was cut off is there");
    CHECK(!holds(1), "what was cut off is there when asked about");
    drop_file();
}

static void what_is_owed_is_told_once(void)
{
    make_file();
    for (int i = 0; i < 4; i++)
        write_piece(i);
    (void)holds(3);
    CHECK(holds(2) && brio_ground_owes(&ground) == BRIO_OK, "something is owed");
    brio_ground_gave_way(&ground, BRIO_EIO);
    CHECK(ground.hi == ground.lo, "what gave way is still trusted");
    brio_ground_forget(&ground);
    CHECK(brio_ground_owes(&ground) == BRIO_EIO, "nobody is told");
    CHECK(brio_ground_owes(&ground) == BRIO_OK, "it is told twice");
    drop_file();
}

static const struct test_case cases[] = {TEST(what_is_new_is_not_there),
                                         TEST(a_hole_is_not_there),
                                         TEST(it_is_asked_again),
                                         TEST(a_limit_counts),
                                         TEST(a_cut_is_remembered),
                                         TEST(what_is_owed_is_told_once),
                                         {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
