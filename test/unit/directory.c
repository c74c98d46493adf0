/* The directory of pages against a plain model: who holds what, who waits in which order, and
 * where the pages are. */
#include <stdatomic.h>

#include "cache/directory.h"
#include "check.h"

enum {
    PAGES = 12,
    ACTORS = 20,
    ROOM_PAGES = 10, /* fewer than there are: it can be full */
    ROOM_WAITERS = 16
};

struct actor {
    enum {
        IDLE,
        WAITING,
        HOLDING
    } state;
    int page;
    bool alone;
    uint32_t ticket;
    long since; /* the step at which it began to wait */
    struct brio_grant grant;
};

/* What the model knows of a page. */
struct place {
    int owner;
    uint32_t frame;
    bool ready;
    int readers, writers;
};

static struct brio_directory *dir;
static struct actor actor[ACTORS];
static struct place place[PAGES];
static int nwaiting;

static void begin(void)
{
    static uint64_t *memory;
    size_t room = brio_directory_room(ROOM_PAGES, ROOM_WAITERS);
    free(memory);
    memory = malloc(room);
    memset(memory, 0xa5, room);
    dir = (struct brio_directory *)memory;
    brio_directory_init(dir, ROOM_PAGES, ROOM_WAITERS);
    memset(actor, 0, sizeof actor);
    nwaiting = 0;
    for (int p = 0; p < PAGES; p++)
        place[p] = (struct place){.owner = -1};
}

static uint32_t count_known(void)
{
    uint32_t n = 0;
    for (int p = 0; p < PAGES; p++)
        n += place[p].owner >= 0 || place[p].readers || place[p].writers;
    return n;
}

/* The actor has got its lock. */
static void enter(struct actor *a)
{
    struct place *at = &place[a->page];
    a->state = HOLDING;
    CHECK(a->grant.owner == at->owner, "page %d at %d, not %d", a->page, a->grant.owner,
          at->owner);
    CHECK(at->owner < 0 || (a->grant.frame == at->frame && a->grant.ready == at->ready),
          "page %d elsewhere", a->page);
    CHECK(a->grant.alone || (!a->alone && at->ready), "shared without reason");
    CHECK(a->grant.alone == (a->alone || !at->ready), "alone without reason");
    at->readers += !a->grant.alone;
    at->writers += a->grant.alone;
    CHECK(at->writers <= 1 && (at->writers == 0 || at->readers == 0), "%d alone, %d shared",
          at->writers, at->readers);
}

static bool anyone_waits_for(int page)
{
    for (int i = 0; i < ACTORS; i++)
        if (actor[i].state == WAITING && actor[i].page == page)
            return true;
    return false;
}

static void ask(struct actor *a, long step)
{
    bool wait = test_below(4) > 0;
    a->page = (int)test_below(PAGES);
    a->alone = test_below(2);
    const struct place *at = &place[a->page];
    bool open = at->writers == 0 && (at->readers == 0 || (!a->alone && at->ready)) &&
                !anyone_waits_for(a->page);
    bool known = at->owner >= 0 || at->readers || at->writers || anyone_waits_for(a->page);
    bool full = !known && count_known() == ROOM_PAGES;
    const struct brio_wish wish = {
        .page = a->page, .alone = a->alone, .wait = wait, .rank = (int)(a - actor)};
    enum brio_lock_answer answer = brio_directory_lock(dir, &wish, &a->grant, &a->ticket);
    enum brio_lock_answer want = full                              ? BRIO_BUSY
                                 : open                            ? BRIO_GRANTED
                                 : wait && nwaiting < ROOM_WAITERS ? BRIO_WAITS
                                                                   : BRIO_BUSY;
    CHECK(answer == want, "answer %d, not %d", (int)answer, (int)want);
    if (answer == BRIO_GRANTED)
        enter(a);
    if (answer != BRIO_WAITS)
        return;
    CHECK(brio_directory_waiter(dir, a->ticket)->rank == a - actor, "another's ticket");
    a->state = WAITING;
    a->since = step;
    nwaiting++;
}

/* Those that the directory lets in are the first who wait for the page. */
static void let_in(uint32_t granted)
{
    long latest = -1;
    int page = -1;
    while (granted) {
        struct brio_waiter *w = brio_directory_waiter(dir, granted - 1);
        struct actor *a = &actor[w->rank];
        granted = w->next;
        CHECK(a->state == WAITING && atomic_load(&w->granted) == 1, "nobody waits there");
        brio_directory_collect(dir, a->ticket, &a->grant);
        nwaiting--;
        enter(a);
        latest = a->since > latest ? a->since : latest;
        page = a->page;
    }
    for (int i = 0; i < ACTORS && page >= 0; i++)
        CHECK(actor[i].state != WAITING || actor[i].page != page || actor[i].since > latest,
              "overtaken");
}

static void leave(struct actor *a)
{
    struct place *at = &place[a->page];
    if (a->grant.alone) { /* brings the page, moves it, makes it ready, or takes it away */
        at->owner = test_below(3) ? (int)test_below(8) : -1;
        at->frame = (uint32_t)test_below(100);
        at->ready = at->owner >= 0 && test_below(2);
        a->grant.owner = at->owner;
        a->grant.frame = at->frame;
        a->grant.ready = at->ready;
        at->writers--;
    } else {
        at->readers--;
    }
    a->state = IDLE;
    let_in(brio_directory_unlock(dir, a->page, &a->grant));
}

static void against_a_model(void)
{
    uint64_t seed = test_seed();
    for (int round = 0; round < 20 && !test_failed; round++) {
        begin();
        for (long step = 0; step < 20000 && !test_failed; step++) {
            struct actor *a = &actor[test_below(ACTORS)];
            if (a->state == IDLE)
                ask(a, step);
            else if (a->state == HOLDING)
                leave(a);
            CHECK(brio_directory_count(dir) == count_known(), "%u pages, not %u",
                  brio_directory_count(dir), count_known());
        }
        /* Everybody gets through in the end. */
        for (int again = 0; again < ACTORS * 2; again++)
            for (int i = 0; i < ACTORS; i++)
                if (actor[i].state == HOLDING)
                    leave(&actor[i]);
        for (int i = 0; i < ACTORS; i++)
            CHECK(actor[i].state == IDLE, "actor %d is still there", i);
        brio_directory_clear(dir);
        CHECK(brio_directory_count(dir) == 0, "not empty");
    }
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

static const struct test_case cases[] = {TEST(against_a_model), {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
