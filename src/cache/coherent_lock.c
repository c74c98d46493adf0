/* Locks of pages, in the directory of the page's home (page mod P): in memory where this rank
 * shares it with the home, by letter otherwise. A rank of another crew that must wait has its
 * letter kept at the home, whose tick answers it when the lock has been granted. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "cache/coherent.h"

enum {
    TRIES = 256 /* to get a lock before waiting for it: as long as being woken takes */
};

enum what {
    LOCK,
    UNLOCK,
    READ,
    WRITE,
    SIZE
};

/* Letters begin with this, answers too. */
struct words {
    int32_t what;
    int32_t err; /* of the answer */
    brio_off page;
    brio_off size;
    struct brio_grant grant;
    uint32_t lo, len;
    uint32_t ticket; /* the home's, while the letter waits */
    bool alone, wait;
    enum brio_lock_answer answer;
    char text[BRIO_ERR_TEXT];
    char bytes[]; /* of the page */
};

size_t brio_coherent_far_room(const struct brio_coherent *c)
{
    return sizeof(struct words) + c->far_most;
}

char *brio_coherent_far_bytes(struct brio_box *box)
{
    return ((struct words *)box->data)->bytes;
}

/* A frame goes from one thread of this rank to another with the page's lock, which other ranks
 * may have passed on by messages: an order that neither compiler nor sanitizer knows of. */
static void take_turns(struct brio_coherent *c)
{
    if (c->courier)
        atomic_fetch_add_explicit(&c->turns, 1, memory_order_acq_rel);
}

/* ---- In memory -------------------------------------------------------------------------- */

/* With the lock of the bay: those who got theirs go on. */
static void wake(struct brio_coherent *c, struct brio_directory *d, uint32_t granted)
{
    while (granted) {
        struct brio_waiter *w = brio_directory_waiter(d, granted - 1);
        granted = w->next;
        if (w->rank >= 0)
            brio_courier_ring(c->courier, w->rank);
        else if (atomic_load(&w->asleep))
            brio_rouse(&w->granted);
    }
}

/* Sleeps until it is this one's turn. */
static void await_turn(struct brio_coherent *c, struct brio_waiter *w)
{
    brio_look_closely(&c->crew->team, &w->granted, 0);
    if (atomic_load(&w->granted))
        return;
    atomic_store(&w->asleep, 1);
    while (atomic_load(&w->granted) == 0)
        brio_sleep_on(&w->granted, 0);
}

/* A page is mostly held for the time of a copy. Who joins the queue is handed the lock in his
 * turn, and all who share the page go on in step from then on, each after being woken; so a
 * few times it is only tried. */
static enum brio_lock_answer lock_near(struct brio_coherent *c, int member,
                                       const struct brio_wish *wish, struct brio_grant *out)
{
    struct brio_bay *bay = brio_bay_at(c, member);
    struct brio_directory *d = brio_bay_directory(c, member);
    struct brio_wish mine = *wish;
    uint32_t ticket;
    mine.rank = -1; /* sleeps by itself */
    for (int tries = wish->wait ? TRIES : 0;; tries--) {
        mine.wait = wish->wait && tries == 0;
        pthread_mutex_lock(&bay->lock);
        enum brio_lock_answer answer = brio_directory_lock(d, &mine, out, &ticket);
        pthread_mutex_unlock(&bay->lock);
        if (answer == BRIO_WAITS)
            break;
        if (answer == BRIO_GRANTED || tries == 0)
            return answer;
        brio_breathe(&c->crew->team);
    }
    struct brio_waiter *w = brio_directory_waiter(d, ticket);
    await_turn(c, w);
    pthread_mutex_lock(&bay->lock);
    brio_directory_collect(d, ticket, out);
    pthread_mutex_unlock(&bay->lock);
    return BRIO_GRANTED;
}

static void unlock_near(struct brio_coherent *c, int member, brio_off page,
                        const struct brio_grant *grant)
{
    struct brio_bay *bay = brio_bay_at(c, member);
    struct brio_directory *d = brio_bay_directory(c, member);
    pthread_mutex_lock(&bay->lock);
    wake(c, d, brio_directory_unlock(d, page, grant));
    pthread_mutex_unlock(&bay->lock);
}

/* ---- By letter: the asking side --------------------------------------------------------- */

/* Sends the words with `bytes` of the page behind them; what comes back is in the box. */
static BRIO_ERR ask(struct brio_coherent *c, struct brio_box *box, int rank, size_t bytes)
{
    struct words *w = box->data;
    size_t answer;
    w->err = BRIO_OK;
    enum brio_err err = brio_courier_call(c->courier, box, rank, sizeof *w + bytes, &answer);
    if (!err && w->err) {
        brio_err_restore(w->text);
        err = (enum brio_err)w->err;
    }
    return err;
}

static struct words *begin(struct brio_box *box, enum what what, brio_off page)
{
    struct words *w = box->data;
    *w = (struct words){.what = what, .page = page};
    return w;
}

static BRIO_ERR lock_once(struct brio_coherent *c, struct brio_box *box,
                          const struct brio_wish *wish, struct brio_grant *out,
                          enum brio_lock_answer *answer)
{
    int home = (int)(wish->page % c->team->nranks);
    if (c->member_of[home] >= 0) {
        *answer = lock_near(c, c->member_of[home], wish, out);
        return BRIO_OK;
    }
    struct words *w = begin(box, LOCK, wish->page);
    w->alone = wish->alone;
    w->wait = wish->wait;
    enum brio_err err = ask(c, box, home, 0);
    *answer = w->answer;
    *out = w->grant;
    return err;
}

BRIO_ERR brio_coherent_lock(struct brio_coherent *c, struct brio_box *box,
                            const struct brio_wish *wish, struct brio_grant *out,
                            enum brio_lock_answer *answer)
{
    for (;;) {
        enum brio_err err = lock_once(c, box, wish, out, answer);
        take_turns(c);
        if (err || *answer == BRIO_GRANTED || !wish->wait)
            return err;
        /* The home has no room for one more page or one more who waits. */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

BRIO_ERR brio_coherent_unlock(struct brio_coherent *c, struct brio_box *box, brio_off page,
                              const struct brio_grant *grant)
{
    int home = (int)(page % c->team->nranks);
    take_turns(c);
    if (c->member_of[home] >= 0) {
        unlock_near(c, c->member_of[home], page, grant);
        return BRIO_OK;
    }
    /* Nobody needs to wait for it, if there is a box to spare. */
    struct brio_box *spare = brio_courier_take(c->courier, BRIO_POLL);
    struct words *w = begin(spare ? spare : box, UNLOCK, page);
    w->grant = *grant;
    if (spare)
        return brio_courier_post(c->courier, spare, home, sizeof *w);
    return ask(c, box, home, 0);
}

BRIO_ERR brio_coherent_far(struct brio_coherent *c, struct brio_box *box, enum brio_dir dir,
                           const struct brio_part *part, struct brio_grant *grant)
{
    struct words *w = begin(box, dir == BRIO_READ ? READ : WRITE, part->page);
    w->grant = *grant;
    w->lo = part->lo;
    w->len = part->len;
    enum brio_err err = ask(c, box, grant->owner, dir == BRIO_WRITE ? part->len : 0);
    if (!err) {
        grant->ready = w->grant.ready;
        brio_coherent_grow(c, w->size);
    }
    return err;
}

BRIO_ERR brio_coherent_size(struct brio_coherent *c, struct brio_box *box, brio_off *out)
{
    _Atomic brio_off *known = &brio_bay_at(c, 0)->size;
    enum brio_err err = BRIO_OK;
    if (c->member_of[0] < 0) {
        struct words *w = begin(box, SIZE, 0);
        w->size = atomic_load(known);
        err = ask(c, box, 0, 0);
        if (!err)
            brio_coherent_grow(c, w->size);
    }
    *out = atomic_load(known);
    return err;
}

/* ---- By letter: the answering side ------------------------------------------------------- */

static void answer_lock(struct brio_coherent *c, struct brio_letter *letter)
{
    struct words *w = letter->data;
    int member = c->member_of[c->team->rank];
    struct brio_bay *bay = brio_bay_at(c, member);
    pthread_mutex_lock(&c->wait_lock);
    pthread_mutex_lock(&bay->lock);
    const struct brio_wish wish = {
        .page = w->page, .alone = w->alone, .wait = w->wait, .rank = c->team->rank};
    w->answer =
        brio_directory_lock(brio_bay_directory(c, member), &wish, &w->grant, &w->ticket);
    pthread_mutex_unlock(&bay->lock);
    if (w->answer == BRIO_WAITS) {
        letter->link = c->waiting;
        c->waiting = letter;
    }
    pthread_mutex_unlock(&c->wait_lock);
    if (w->answer != BRIO_WAITS)
        brio_courier_answer(c->courier, letter, sizeof *w);
}

void brio_coherent_tick(void *self)
{
    struct brio_coherent *c = self;
    int member = c->member_of[c->team->rank];
    struct brio_bay *bay = brio_bay_at(c, member);
    struct brio_directory *d = brio_bay_directory(c, member);
    pthread_mutex_lock(&c->wait_lock);
    for (struct brio_letter **at = &c->waiting; *at;) {
        struct brio_letter *letter = *at;
        struct words *w = letter->data;
        if (atomic_load(&brio_directory_waiter(d, w->ticket)->granted) == 0) {
            at = (struct brio_letter **)&letter->link;
            continue;
        }
        *at = letter->link;
        pthread_mutex_lock(&bay->lock);
        brio_directory_collect(d, w->ticket, &w->grant);
        pthread_mutex_unlock(&bay->lock);
        w->answer = BRIO_GRANTED;
        brio_courier_answer(c->courier, letter, sizeof *w);
    }
    pthread_mutex_unlock(&c->wait_lock);
}

/* The page is in this crew, and the asker has its lock. */
static size_t move_bytes(struct brio_coherent *c, struct words *w)
{
    struct brio_held_frame f = brio_coherent_frame(c, w->grant.owner, w->grant.frame);
    enum brio_err err;
    size_t bytes = 0;
    take_turns(c);
    if (w->what == READ)
        err = brio_coherent_load(c, f, w->lo, w->lo + w->len);
    else
        err = brio_coherent_dirty(c, f, w->lo, w->lo + w->len);
    if (err) {
        brio_err_save(w->text);
    } else if (w->what == READ) {
        memcpy(w->bytes, f.bytes + w->lo, w->len);
        bytes = w->len;
    } else {
        memcpy(f.bytes + w->lo, w->bytes, w->len);
    }
    w->err = (int32_t)err;
    w->grant.ready = f.frame->whole;
    w->size = atomic_load(&brio_bay_at(c, 0)->size);
    take_turns(c);
    return sizeof *w + bytes;
}

void brio_coherent_handle(void *self, struct brio_letter *letter)
{
    struct brio_coherent *c = self;
    struct words *w = letter->data;
    size_t bytes = sizeof *w;
    switch (w->what) {
    case LOCK:
        answer_lock(c, letter);
        return;
    case UNLOCK:
        unlock_near(c, c->member_of[c->team->rank], w->page, &w->grant);
        break;
    case SIZE:
        brio_coherent_grow(c, w->size);
        w->size = atomic_load(&brio_bay_at(c, 0)->size);
        break;
    default:
        bytes = move_bytes(c, w);
    }
    brio_courier_answer(c->courier, letter, bytes);
}
