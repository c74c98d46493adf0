/* What ranks say of an access, one by one, and what all know of it then. */
#include <string.h>

#include "check.h"
#include "comm/verdict.h"
#include "fcoll/accord.h"

enum {
    RANKS = 12,
    WORDS = BRIO_MEET_WORDS
};

static struct brio_map *bytes_map;

/* One rank's access, contiguous; or none. */
static struct brio_io draw_io(void)
{
    struct brio_io io = brio_io_flat(BRIO_WRITE, test_below(1000), NULL, 0, bytes_map);
    io.pos = test_below(5000);
    io.bytes = test_below(3) ? 1 + test_below(4000) : 0;
    return io;
}

static void keep_largest(int64_t *all, const int64_t *words, int n, bool first)
{
    for (int i = 0; i < n; i++)
        all[i] = first ? words[i] : brio_max(all[i], words[i]);
}

static void what_is_left_is_known(void)
{
    uint64_t seed = test_seed();
    for (int t = 0; t < 100000 && !test_failed; t++) {
        int n = 1 + (int)test_below(RANKS), first = -1, last = -1, failed = -1;
        brio_off lo = BRIO_OFF_MAX, hi = 0, most = 0;
        int64_t all[WORDS], words[WORDS];
        bool ahead = true;
        for (int r = 0; r < n; r++) {
            struct brio_team team = {.rank = r, .nranks = n};
            struct brio_crew crew = {.team = team};
            struct brio_coll_env env = {.team = &team, .crew = &crew};
            struct brio_io io = draw_io();
            struct brio_say say = {.env = &env, .io = &io, .last_id = r};
            bool here = test_below(4) > 0;
            if (test_below(20) == 0) {
                say.mine = BRIO_EIO;
                failed = r;
                io.bytes = 0;
            }
            int nwords = brio_accord_say(words, &say);
            brio_accord_ahead(words, here);
            keep_largest(all, words, nwords, r == 0);
            ahead &= here;
            if (io.bytes == 0)
                continue;
            first = first < 0 ? r : first;
            last = r;
            most = brio_max(most, io.bytes);
            lo = brio_min(lo, io.base + io.pos);
            hi = brio_max(hi, io.base + io.pos + io.bytes);
        }
        struct brio_accord a = brio_accord_read(all, BRIO_WRITE);
        CHECK((a.worst != 0) == (failed >= 0), "seed %llu: a failure is not known",
              (unsigned long long)seed);
        CHECK(a.none == (most == 0), "seed %llu: nobody knows what is left",
              (unsigned long long)seed);
        if (a.none)
            continue;
        CHECK(a.last_id == n - 1, "id %lld of %d", (long long)a.last_id, n);
        CHECK(a.lo == lo && a.hi == hi && a.all.span == hi - lo, "seed %llu: wrong bounds",
              (unsigned long long)seed);
        CHECK(a.nsources == last - first + 1 && a.all.most == most &&
                  a.all.volume == most * a.nsources,
              "seed %llu: %d ranks with %lld bytes", (unsigned long long)seed, a.nsources,
              (long long)a.all.most);
        CHECK(a.ahead == ahead && a.plan == 0, "seed %llu: who is ahead, and by which plan?",
              (unsigned long long)seed);
    }
}

static const struct test_case cases[] = {TEST(what_is_left_is_known), {0}};

int main(int argc, char **argv)
{
    if (brio_map_bytes(1, &bytes_map))
        return 1;
    int code = test_main(argc, argv, cases);
    brio_map_unref(bytes_map);
    return code;
}
