/* A merge of many lists by a heap of their heads. */
#include "sharedfp/order.h"

#include <stdlib.h>

#include "base/mem.h"

struct head {
    int64_t time;
    size_t list, next;
};

static bool before(const struct head *a, const struct head *b)
{
    return a->time != b->time ? a->time < b->time : a->list < b->list;
}

static void sink(struct head *heap, size_t n, size_t i)
{
    struct head moving = heap[i];
    for (size_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &moving))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moving;
}

BRIO_ERR brio_order(size_t nlists, const struct brio_order_list *lists, brio_off start,
                    brio_off *end)
{
    struct head *heap;
    size_t n = 0;
    enum brio_err err = brio_calloc(nlists, sizeof *heap, (void **)&heap);
    if (err)
        return err;
    for (size_t i = 0; i < nlists; i++)
        if (lists[i].n > 0)
            heap[n++] = (struct head){.time = lists[i].stamps[0].time, .list = i};
    for (size_t i = n; i-- > 0;)
        sink(heap, n, i);
    while (n > 0 && !err) {
        const struct brio_order_list *list = &lists[heap[0].list];
        size_t i = heap[0].next++;
        if (list->at)
            list->at[i] = start;
        if (!brio_add(start, list->stamps[i].bytes, &start))
            err = brio_fail(BRIO_EIO, "the records together are longer than a file can be");
        if (i + 1 < list->n)
            heap[0].time = list->stamps[i + 1].time;
        else
            heap[0] = heap[--n];
        sink(heap, n, 0);
    }
    free(heap);
    if (!err)
        *end = start;
    return err;
}
