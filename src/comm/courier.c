/* The sending side, and opening and closing. An inbox is a stack of boxes that its owner
 * takes away whole and turns round: any number of senders, no lock, never full. */
#include "comm/courier.h"

#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "comm/courier_parts.h"
#include "comm/real.h"
#include "comm/verdict.h"

void brio_courier_rest(int *round)
{
    enum {
        YIELDS = 200,
        NAP = 20000, /* nanoseconds */
        LONGEST = 500000
    };
    if (++*round <= YIELDS) {
        sched_yield();
        return;
    }
    long nap = brio_min((long)NAP * (*round - YIELDS), LONGEST);
    nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
}

/* ---- Boxes ---------------------------------------------------------------------------- */

/* With the lock held. A posted box whose letter has been answered is free. */
static bool is_back(struct brio_courier *c, struct brio_box *box)
{
    if (c->member_of[box->to] >= 0)
        return atomic_load(&box->slip->state) == SLIP_ANSWERED;
    return brio_real_test(&box->sent) && brio_real_test(&box->answered);
}

/* With the lock held. *far: some box comes back by message. */
static struct brio_box *find_free(struct brio_courier *c, bool *far)
{
    *far = false;
    for (int i = 0; i < c->env.nboxes; i++) {
        struct brio_box *box = &c->boxes[i];
        if (box->state == BRIO_BOX_POSTED && is_back(c, box))
            box->state = BRIO_BOX_FREE;
        if (box->state == BRIO_BOX_FREE)
            return box;
        *far |= box->state == BRIO_BOX_POSTED && c->member_of[box->to] < 0;
    }
    return NULL;
}

struct brio_box *brio_courier_take(struct brio_courier *c, enum brio_wait how)
{
    struct desk *desk = &c->desks[c->member];
    int round = 0;
    for (;;) {
        bool far;
        atomic_fetch_add(&desk->waiting, 1);
        uint32_t seen = atomic_load(&desk->returned);
        pthread_mutex_lock(&c->lock);
        struct brio_box *box = find_free(c, &far);
        if (box)
            box->state = BRIO_BOX_TAKEN;
        pthread_mutex_unlock(&c->lock);
        if (!box && how == BRIO_BLOCK) {
            if (far)
                brio_courier_rest(&round);
            else
                brio_sleep_on(&desk->returned, seen);
        }
        atomic_fetch_sub(&desk->waiting, 1);
        if (box || how == BRIO_POLL)
            return box;
    }
}

void brio_courier_give(struct brio_courier *c, struct brio_box *box)
{
    struct desk *desk = &c->desks[c->member];
    pthread_mutex_lock(&c->lock);
    box->state = BRIO_BOX_FREE;
    pthread_mutex_unlock(&c->lock);
    atomic_fetch_add(&desk->returned, 1);
    if (atomic_load(&desk->waiting))
        brio_rouse(&desk->returned);
}

void brio_courier_drain(struct brio_courier *c)
{
    int round = 0;
    for (int i = 0; i < c->env.nboxes && c->boxes; i++) {
        struct brio_box *box = &c->boxes[i];
        for (;;) {
            uint32_t seen = atomic_load(&c->desks[c->member].returned);
            atomic_fetch_add(&c->desks[c->member].waiting, 1);
            pthread_mutex_lock(&c->lock);
            bool far = box->state == BRIO_BOX_POSTED && c->member_of[box->to] < 0;
            if (box->state == BRIO_BOX_POSTED && is_back(c, box))
                box->state = BRIO_BOX_FREE;
            bool posted = box->state == BRIO_BOX_POSTED;
            pthread_mutex_unlock(&c->lock);
            if (posted && far)
                brio_courier_rest(&round);
            else if (posted)
                brio_sleep_on(&c->desks[c->member].returned, seen);
            atomic_fetch_sub(&c->desks[c->member].waiting, 1);
            if (!posted)
                break;
        }
    }
}

/* ---- Sending -------------------------------------------------------------------------- */

static void send_near(struct brio_courier *c, struct brio_box *box, int member, size_t bytes,
                      bool posted)
{
    struct brio_slip *slip = box->slip;
    struct desk *desk = &c->desks[member];
    slip->bytes = bytes;
    slip->posted = posted;
    atomic_store(&slip->state, SLIP_SENT);
    uint32_t before = atomic_load(&desk->inbox);
    do
        slip->next = before;
    while (!atomic_compare_exchange_weak(&desk->inbox, &before, (uint32_t)box->number + 1));
    if (before == 0) /* else who put the first one there rings */
        brio_porter_ring(c->bells[member]);
}

static void await_near(struct brio_courier *c, struct brio_slip *slip)
{
    uint32_t sent = SLIP_SENT;
    brio_look_closely(&c->env.crew->team, &slip->state, SLIP_SENT);
    atomic_compare_exchange_strong(&slip->state, &sent, SLIP_AWAITED);
    while (atomic_load(&slip->state) == SLIP_AWAITED)
        brio_sleep_on(&slip->state, SLIP_AWAITED);
}

/* The answer to a post has no bytes: its place can be ready before. That of a call comes into
 * the box itself, once this has been sent. */
static BRIO_ERR send_far(struct brio_courier *c, struct brio_box *box, size_t bytes,
                         bool posted)
{
    struct brio_slip *slip = box->slip;
    slip->bytes = bytes;
    slip->posted = posted;
    if (PMPI_Isend(slip, (int)(sizeof *slip + bytes), MPI_BYTE, box->to, TAG_REQUEST, c->far,
                   &box->sent) != MPI_SUCCESS)
        return brio_fail(BRIO_EINTERN, "MPI_Isend to rank %d failed", box->to);
    brio_porter_hurry();
    if (posted && PMPI_Irecv(NULL, 0, MPI_BYTE, box->to, TAG_ANSWER + slip->index, c->far,
                             &box->answered) != MPI_SUCCESS)
        return brio_fail(BRIO_EINTERN, "MPI_Irecv from rank %d failed", box->to);
    return BRIO_OK;
}

static BRIO_ERR await_far(struct brio_courier *c, struct brio_box *box, size_t *answer)
{
    int round = 0, arrived = 0, bytes = 0;
    MPI_Message message;
    MPI_Status status;
    while (!brio_real_test(&box->sent))
        brio_courier_rest(&round);
    while (!arrived) {
        if (PMPI_Improbe(box->to, TAG_ANSWER + box->slip->index, c->far, &arrived, &message,
                         &status) != MPI_SUCCESS)
            return brio_fail(BRIO_EINTERN, "MPI_Improbe of rank %d failed", box->to);
        if (!arrived)
            brio_courier_rest(&round);
    }
    PMPI_Get_count(&status, MPI_BYTE, &bytes);
    if (PMPI_Mrecv(box->data, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return brio_fail(BRIO_EINTERN, "MPI_Mrecv from rank %d failed", box->to);
    *answer = (size_t)bytes;
    return BRIO_OK;
}

BRIO_ERR brio_courier_call(struct brio_courier *c, struct brio_box *box, int rank, size_t bytes,
                           size_t *answer)
{
    box->to = rank;
    if (c->member_of[rank] < 0) {
        enum brio_err err = send_far(c, box, bytes, false);
        return err ? err : await_far(c, box, answer);
    }
    send_near(c, box, c->member_of[rank], bytes, false);
    await_near(c, box->slip);
    *answer = box->slip->bytes;
    return BRIO_OK;
}

BRIO_ERR brio_courier_post(struct brio_courier *c, struct brio_box *box, int rank, size_t bytes)
{
    enum brio_err err = BRIO_OK;
    /* Before it is sent: it may be back before the sending returns. */
    pthread_mutex_lock(&c->lock);
    box->to = rank;
    if (c->member_of[rank] < 0)
        err = send_far(c, box, bytes, true);
    else
        send_near(c, box, c->member_of[rank], bytes, true);
    box->state = err ? BRIO_BOX_FREE : BRIO_BOX_POSTED;
    pthread_mutex_unlock(&c->lock);
    return err;
}

void brio_courier_ring(struct brio_courier *c, int rank)
{
    int member = c->member_of[rank];
    atomic_fetch_add(&c->desks[member].ticks, 1);
    brio_porter_ring(c->bells[member]);
}

/* ---- Opening and closing --------------------------------------------------------------- */

/* What one rank can do alone. */
static BRIO_ERR make_rooms(struct brio_courier *c)
{
    size_t nranks = (size_t)c->env.team->nranks, members = (size_t)c->nmembers;
    size_t nboxes = (size_t)c->env.nboxes;
    enum brio_err err = brio_calloc(nranks, sizeof *c->member_of, (void **)&c->member_of);
    if (!err)
        err = brio_calloc(members, sizeof *c->bells, (void **)&c->bells);
    if (!err)
        err = brio_calloc(members * nboxes, sizeof *c->envelopes, (void **)&c->envelopes);
    if (!err)
        err = brio_calloc(nboxes, sizeof *c->boxes, (void **)&c->boxes);
    if (!err && c->env.room > INT_MAX / 2)
        err = brio_fail(BRIO_EARG, "boxes of %zu bytes", c->env.room);
    if (!err && c->env.crew->ncrews > 1 && brio_real_thread_level() != MPI_THREAD_MULTIPLE)
        err = brio_fail(BRIO_EUNSUPOP, "ranks that share no memory can only be asked where the "
                                       "MPI grants MPI_THREAD_MULTIPLE");
    return err;
}

/* Collective over the crew. The boxes of all, in memory of all. */
static BRIO_ERR share_boxes(struct brio_courier *c)
{
    const struct brio_crew *crew = c->env.crew;
    size_t members = (size_t)c->nmembers;
    enum brio_err err;
    c->pitch = sizeof(struct brio_slip) + (c->env.room + 63) / 64 * 64;
    brio_region_init(&c->region, &crew->team, crew->slot, &crew->page);
    brio_region_need(&c->region,
                     members * (sizeof(struct desk) + (size_t)c->env.nboxes * c->pitch));
    while (!brio_region_step(&c->region, BRIO_BLOCK, &err))
        ;
    if (err)
        return err;
    c->desks = (struct desk *)c->region.mem;
    c->slips = c->region.mem + members * sizeof(struct desk);
    for (int i = 0; i < c->env.nboxes; i++) {
        int number = c->member * c->env.nboxes + i;
        struct brio_slip *slip = brio_slip_at(c, number);
        slip->from = c->env.team->rank;
        slip->index = i;
        c->boxes[i] = (struct brio_box){.data = slip + 1,
                                        .room = c->env.room,
                                        .number = number,
                                        .slip = slip,
                                        .sent = MPI_REQUEST_NULL,
                                        .answered = MPI_REQUEST_NULL};
    }
    return BRIO_OK;
}

/* Collective over the crew. Everybody's bell to everybody; `mine` is how things stand. */
static BRIO_ERR share_bells(struct brio_courier *c, const struct brio_page_ref *own,
                            enum brio_err mine)
{
    const struct brio_team *team = &c->env.crew->team;
    struct brio_page_ref *refs = NULL;
    enum brio_err err = brio_calloc((size_t)c->nmembers, sizeof *refs, (void **)&refs);
    err = brio_agree(team, mine ? mine : err);
    if (!err) {
        PMPI_Allgather(own, sizeof *own, MPI_BYTE, refs, sizeof *own, MPI_BYTE, team->comm);
        for (int i = 0; i < c->nmembers && !err; i++)
            err = brio_page_attach(&refs[i], &c->bells[i]);
    }
    free(refs);
    return err;
}

static void free_courier(struct brio_courier *c)
{
    brio_courier_serve_end(c);
    if (c->region.mem)
        brio_region_close(&c->region);
    if (c->far != MPI_COMM_NULL)
        PMPI_Comm_free(&c->far);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->far_lock);
    free(c->member_of);
    free(c->bells);
    free(c->envelopes);
    free(c->boxes);
    free(c);
}

/* Collective. Joins this rank with the others. */
static BRIO_ERR connect(struct brio_courier *c)
{
    const struct brio_courier_env *env = &c->env;
    const struct brio_crew *crew = env->crew;
    struct brio_page_ref bell = {.slot = 0};
    enum brio_err err = brio_agree(env->team, make_rooms(c));
    if (err)
        return err;
    for (int r = 0, n = 0; r < env->team->nranks; r++)
        c->member_of[r] = crew->crew_of[r] == crew->mine ? n++ : -1;
    err = share_boxes(c);
    err = brio_agree(env->team, err);
    if (err)
        return err;
    if (crew->ncrews > 1 && PMPI_Comm_dup(env->team->comm, &c->far) != MPI_SUCCESS)
        err = brio_fail(BRIO_ECOMM, "the communicator cannot be duplicated");
    if (!err && c->far != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(c->far, MPI_ERRORS_RETURN);
    c->door = (struct brio_porter_door){
        .serve = brio_courier_serve, .self = c, .polled = crew->ncrews > 1};
    if (!err)
        err = brio_porter_join(&c->door, &bell);
    c->joined = !err;
    err = share_bells(c, &bell, err);
    return brio_agree(env->team, err);
}

BRIO_ERR brio_courier_open(const struct brio_courier_env *env, struct brio_courier **out)
{
    struct brio_courier *c = NULL;
    enum brio_err err = brio_calloc(1, sizeof *c, (void **)&c);
    if (env->team->nranks > 1)
        err = brio_agree(env->team, err);
    if (err) {
        free(c);
        return err;
    }
    c->env = *env;
    c->far = MPI_COMM_NULL;
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->far_lock, NULL);
    if (env->team->nranks > 1) {
        c->member = env->crew->team.rank;
        c->nmembers = env->crew->team.nranks;
        err = connect(c);
    }
    if (err) {
        if (c->joined)
            brio_porter_leave(&c->door);
        free_courier(c);
        return err;
    }
    *out = c;
    return BRIO_OK;
}

void brio_courier_close(struct brio_courier *c)
{
    if (c->joined) {
        brio_courier_drain(c);
        if (brio_agree(c->env.team, BRIO_OK) != BRIO_OK)
            PMPI_Barrier(c->env.team->comm); /* cannot be: nobody has failed */
        brio_porter_leave(&c->door);
    }
    free_courier(c);
}
