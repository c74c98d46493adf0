/* Letters between ranks, inside one node and between several pretended ones: nothing lost,
 * nothing out of order, answered whatever the other rank does, and asleep when idle. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "crewed.h"
#include "idle.h"
#include "comm/courier.h"

enum {
    ROOM = 20000,
    BOXES = 6,
    MOST_RANKS = 16
};

/* What the ranks ask of each other. */
enum {
    ECHO,    /* the bytes, each plus one */
    COUNT,   /* a post with a number: they must come in order */
    ACQUIRE, /* the one lock of this rank: answered when it is free */
    RELEASE,
    SUM /* of the numbers that were counted */
};

struct request {
    int what;
    int64_t number;
    unsigned char bytes[];
};

static struct desk_state {
    _Atomic int echoes;
    struct brio_courier *courier;
    pthread_mutex_t mutex;
    int64_t next[MOST_RANKS]; /* number expected from each */
    _Atomic int64_t sum;      /* read when all others have drained, which TSan cannot see */
    int locked;
    struct brio_letter *first, *last; /* who wait for the lock */
    _Atomic int ticks;
    _Atomic int out_of_order;
} state;

static void handle_acquire(struct brio_letter *letter)
{
    if (state.locked) {
        letter->link = NULL;
        if (state.first)
            state.last->link = letter;
        else
            state.first = letter;
        state.last = letter;
        return;
    }
    state.locked = 1;
    brio_courier_answer(state.courier, letter, 0);
}

static void handle_release(struct brio_letter *letter)
{
    struct brio_letter *next = state.first;
    if (next) {
        state.first = next->link;
        brio_courier_answer(state.courier, next, 0);
    } else {
        state.locked = 0;
    }
    brio_courier_answer(state.courier, letter, 0);
}

static void handle(void *self, struct brio_letter *letter)
{
    struct request *r = letter->data;
    (void)self;
    pthread_mutex_lock(&state.mutex);
    switch (r->what) {
    case ECHO:
        atomic_fetch_add(&state.echoes, 1);
        for (size_t i = 0; i + sizeof *r < letter->bytes; i++)
            r->bytes[i]++;
        brio_courier_answer(state.courier, letter, letter->bytes);
        break;
    case COUNT:
        state.out_of_order += r->number != state.next[letter->from]++;
        state.sum += r->number;
        brio_courier_answer(state.courier, letter, 0);
        break;
    case ACQUIRE:
        handle_acquire(letter);
        break;
    case RELEASE:
        handle_release(letter);
        break;
    case SUM:
        r->number = state.sum;
        brio_courier_answer(state.courier, letter, sizeof *r);
        break;
    }
    pthread_mutex_unlock(&state.mutex);
}

static void tick(void *self)
{
    (void)self;
    state.ticks++;
}

static int open_courier(struct crewed *t, int nodes)
{
    memset(&state, 0, sizeof state);
    pthread_mutex_init(&state.mutex, NULL);
    if (!crewed_open(t, nodes))
        return 0;
    struct brio_courier_env env = {.team = &t->team,
                                   .crew = &t->crew,
                                   .room = ROOM,
                                   .nboxes = BOXES,
                                   .handle = handle,
                                   .tick = tick};
    /* Letters come as soon as others are through; the handler waits for this. */
    pthread_mutex_lock(&state.mutex);
    enum brio_err err = brio_courier_open(&env, &state.courier);
    pthread_mutex_unlock(&state.mutex);
    CHECK(!err, "%s", brio_err_text());
    return !err;
}

static void close_courier(struct crewed *t)
{
    brio_courier_close(state.courier);
    crewed_close(t);
}

/* Runs a case with all ranks on one node, on two nodes, and each on its own. */
static void on_nodes(void (*run)(struct crewed *t))
{
    const int nodes[] = {1, 2, test_nranks};
    for (int i = 0, failed = 0; i < 3 && !failed; i++) {
        struct crewed t;
        if ((i > 0 && nodes[i] == nodes[i - 1]) || nodes[i] > test_nranks)
            continue;
        if (!open_courier(&t, nodes[i]))
            return;
        run(&t);
        close_courier(&t);
        MPI_Allreduce(&test_failed, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
}

static int some_other(void)
{
    return (test_rank + 1 + (int)test_below(test_nranks - 1)) % test_nranks;
}

/* ---- Cases ------------------------------------------------------------------------------ */

static void echo_once(void)
{
    struct brio_box *box = brio_courier_take(state.courier, BRIO_BLOCK);
    struct request *r = box->data;
    size_t n = (size_t)test_below(test_below(8) ? 200 : (int64_t)(ROOM - sizeof *r));
    unsigned char first = (unsigned char)test_random();
    size_t got = 0;
    r->what = ECHO;
    for (size_t i = 0; i < n; i++)
        r->bytes[i] = (unsigned char)(first + i * 7);
    enum brio_err err =
        brio_courier_call(state.courier, box, some_other(), sizeof *r + n, &got);
    CHECK(!err && got == sizeof *r + n, "%s, %zu bytes", brio_err_text(), got);
    for (size_t i = 0; i < n && !test_failed; i++)
        CHECK(r->bytes[i] == (unsigned char)(first + i * 7 + 1), "byte %zu of %zu", i, n);
    brio_courier_give(state.courier, box);
}

static void echo(struct crewed *t)
{
    (void)t;
    for (int i = 0; i < 300 && test_nranks > 1 && !test_failed; i++)
        echo_once();
}

static void answers(void)
{
    test_seed();
    test_state += (uint64_t)test_rank << 40;
    on_nodes(echo);
}

static void *echo_thread(void *arg)
{
    (void)arg;
    for (int i = 0; i < 40 && !test_failed; i++) {
        size_t got = 0;
        struct brio_box *box = brio_courier_take(state.courier, BRIO_BLOCK);
        struct request *r = box->data;
        r->what = ECHO;
        r->bytes[0] = 41;
        enum brio_err err = brio_courier_call(state.courier, box, (test_rank + 1) % test_nranks,
                                              sizeof *r + 1, &got);
        CHECK(!err && r->bytes[0] == 42, "%s", brio_err_text());
        brio_courier_give(state.courier, box);
    }
    return NULL;
}

/* More threads than boxes. */
static void threads(struct crewed *t)
{
    pthread_t thread[BOXES + 2];
    (void)t;
    for (int i = 0; i < BOXES + 2 && test_nranks > 1; i++)
        REQUIRE(pthread_create(&thread[i], NULL, echo_thread, NULL) == 0, "no thread");
    for (int i = 0; i < BOXES + 2 && test_nranks > 1; i++)
        pthread_join(thread[i], NULL);
}

static void answers_threads(void)
{
    on_nodes(threads);
}

static void post_numbers(struct crewed *t)
{
    enum {
        POSTS = 400
    };
    int64_t sums = 0;
    for (int64_t i = 0; i < POSTS; i++)
        for (int to = 0; to < test_nranks; to++) {
            if (to == test_rank)
                continue;
            struct brio_box *box = brio_courier_take(state.courier, BRIO_BLOCK);
            struct request *r = box->data;
            *r = (struct request){.what = COUNT, .number = i};
            size_t extra = i % 50 == 0 ? 10000 : 0; /* now and then a large one between */
            enum brio_err err = brio_courier_post(state.courier, box, to, sizeof *r + extra);
            CHECK(!err, "%s", brio_err_text());
        }
    for (int to = 0; to < test_nranks; to++) { /* a call comes after the posts before it */
        size_t got;
        if (to == test_rank)
            continue;
        struct brio_box *box = brio_courier_take(state.courier, BRIO_BLOCK);
        struct request *r = box->data;
        r->what = SUM;
        enum brio_err err = brio_courier_call(state.courier, box, to, sizeof *r, &got);
        CHECK(!err && r->number >= POSTS * (POSTS - 1) / 2, "%s: only %lld", brio_err_text(),
              (long long)r->number);
        brio_courier_give(state.courier, box);
        sums++;
    }
    brio_courier_drain(state.courier);
    MPI_Barrier(t->team.comm);
    CHECK(state.out_of_order == 0, "%d letters out of order", state.out_of_order);
    CHECK(state.sum == (test_nranks - 1) * (POSTS * (POSTS - 1) / 2) && sums == test_nranks - 1,
          "sum %lld", (long long)state.sum);
}

static void posts_in_order(void)
{
    on_nodes(post_numbers);
}

static void ask(struct brio_box *box, int what, int rank)
{
    size_t got;
    ((struct request *)box->data)->what = what;
    enum brio_err err =
        brio_courier_call(state.courier, box, rank, sizeof(struct request), &got);
    CHECK(!err, "%s", brio_err_text());
}

/* The lock is at rank 0, what it guards at rank 0 of the file: a number read and written. */
static void count_locked(struct crewed *t)
{
    enum {
        TIMES = 60
    };
    MPI_Win win;
    int64_t *cell, all = 0;
    MPI_Win_allocate_shared(test_rank == 0 ? (MPI_Aint)sizeof *cell : 0, 1, MPI_INFO_NULL,
                            t->team.comm, &cell, &win);
    MPI_Aint size;
    int unit;
    MPI_Win_shared_query(win, 0, &size, &unit, &cell);
    if (test_rank == 0)
        *cell = 0;
    MPI_Barrier(t->team.comm);
    for (int i = 0; i < TIMES && test_rank > 0; i++) {
        struct brio_box *box = brio_courier_take(state.courier, BRIO_BLOCK);
        ask(box, ACQUIRE, 0);
        int64_t seen = *(volatile int64_t *)cell;
        sched_yield();
        *(volatile int64_t *)cell = seen + 1;
        ask(box, RELEASE, 0);
        brio_courier_give(state.courier, box);
    }
    MPI_Barrier(t->team.comm);
    all = *(volatile int64_t *)cell;
    CHECK(all == TIMES * (test_nranks - 1), "%lld", (long long)all);
    MPI_Barrier(t->team.comm);
    MPI_Win_free(&win);
}

static void answers_later(void)
{
    on_nodes(count_locked);
}

enum {
    ASKED = 30 /* times by each rank */
};

static void ask_for_a_while(int to)
{
    for (int i = 0; i < ASKED; i++) {
        struct brio_box *box = brio_courier_take(state.courier, BRIO_BLOCK);
        ask(box, ECHO, to);
        brio_courier_give(state.courier, box);
    }
}

/* Rank 0 computes until it has answered all others, then sits in MPI_Recv until it has once
 * more, then goes to close. Without its thread it would never get on. */
static void one_is_busy(struct crewed *t)
{
    int token = 0;
    if (test_nranks == 1)
        return;
    if (test_rank == 0) {
        while (atomic_load(&state.echoes) < ASKED * (test_nranks - 1))
            ;
        for (int r = 1; r < test_nranks; r++)
            MPI_Recv(&token, 1, MPI_INT, r, 7, t->team.comm, MPI_STATUS_IGNORE);
        return; /* to close, where it waits for the others */
    }
    ask_for_a_while(0);
    ask_for_a_while(0);
    MPI_Send(&token, 1, MPI_INT, 0, 7, t->team.comm);
    ask_for_a_while(0);
}

static void answers_while_busy(void)
{
    on_nodes(one_is_busy);
}

static void idle(struct crewed *t)
{
    MPI_Barrier(t->team.comm);
    double share = idle_share();
    CHECK(share < IDLE_SHARE, "an idle courier takes %.2f %% of a core", 100 * share);
    MPI_Barrier(t->team.comm);
}

static void costs_nothing_idle(void)
{
    on_nodes(idle);
}

static void ring_all(struct crewed *t)
{
    for (int r = 0; r < test_nranks && test_nranks > 1; r++)
        if (t->crew.crew_of[r] == t->crew.mine)
            brio_courier_ring(state.courier, r);
    for (int i = 0; i < 1000 && state.ticks == 0 && test_nranks > 1; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK(test_nranks == 1 || state.ticks > 0, "no tick");
    MPI_Barrier(t->team.comm);
}

static void ticks(void)
{
    on_nodes(ring_all);
}

/* The thread ends with the last courier and begins again with the next. */
static void opens_again(void)
{
    for (int i = 0; i < 10; i++) {
        struct crewed t;
        if (!open_courier(&t, 1 + i % 2))
            return;
        if (test_nranks > 1)
            echo_once();
        close_courier(&t);
    }
}

static const struct test_case cases[] = {
    TEST(answers),       TEST(answers_threads),    TEST(posts_in_order),
    TEST(answers_later), TEST(answers_while_busy), TEST(costs_nothing_idle),
    TEST(ticks),         TEST(opens_again),        {0}};

int main(int argc, char **argv)
{
    return test_main_threads(argc, argv, cases);
}
