/* The plans of a file that are kept for the next access like the one they were made for. */
#ifndef BRIO_FCOLL_SHELF_H
#define BRIO_FCOLL_SHELF_H

#include "fcoll/plan.h"
#include "lane/lane.h"

enum {
    BRIO_SHELF_PLANS = 16
};

/* A plan and the access it is for. */
struct brio_kept {
    int64_t id; /* 0: none */
    enum brio_dir dir;
    uint64_t pattern;    /* hash of the file pattern */
    brio_off base, into; /* where it is, and where in its tile the access begins */
    brio_off bytes, pos;
    struct brio_plan *plan; /* NULL: such accesses are direct */
    brio_off buffer;        /* that it was run with; 0: not yet */
};

/* What is on it, and in which place, is the same on all ranks. */
struct brio_shelf {
    struct brio_kept kept[BRIO_SHELF_PLANS];
    int64_t last_id; /* of any plan of any rank, so far as is known here */
};

/* The newest plan for an access, which may differ from the one it was made for by whole tiles
 * of the pattern; NULL if there is none. A rank whose bytes do not tell one plan from another,
 * as one that has none, can do with any since *oldest that is kept for the direction. */
struct brio_kept *brio_shelf_find(struct brio_shelf *shelf, const struct brio_io *io,
                                  int64_t *oldest);

/* The plan with this number, which is there. */
struct brio_kept *brio_shelf_get(struct brio_shelf *shelf, int64_t id);

/* Bytes of the file that the access is behind the plan's. */
brio_off brio_shelf_shift(const struct brio_io *io, const struct brio_kept *kept);

/* Takes the plan over, with a number that no plan of any rank has yet if last_id is known to
 * be the highest. */
struct brio_kept *brio_shelf_keep(struct brio_shelf *shelf, const struct brio_io *io,
                                  struct brio_plan *plan);

void brio_shelf_clear(struct brio_shelf *shelf);

#endif
