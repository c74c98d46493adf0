/* Elements of counted maps: a leaf's len is that of an element in the file, its kind 1 + that
 * in memory. */
#include "type/elements.h"

#include "type/node.h"

static struct brio_elements times(struct brio_elements e, brio_off n)
{
    return (struct brio_elements){e.count * n, e.file * n, e.mem * n};
}

static struct brio_elements plus(struct brio_elements a, struct brio_elements b)
{
    return (struct brio_elements){a.count + b.count, a.file + b.file, a.mem + b.mem};
}

static struct brio_elements count_node(const struct brio_node *n)
{
    struct brio_elements sum = {0};
    switch (n->shape) {
    case BRIO_SHAPE_RUN:
    case BRIO_SHAPE_FRAGS:
        return times((struct brio_elements){1, n->len, n->kind - 1},
                     n->size ? n->size / n->len : 0);
    case BRIO_SHAPE_LOOP:
        return times(count_node(n->child), n->count);
    case BRIO_SHAPE_BLOCKS:
        return times(count_node(n->child), brio_node_start(n, n->count));
    case BRIO_SHAPE_LIST:
        for (brio_off i = 0; i < n->count; i++)
            sum = plus(sum, count_node(n->kids[i]));
    }
    return sum;
}

struct brio_elements brio_elements_of_tile(const struct brio_map *counted)
{
    return count_node(counted->root);
}

struct brio_elements brio_elements_within(const struct brio_map *counted, brio_off bytes)
{
    struct brio_elements sum = {0};
    struct brio_cursor c;
    struct brio_run run = {0};
    if (counted->size == 0)
        return sum;
    sum = times(brio_elements_of_tile(counted), bytes / counted->size);
    brio_off whole = sum.file, n = 0;
    brio_cursor_init(&c, counted, 0);
    while (n == run.count && sum.file < bytes) {
        brio_cursor_next(&c, counted->size - (sum.file - whole), &run);
        n = brio_min(run.count, (bytes - sum.file) / run.len);
        sum = plus(sum, times((struct brio_elements){1, run.len, run.kind - 1}, n));
    }
    return sum;
}

static brio_off common_len(const struct brio_node *n)
{
    if (n->child)
        return common_len(n->child);
    if (!n->kids)
        return n->len;
    brio_off len = common_len(n->kids[0]);
    for (brio_off i = 1; i < n->count && len; i++)
        if (common_len(n->kids[i]) != len)
            len = 0;
    return len;
}

brio_off brio_elements_len(const struct brio_map *counted)
{
    return common_len(counted->root);
}
