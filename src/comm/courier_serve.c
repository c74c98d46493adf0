/* The porter's side of a courier: letters in, answers out. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "comm/courier_parts.h"
#include "comm/real.h"

/* ---- Shared memory ---------------------------------------------------------------------- */

static bool serve_near(struct brio_courier *c)
{
    struct desk *desk = &c->desks[c->member];
    uint32_t at = atomic_exchange(&desk->inbox, 0), first = 0;
    if (at == 0)
        return false;
    while (at) { /* newest first: turn it round */
        struct brio_slip *slip = brio_slip_at(c, (int)at - 1);
        uint32_t older = slip->next;
        slip->next = first;
        first = at;
        at = older;
    }
    while (first) {
        struct brio_slip *slip = brio_slip_at(c, (int)first - 1);
        struct envelope *e = &c->envelopes[first - 1];
        first = slip->next; /* the slip is its sender's again once it has been answered */
        e->letter = (struct brio_letter){
            .from = slip->from, .data = slip + 1, .bytes = slip->bytes, .room = c->env.room};
        e->slip = slip;
        c->env.handle(c->env.self, &e->letter);
    }
    return true;
}

static void answer_near(struct brio_courier *c, struct brio_slip *slip, size_t bytes)
{
    struct desk *desk = &c->desks[c->member_of[slip->from]];
    bool posted = slip->posted;
    slip->bytes = bytes;
    uint32_t before = atomic_exchange(&slip->state, SLIP_ANSWERED);
    if (before == SLIP_AWAITED)
        brio_rouse(&slip->state);
    if (posted) {
        atomic_fetch_add(&desk->returned, 1);
        if (atomic_load(&desk->waiting))
            brio_rouse(&desk->returned);
    }
}

/* ---- Messages --------------------------------------------------------------------------- */

/* One message, if there is one and memory for it. */
static bool receive(struct brio_courier *c)
{
    int found = 0, bytes = 0;
    MPI_Message message;
    MPI_Status status;
    if (!c->spare)
        c->spare = malloc(sizeof *c->spare + c->pitch);
    if (!c->spare ||
        PMPI_Improbe(MPI_ANY_SOURCE, TAG_REQUEST, c->far, &found, &message, &status) !=
            MPI_SUCCESS ||
        !found)
        return false;
    struct envelope *e = c->spare;
    struct brio_slip *slip = (struct brio_slip *)(e + 1);
    PMPI_Get_count(&status, MPI_BYTE, &bytes);
    if (PMPI_Mrecv(slip, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return false;
    c->spare = NULL;
    e->letter = (struct brio_letter){
        .from = status.MPI_SOURCE, .data = slip + 1, .bytes = slip->bytes, .room = c->env.room};
    e->slip = slip;
    e->far = true;
    c->env.handle(c->env.self, &e->letter);
    return true;
}

/* Answers that have left are freed. */
static void look_after_leaving(struct brio_courier *c)
{
    if (atomic_load(&c->nleaving) == 0)
        return;
    pthread_mutex_lock(&c->far_lock);
    for (struct envelope **at = &c->leaving; *at;) {
        struct envelope *e = *at;
        if (!brio_real_test(&e->sent)) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        free(e);
        atomic_fetch_sub(&c->nleaving, 1);
    }
    pthread_mutex_unlock(&c->far_lock);
}

static void answer_far(struct brio_courier *c, struct envelope *e, size_t bytes)
{
    int tag = TAG_ANSWER + e->slip->index;
    pthread_mutex_lock(&c->far_lock);
    if (PMPI_Isend(e->letter.data, e->slip->posted ? 0 : (int)bytes, MPI_BYTE, e->letter.from,
                   tag, c->far, &e->sent) == MPI_SUCCESS &&
        !brio_real_test(&e->sent)) {
        e->next = c->leaving;
        c->leaving = e;
        atomic_fetch_add(&c->nleaving, 1);
        e = NULL;
    }
    free(e);
    pthread_mutex_unlock(&c->far_lock);
}

/* ---- Both ------------------------------------------------------------------------------- */

bool brio_courier_serve(void *self)
{
    enum {
        IN_TURN = 64 /* messages before other files have theirs */
    };
    struct brio_courier *c = self;
    bool busy = serve_near(c);
    uint32_t ticks = atomic_load(&c->desks[c->member].ticks);
    if (c->far != MPI_COMM_NULL) {
        for (int i = 0; i < IN_TURN && receive(c); i++)
            busy = true;
        look_after_leaving(c);
    }
    if (ticks != c->ticked && c->env.tick) {
        c->ticked = ticks;
        busy = true;
        c->env.tick(c->env.self);
    }
    return busy;
}

void brio_courier_answer(struct brio_courier *c, struct brio_letter *letter, size_t bytes)
{
    struct envelope *e = (struct envelope *)letter;
    if (e->far)
        answer_far(c, e, bytes);
    else
        answer_near(c, e->slip, bytes);
}

void brio_courier_serve_end(struct brio_courier *c)
{
    int round = 0;
    while (atomic_load(&c->nleaving) > 0) {
        look_after_leaving(c);
        brio_courier_rest(&round);
    }
    free(c->spare);
}
