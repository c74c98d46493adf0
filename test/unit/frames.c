/* Frames against a plain list: taken, given back, and the oldest found. */
#include <stdatomic.h>

#include "cache/frames.h"
#include "check.h"

enum {
    FRAMES = 17,
    RUNS = 24
};

static void against_a_list(void)
{
    uint64_t seed = test_seed();
    struct brio_frames *f = calloc(1, brio_frames_room(FRAMES, RUNS));
    uint64_t used[FRAMES] = {0}, now = 0;
    brio_off page[FRAMES];
    uint32_t ntaken = 0;
    brio_frames_init(f, FRAMES, RUNS);
    for (long step = 0; step < 300000 && !test_failed; step++) {
        uint32_t i, got = FRAMES;
        switch (test_below(6)) {
        case 0:
        case 1: {
            brio_off p = test_below(1 << 20);
            bool taken = brio_frames_take(f, p, ++now, &i);
            CHECK(taken == (ntaken < FRAMES), "%u of %d taken", ntaken, FRAMES);
            if (!taken)
                break;
            CHECK(i < FRAMES && used[i] == 0, "frame %u twice", i);
            struct brio_cached *c = brio_cached_at(f, i);
            CHECK(c->page == p && !c->whole && c->dirty.n == 0, "not empty");
            c->whole = true;
            CHECK(brio_dirty_add(&c->dirty, 5, 6), "no room");
            used[i] = now;
            page[i] = p;
            ntaken++;
            break;
        }
        case 2: /* used again */
            i = (uint32_t)test_below(FRAMES);
            if (used[i])
                atomic_store(&brio_cached_at(f, i)->used, used[i] = ++now);
            break;
        case 3:
            i = (uint32_t)test_below(FRAMES);
            if (!used[i])
                break;
            CHECK(brio_cached_at(f, i)->page == page[i], "another page");
            brio_frames_give(f, i);
            used[i] = 0;
            ntaken--;
            break;
        case 4: {
            uint64_t after = (uint64_t)test_below((int64_t)now + 1);
            bool found = brio_frames_oldest(f, after, &got);
            uint32_t want = FRAMES;
            for (i = 0; i < FRAMES; i++)
                if (used[i] > after && (want == FRAMES || used[i] < used[want]))
                    want = i;
            CHECK(found == (want < FRAMES) && (!found || got == want), "frame %u, not %u", got,
                  want);
            break;
        }
        default:
            if (test_below(2000) == 0) {
                brio_frames_clear(f);
                memset(used, 0, sizeof used);
                ntaken = 0;
            }
        }
        CHECK(f->ntaken == ntaken, "%u taken, not %u", f->ntaken, ntaken);
    }
    free(f);
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

static const struct test_case cases[] = {TEST(against_a_list), {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
