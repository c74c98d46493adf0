/* The layouts that most files have, and the test that one makes sense. */
#include "mod/layout.h"

void brio_layout_plain(struct brio_layout *out)
{
    *out = (struct brio_layout){.nservers = 1};
}

void brio_layout_round(struct brio_layout *out, int nservers, int first, brio_off stripe)
{
    *out = (struct brio_layout){.nservers = nservers, .nextents = 1, .stripe = stripe};
    out->extents[0] = (struct brio_stripes){
        .hi = BRIO_OFF_MAX, .unit = stripe, .width = nservers, .at = first};
}

void brio_layout_dealt(struct brio_layout *out, brio_off stripe, int nobjects,
                       const int64_t *servers)
{
    int first[BRIO_LAYOUT_OBJECTS]; /* an object of each server */
    *out = (struct brio_layout){.nextents = 1, .nobjects = nobjects, .stripe = stripe};
    for (int k = 0; k < nobjects; k++) {
        int i = 0;
        while (i < out->nservers && servers[first[i]] != servers[k])
            i++;
        if (i == out->nservers)
            first[out->nservers++] = k;
        out->objects[k] = (uint16_t)i;
    }
    out->extents[0] = (struct brio_stripes){
        .hi = BRIO_OFF_MAX, .unit = stripe, .width = nobjects, .n = nobjects};
}

static bool sound(const struct brio_layout *l, const struct brio_stripes *s)
{
    brio_off row, set;
    if (s->lo < 0 || s->hi <= s->lo || s->unit <= 0 || s->width <= 0 ||
        !brio_mul(s->unit, s->width, &row))
        return false;
    if (s->object < 0 || s->object % s->unit != 0 || !brio_mul(s->object, s->width, &set))
        return false;
    if (s->n == 0)
        return s->at >= 0 && s->at < l->nservers;
    return s->n > 0 && s->at >= 0 && s->at <= l->nobjects - s->n;
}

BRIO_ERR brio_layout_check(const struct brio_layout *l)
{
    if (l->nservers < 1 || l->nextents < 0 || l->nextents > BRIO_LAYOUT_EXTENTS ||
        l->nobjects < 0 || l->nobjects > BRIO_LAYOUT_OBJECTS || l->stripe < 0)
        return brio_fail(BRIO_EINTERN, "a layout of %d servers and %d extents", l->nservers,
                         l->nextents);
    for (int i = 0; i < l->nextents; i++)
        if (!sound(l, &l->extents[i]) || (i > 0 && l->extents[i].lo < l->extents[i - 1].hi))
            return brio_fail(BRIO_EINTERN,
                             "a layout whose extent %d has units of %lld bytes from %lld to "
                             "%lld on %d objects of %lld bytes",
                             i, (long long)l->extents[i].unit, (long long)l->extents[i].lo,
                             (long long)l->extents[i].hi, l->extents[i].width,
                             (long long)l->extents[i].object);
    for (int i = 0; i < l->nobjects; i++)
        if (l->objects[i] >= l->nservers)
            return brio_fail(BRIO_EINTERN, "a layout with an object on server %d of %d",
                             l->objects[i], l->nservers);
    return BRIO_OK;
}
