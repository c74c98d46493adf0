/* Memory that grows: what is in it stays, and one that is large is kept for the next. */
#include "base/room.h"

#include <stdint.h>
#include <sys/mman.h>

#include "check.h"

enum {
    LARGE = 2 << 20
};

static bool is_mapped(const char *mem)
{
    unsigned char in_core;
    return mincore((char *)((uintptr_t)mem / 4096 * 4096), 4096, &in_core) == 0;
}

static void fill(struct brio_room *room, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        room->mem[i] = (char)(i + i / 255);
}

static bool is_filled(const struct brio_room *room, size_t to)
{
    for (size_t i = 0; i < to; i++)
        if (room->mem[i] != (char)(i + i / 255))
            return false;
    return true;
}

/* From nothing to many large pages, by odd steps. */
static void grows(void)
{
    struct brio_room room = {.mem = NULL};
    size_t used = 0;
    for (size_t want = 1; want < 40 << 20; want += want / 3 + 1) {
        REQUIRE(!brio_room_need(&room, want), "%s", brio_err_text());
        REQUIRE(room.bytes >= want &&
                    (room.bytes < 2 * want + (128 << 10) || room.bytes == 16 << 20),
                "%zu for %zu", room.bytes, want);
        REQUIRE(room.bytes < LARGE || (uintptr_t)room.mem % LARGE == 0, "%p", (void *)room.mem);
        REQUIRE(is_filled(&room, used), "what was in it is gone at %zu", want);
        fill(&room, used, want);
        used = want;
    }
    brio_room_free(&room);
    CHECK(!room.mem && room.bytes == 0, "it is still there");
}

static void keeps_one(void)
{
    struct brio_room a = {.mem = NULL}, b = {.mem = NULL}, c = {.mem = NULL};
    REQUIRE(!brio_room_need(&a, 8 << 20) && !brio_room_need(&b, 4 << 20), "%s",
            brio_err_text());
    char *first = a.mem, *second = b.mem;
    brio_room_free(&a);
    CHECK(is_mapped(first), "it is not kept");
    brio_room_free(&b);
    CHECK(is_mapped(second) && !is_mapped(first), "two are kept, or none");
    REQUIRE(!brio_room_need(&a, 100) && a.mem != second, "a small one is not the one kept");
    fill(&a, 0, 100);
    REQUIRE(!brio_room_need(&a, 3 << 20), "%s", brio_err_text());
    CHECK(a.mem == second && a.bytes == 16 << 20, "it is not used again");
    CHECK(is_filled(&a, 100), "what was in the small one is gone");
    REQUIRE(!brio_room_need(&c, 3 << 20), "%s", brio_err_text());
    CHECK(c.mem != a.mem, "it is given out twice");
    brio_room_free(&c);
    brio_room_free(&a);
    brio_room_finalize();
    CHECK(!is_mapped(second), "it is kept for ever");
}

/* One that is very large is not, and does not take the place of one that is. */
static void keeps_no_giant(void)
{
    struct brio_room a = {.mem = NULL}, b = {.mem = NULL};
    REQUIRE(!brio_room_need(&a, 4 << 20) && !brio_room_need(&b, 40 << 20), "%s",
            brio_err_text());
    char *first = a.mem, *giant = b.mem;
    brio_room_free(&a);
    brio_room_free(&b);
    CHECK(is_mapped(first) && !is_mapped(giant), "the giant is kept");
    brio_room_finalize();
}

static void fails_as_it_was(void)
{
    struct brio_room room = {.mem = NULL};
    CHECK(brio_room_need(&room, SIZE_MAX - 5) == BRIO_ENOMEM && !room.mem, "so much?");
    REQUIRE(!brio_room_need(&room, 3 << 20), "%s", brio_err_text());
    fill(&room, 0, 3 << 20);
    CHECK(brio_room_need(&room, SIZE_MAX / 3) == BRIO_ENOMEM, "so much?");
    CHECK(room.bytes == 16 << 20 && is_filled(&room, 3 << 20), "it has changed");
    brio_room_free(&room);
    brio_room_finalize();
}

static const struct test_case cases[] = {
    TEST(grows), TEST(keeps_one), TEST(keeps_no_giant), TEST(fails_as_it_was), {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
