/* Records in an array, joined pair by pair when it is full. */
#include "base/trace.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

struct brio_trace {
    pthread_mutex_t lock;
    int64_t zero;
    size_t n, room;
    int64_t grain; /* accesses that are put into one record */
    struct brio_record record[];
};

BRIO_ERR brio_trace_new(size_t room, int64_t zero, struct brio_trace **out)
{
    struct brio_trace *t;
    if (room < 4)
        room = 4;
    enum brio_err err = brio_calloc(1, sizeof *t + room * sizeof t->record[0], (void **)&t);
    if (err)
        return err;
    pthread_mutex_init(&t->lock, NULL);
    t->zero = zero;
    t->room = room;
    t->grain = 1;
    *out = t;
    return BRIO_OK;
}

void brio_trace_free(struct brio_trace *t)
{
    if (!t)
        return;
    pthread_mutex_destroy(&t->lock);
    free(t);
}

/* The kind of the longer one stands for both. */
static struct brio_record join(const struct brio_record *a, const struct brio_record *b)
{
    struct brio_record r = *a;
    if (b->end - b->begin > a->end - a->begin)
        r.kind = b->kind;
    r.n += b->n;
    r.begin = brio_min(a->begin, b->begin);
    r.end = brio_max(a->end, b->end);
    r.bytes += b->bytes;
    for (int i = 0; i < BRIO_PHASES; i++)
        r.phase[i] += b->phase[i];
    return r;
}

static void thin_out(struct brio_trace *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i += 2, n++)
        t->record[n] = i + 1 < t->n ? join(&t->record[i], &t->record[i + 1]) : t->record[i];
    t->n = n;
    t->grain *= 2;
}

void brio_trace_add(struct brio_trace *t, const struct brio_record *record)
{
    struct brio_record r = *record;
    r.begin -= t->zero;
    r.end -= t->zero;
    pthread_mutex_lock(&t->lock);
    if (t->n == t->room)
        thin_out(t);
    struct brio_record *last = t->n ? &t->record[t->n - 1] : NULL;
    if (last && last->n + r.n <= t->grain)
        *last = join(last, &r);
    else
        t->record[t->n++] = r;
    pthread_mutex_unlock(&t->lock);
}

size_t brio_trace_records(const struct brio_trace *t, const struct brio_record **out)
{
    *out = t->record;
    return t->n;
}
