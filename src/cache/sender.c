/* Boxes of the courier are the buffers: as many as there are, whatever the number of owners.
 * While one is on its way another is filled; if none is left, the fullest one leaves early. */
#include "cache/sender.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cache/parcel.h"
#include "comm/courier.h"
#include "comm/verdict.h"

enum {
    MAX_BOXES = 32
};

/* What is being gathered for one owner. */
struct heap {
    int owner;
    struct brio_box *box;
    struct brio_parcel parcel;
};

struct brio_sender {
    struct brio_sender_env env;
    struct brio_courier *courier;
    pthread_mutex_t lock; /* guards the heaps */
    int nheaps;           /* in use */
    struct heap heap[MAX_BOXES];
    pthread_mutex_t lost_lock; /* guards what follows; the porter's thread writes it */
    enum brio_err lost;
    char text[BRIO_ERR_TEXT];
};

/* ---- At the owner ---------------------------------------------------------------------- */

static void lose(struct brio_sender *s, enum brio_err err, int from)
{
    brio_err_context("bytes that rank %d wrote are lost: ", from);
    pthread_mutex_lock(&s->lost_lock);
    if (!s->lost) {
        s->lost = err;
        brio_err_save(s->text);
    }
    pthread_mutex_unlock(&s->lost_lock);
}

static void handle(void *self, struct brio_letter *letter)
{
    struct brio_sender *s = self;
    struct brio_piece piece;
    size_t at = 0;
    while (brio_parcel_next(letter->data, letter->bytes, &at, &piece)) {
        enum brio_err err = s->env.keep(s->env.self, piece.off, piece.data, piece.len);
        if (err)
            lose(s, err, letter->from);
    }
    if (at != letter->bytes)
        lose(s,
             brio_fail(BRIO_EINTERN, "a message ends at %zu of %zu bytes", at, letter->bytes),
             letter->from);
    brio_courier_answer(s->courier, letter, 0);
}

BRIO_ERR brio_sender_lost(struct brio_sender *s)
{
    pthread_mutex_lock(&s->lost_lock);
    enum brio_err err = s->lost;
    if (err)
        brio_err_restore(s->text);
    pthread_mutex_unlock(&s->lost_lock);
    return err;
}

/* ---- At the writer --------------------------------------------------------------------- */

void brio_sender_lock(struct brio_sender *s)
{
    pthread_mutex_lock(&s->lock);
}

void brio_sender_unlock(struct brio_sender *s)
{
    pthread_mutex_unlock(&s->lock);
}

static BRIO_ERR post(struct brio_sender *s, int i)
{
    struct heap heap = s->heap[i];
    s->heap[i] = s->heap[--s->nheaps];
    return brio_courier_post(s->courier, heap.box, heap.owner, heap.parcel.used);
}

static BRIO_ERR post_fullest(struct brio_sender *s)
{
    int fullest = 0;
    for (int i = 1; i < s->nheaps; i++)
        if (s->heap[i].parcel.used > s->heap[fullest].parcel.used)
            fullest = i;
    return post(s, fullest);
}

/* A new heap at the end. */
static BRIO_ERR begin_heap(struct brio_sender *s, int owner)
{
    struct brio_box *box = brio_courier_take(s->courier, BRIO_POLL);
    if (!box && s->nheaps > 0) {
        enum brio_err err = post_fullest(s);
        if (err)
            return err;
    }
    if (!box)
        box = brio_courier_take(s->courier, BRIO_BLOCK);
    if (!box)
        return brio_fail(BRIO_EINTERN, "no room for a message to rank %d", owner);
    struct heap *heap = &s->heap[s->nheaps++];
    heap->owner = owner;
    heap->box = box;
    brio_parcel_init(&heap->parcel, box->data, box->room);
    return BRIO_OK;
}

BRIO_ERR brio_sender_room(struct brio_sender *s, int owner, brio_off off, brio_off len,
                          char **at, brio_off *fit)
{
    int i = 0;
    while (i < s->nheaps && s->heap[i].owner != owner)
        i++;
    if (i < s->nheaps) {
        *at = brio_parcel_add(&s->heap[i].parcel, off, len, fit);
        if (*at)
            return BRIO_OK;
        enum brio_err err = post(s, i);
        if (err)
            return err;
    }
    enum brio_err err = begin_heap(s, owner);
    if (err)
        return err;
    *at = brio_parcel_add(&s->heap[s->nheaps - 1].parcel, off, len, fit);
    return BRIO_OK;
}

BRIO_ERR brio_sender_settle(struct brio_sender *s)
{
    enum brio_err err = BRIO_OK;
    pthread_mutex_lock(&s->lock);
    while (s->nheaps > 0 && !err)
        err = post(s, s->nheaps - 1);
    pthread_mutex_unlock(&s->lock);
    brio_courier_drain(s->courier);
    return err;
}

/* ---- The sender ------------------------------------------------------------------------ */

BRIO_ERR brio_sender_open(const struct brio_sender_env *env, struct brio_sender **out)
{
    struct brio_sender *s = NULL;
    enum brio_err err = brio_agree(env->team, brio_calloc(1, sizeof *s, (void **)&s));
    if (err) {
        free(s);
        return err;
    }
    s->env = *env;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->lost_lock, NULL);
    const struct brio_courier_env courier = {
        .team = env->team,
        .crew = env->crew,
        .room = env->room,
        .nboxes = (int)brio_min(2 * env->team->nranks, MAX_BOXES),
        .handle = handle,
        .self = s};
    err = brio_courier_open(&courier, &s->courier);
    if (!err)
        err = brio_agree(env->team, BRIO_OK); /* a letter may come as soon as one goes on */
    if (err) {
        brio_sender_close(s);
        return err;
    }
    *out = s;
    return BRIO_OK;
}

void brio_sender_close(struct brio_sender *s)
{
    if (!s)
        return;
    if (s->courier)
        brio_courier_close(s->courier);
    pthread_mutex_destroy(&s->lost_lock);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
