/* Shared memory that its last user needs no more, kept for the next: getting it from the system
 * page by page costs more than the data that goes through it. A process keeps one piece. */
#ifndef BRIO_COMM_ATTIC_H
#define BRIO_COMM_ATTIC_H

#include <stdint.h>

#include "base/base.h"

struct brio_spare {
    int64_t id; /* the same in all processes that map it; 0: it has none, and is not kept */
    char *mem;
    size_t bytes;
    int fd;            /* -1 if another process made it */
    _Atomic char *had; /* by chunk: this process has it mapped */
};

/* At least so many bytes that this process made itself; they hold anything. */
bool brio_attic_own(size_t bytes, struct brio_spare *out);

/* At least so many bytes of the memory with this id. */
bool brio_attic_find(int64_t id, size_t bytes, struct brio_spare *out);

/* Once no process uses it any more. What was here before goes. */
void brio_attic_put(const struct brio_spare *spare);

/* Gives memory back to the system. */
void brio_spare_free(const struct brio_spare *spare);

void brio_attic_finalize(void);

#endif
