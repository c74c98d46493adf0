/* The common order of what several ranks have written: by time, then by rank. Pure. */
#ifndef BRIO_SHAREDFP_ORDER_H
#define BRIO_SHAREDFP_ORDER_H

#include "base/base.h"

/* When a record was written and how long it is. */
struct brio_stamp {
    int64_t time;
    brio_off bytes;
};

struct brio_order_list {
    const struct brio_stamp *stamps; /* times rise */
    size_t n;
    brio_off *at; /* out: where each record goes; may be NULL */
};

/* Lays the records of all lists one behind the other, the first at `start`; *end is behind
 * the last. A merge of nlists sorted lists: n log nlists steps. */
BRIO_ERR brio_order(size_t nlists, const struct brio_order_list *lists, brio_off start,
                    brio_off *end);

#endif
