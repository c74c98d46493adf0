/* Memory that grows and may become large: fresh memory costs by the page, and more than what is
 * copied into it, so that from some size on it is asked for in large pages. */
#ifndef BRIO_BASE_ROOM_H
#define BRIO_BASE_ROOM_H

#include "base/base.h"

struct brio_room {
    char *mem; /* NULL while there is none */
    size_t bytes;
};

/* At least so many bytes, which begin with what was in it. On failure it is as it was. */
BRIO_ERR brio_room_need(struct brio_room *room, size_t bytes);

/* A process keeps one large room for the next who needs one, until brio_room_finalize. */
void brio_room_free(struct brio_room *room);
void brio_room_finalize(void);

#endif
