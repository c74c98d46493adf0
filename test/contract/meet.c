/* Meetings in memory: the largest of each word, of this meeting and no other, however the ranks
 * come and wait; and what a rank has written before is there for all who have
 * met it. */
#include <sched.h>
#include <unistd.h>

#include "comm/reduce.h"
#include "crewed.h"

enum {
    MEETINGS = 3000
};

static struct crewed t;

/* What a rank brings; the same random numbers on all, for each draws for all. */
static int64_t word_of(int rank, int meeting, int i)
{
    uint64_t x = (uint64_t)(rank + 1) * 0x9E3779B97F4A7C15u;
    x ^= (uint64_t)(meeting * 16 + i + 1) * 0xBF58476D1CE4E5B9u;
    x ^= x >> 29;
    x *= 0x94D049BB133111EBu;
    return (int64_t)(x ^ x >> 32) >> (meeting % 2 ? 0 : 60);
}

static void bring(struct brio_reduce *r, int meeting)
{
    r->n = 1 + meeting % BRIO_MEET_WORDS;
    for (int i = 0; i < r->n; i++)
        r->in[i] = word_of(test_rank, meeting, i);
    brio_reduce_start(r, &t.team);
}

static void check(const struct brio_reduce *r, int meeting)
{
    CHECK(!r->failed, "MPI failed");
    for (int i = 0; i < r->n; i++) {
        int64_t most = INT64_MIN;
        for (int rank = 0; rank < test_nranks; rank++)
            most = brio_max(most, word_of(rank, meeting, i));
        CHECK(r->out[i] == most, "meeting %d, word %d of %d: %lld, not %lld", meeting, i, r->n,
              (long long)r->out[i], (long long)most);
    }
}

/* Ranks dawdle now and then, long enough for the others to fall asleep; some only look. */
static void meet_all(enum brio_wait how)
{
    struct brio_reduce r;
    if (!crewed_open(&t, 1))
        return;
    for (int m = 0; m < MEETINGS; m++) {
        if (word_of(test_rank, m, 14) % 97 == 0)
            usleep((useconds_t)(200 + m % 1000));
        bring(&r, m);
        while (!brio_reduce_done(&r, how))
            sched_yield();
        check(&r, m);
    }
    crewed_close(&t);
}

static void all_wait(void)
{
    meet_all(BRIO_BLOCK);
}

static void all_look(void)
{
    meet_all(BRIO_POLL);
}

static void some_wait(void)
{
    meet_all(test_rank % 2 ? BRIO_BLOCK : BRIO_POLL);
}

/* Each rank in turn writes to common memory; all read it behind the next meeting. */
static void what_was_written_is_there(void)
{
    struct brio_reduce r;
    if (!crewed_open(&t, 1))
        return;
    struct brio_region *region = &t.crew.region;
    enum brio_err err;
    brio_region_need(region, (size_t)test_nranks * 64);
    while (!brio_region_step(region, BRIO_BLOCK, &err))
        ;
    CHECK(!err, "%s", brio_err_text());
    for (int m = 0; m < MEETINGS && !err; m++) {
        *(volatile int *)(void *)(region->mem + 64 * test_rank) = m + 1;
        bring(&r, 2 * m);
        brio_reduce_done(&r, BRIO_BLOCK);
        for (int rank = 0; rank < test_nranks; rank++) {
            int seen = *(volatile int *)(void *)(region->mem + 64 * rank);
            CHECK(seen == m + 1, "rank %d wrote %d, and %d is there", rank, m + 1, seen);
        }
        bring(&r, 2 * m + 1);
        brio_reduce_done(&r, BRIO_BLOCK);
    }
    crewed_close(&t);
}

/* Numbers of meetings begin again. */
static void meetings_without_end(void)
{
    struct brio_reduce r = {.n = 1};
    if (test_nranks > BRIO_MEET_SEATS || !crewed_open(&t, 1))
        return;
    const uint32_t met[] = {UINT32_MAX - 50, INT32_MAX - 50};
    for (int i = 0; i < 2; i++) {
        struct brio_meet *meet = t.team.meet;
        MPI_Barrier(MPI_COMM_WORLD);
        meet->seat[met[i] & 1][test_rank].epoch = met[i];
        meet->seat[~met[i] & 1][test_rank].epoch = met[i] - 1;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int m = 0; m < 200; m++) {
            r.in[0] = m;
            brio_reduce_start(&r, &t.team);
            brio_reduce_done(&r, BRIO_BLOCK);
            CHECK(r.out[0] == m, "%lld was brought to meeting %d", (long long)r.out[0], m);
        }
    }
    crewed_close(&t);
}

static const struct test_case cases[] = {TEST(meetings_without_end),
                                         TEST(all_wait),
                                         TEST(all_look),
                                         TEST(some_wait),
                                         TEST(what_was_written_is_there),
                                         {0}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int code = test_main_mpi(argc, argv, cases);
    MPI_Finalize();
    return code;
}
