/* Memory that all ranks of a team map, made when it is first needed and kept: for moving
 * data between ranks of one node without messages. Only for teams with a meeting place. */
#ifndef BRIO_COMM_REGION_H
#define BRIO_COMM_REGION_H

#include "comm/attic.h"
#include "comm/page.h"
#include "comm/reduce.h"

struct brio_region {
    const struct brio_team *team;
    struct brio_page_slot *slot; /* where rank 0 says which memory it is */
    int64_t pid;                 /* of rank 0 */
    char *mem;                   /* NULL until needed */
    size_t bytes;
    size_t wanted;
    bool second_hand;  /* set before it is needed: memory of an earlier region will do, whatever
                          is in it, and this is kept for a later one */
    int64_t id;        /* of the memory */
    _Atomic char *had; /* by chunk: this process has it mapped */
    int fd;            /* rank 0's, else -1 */
    uint32_t runs;     /* counted by those who use it: tells old contents from new */
    enum brio_err err;
    enum brio_region_stage {
        BRIO_REGION_READY,
        BRIO_REGION_MAKING,
        BRIO_REGION_MAPPING
    } stage;
    struct brio_reduce reduce;
};

void brio_region_init(struct brio_region *r, const struct brio_team *team,
                      struct brio_page_slot *slot, const struct brio_page_ref *ref);
/* If it is second-hand, when no rank of the team uses it any more. */
void brio_region_close(struct brio_region *r);

/* Collective, with the same number on all ranks: at least so many bytes, zeroed when new,
 * unless they are second-hand. What was there before is gone if it must grow. */
void brio_region_need(struct brio_region *r, size_t bytes);
bool brio_region_step(struct brio_region *r, enum brio_wait how, enum brio_err *out);

/* Local, before bytes [at, at + n) are used: gets this process its way to them, in larger
 * pieces than the system does when they are touched. Costs little if it has been done. */
void brio_region_touch(struct brio_region *r, size_t at, size_t n);

#endif
