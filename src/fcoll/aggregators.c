/* One owner per so many bytes, but no more than can work at the same time; and as ranks without
 * data are in the others' way on a core, of a page cache no more than ranks that have some. (By
 * 4 of 8 ranks on two cores, four owners are up to 1.3 times as fast as eight.) */
#include "fcoll/aggregators.h"

#include <stdlib.h>

#include "base/mem.h"

enum {
    PAIR = 2 /* one copies while another writes */
};

/* Bytes of the access; without the ranks' own numbers, at most so many. */
static brio_off volume(const struct brio_extent *e)
{
    brio_off sum = 0;
    if (!e->shares)
        return brio_min(e->hi - e->lo, e->volume);
    for (int r = 0; r < e->nranks; r++)
        sum += e->shares[r].bytes;
    return sum;
}

int brio_aggregators(const struct brio_extent *e)
{
    if (e->owners > 0)
        return (int)brio_min(e->owners, e->nranks);
    brio_off busy = brio_min(e->at_once, brio_max(PAIR, e->nsources));
    brio_off n = brio_min(volume(e) / e->k, brio_max(e->servers, busy));
    return (int)brio_max(1, brio_min(n, e->nranks));
}

/* ---- Which ranks ---------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
    const struct brio_owner *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* A rank and which one of its crew it is. */
struct member {
    int rank, crew, turn;
};

static int by_turn(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return (x->crew > y->crew) - (x->crew < y->crew);
}

BRIO_ERR brio_spread(const struct brio_crew *crew, int nranks, int *order)
{
    struct member *m;
    int *count;
    enum brio_err err = brio_calloc((size_t)nranks, sizeof *m, (void **)&m);
    if (err)
        return err;
    err = brio_calloc((size_t)crew->ncrews, sizeof *count, (void **)&count);
    if (!err) {
        for (int r = 0; r < nranks; r++)
            m[r] = (struct member){r, crew->crew_of[r], count[crew->crew_of[r]]++};
        qsort(m, (size_t)nranks, sizeof *m, by_turn);
        for (int r = 0; r < nranks; r++)
            order[r] = m[r].rank;
        free(count);
    }
    free(m);
    return err;
}

void brio_spread_owners(const struct brio_extent *e, struct brio_owner *owners, int n)
{
    for (int i = 0; i < n; i++)
        owners[i].rank = e->spread ? e->spread[i] : (int)((int64_t)i * e->nranks / n);
    qsort(owners, (size_t)n, sizeof *owners, by_rank);
}

int brio_equal_domains(const struct brio_extent *e, struct brio_owner *owners)
{
    int n = brio_aggregators(e);
    int count = 0;
    brio_off lo = e->lo;
    brio_spread_owners(e, owners, n);
    for (int i = 0; i < n && lo < e->hi; i++) {
        brio_off hi = i == n - 1 ? e->hi : e->lo + (e->hi - e->lo) / n * (i + 1);
        if (e->align > 0 && hi < e->hi)
            hi -= hi % e->align;
        if (hi <= lo)
            continue;
        owners[count++] = (struct brio_owner){
            .rank = owners[i].rank, .lo = lo, .hi = hi, .last = e->nranks - 1};
        lo = hi;
    }
    return count;
}

/* ---- Groups ---------------------------------------------------------------------------- */

static _Thread_local const struct brio_share *sorted_by;

static int by_data(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    const struct brio_share *s = &sorted_by[x], *t = &sorted_by[y];
    if ((s->bytes == 0) != (t->bytes == 0))
        return s->bytes == 0 ? 1 : -1;
    if (s->bytes > 0 && s->lo != t->lo)
        return s->lo < t->lo ? -1 : 1;
    return (x > y) - (x < y);
}

void brio_order_by_data(const struct brio_share *shares, int nranks, int *order)
{
    for (int r = 0; r < nranks; r++)
        order[r] = r;
    sorted_by = shares;
    qsort(order, (size_t)nranks, sizeof *order, by_data);
}

/* How good it is to end a group after place i: at the border of a row of processes of a
 * Cartesian communicator, or where no rank so far has data behind the next one's first. */
static bool is_border(const struct brio_extent *e, int i, brio_off reached)
{
    if (e->row > 0)
        return (i + 1) % e->row == 0;
    return e->shares[e->order[i + 1]].lo >= reached;
}

/* The first place of the group behind the one that begins at `first`, which should have
 * `wanted` bytes: at the border nearest to that within a quarter, or where they are reached.
 * At least `left` ranks stay for the groups to come. */
static int end_of_group(const struct brio_extent *e, int first, brio_off wanted, int left)
{
    brio_off sum = 0, reached = 0;
    int border = -1, plain = -1;
    for (int i = first; i < e->nranks - left; i++) {
        const struct brio_share *s = &e->shares[e->order[i]];
        sum += s->bytes;
        if (s->bytes > 0)
            reached = brio_max(reached, s->hi);
        bool far = sum >= wanted - wanted / 4;
        bool last = i + 1 == e->nranks - left;
        if (!last && far && sum <= wanted + wanted / 4 && border < 0 &&
            is_border(e, i, reached))
            border = i + 1;
        if (plain < 0 && (sum >= wanted || last))
            plain = i + 1;
        if (plain >= 0 && (border >= 0 || sum > wanted + wanted / 4))
            break;
    }
    return border >= 0 ? border : plain;
}

/* A rank of the group on the node whose turn it is, if there is one; or the next of those that
 * the user lists, wherever it is. */
static int owner_of_group(const struct brio_extent *e, int group, int first, int last)
{
    if (e->listed)
        return e->spread[group];
    for (int i = first; e->order && i <= last; i++)
        if (e->crew_of[e->order[i]] == group % e->ncrews)
            return e->order[i];
    return e->order ? e->order[first] : first;
}

int brio_groups(const struct brio_extent *e, struct brio_owner *owners)
{
    int n = brio_aggregators(e), first = 0;
    brio_off left = volume(e);
    for (int i = 0; i < n; i++) {
        int end = (int)((int64_t)(i + 1) * e->nranks / n);
        if (e->shares)
            end = i == n - 1 ? e->nranks : end_of_group(e, first, left / (n - i), n - 1 - i);
        for (int p = first; e->shares && p < end; p++)
            left -= e->shares[e->order[p]].bytes;
        owners[i] = (struct brio_owner){.rank = owner_of_group(e, i, first, end - 1),
                                        .lo = e->lo,
                                        .hi = e->hi,
                                        .first = first,
                                        .last = end - 1};
        first = end;
    }
    qsort(owners, (size_t)n, sizeof *owners, by_rank);
    return n;
}
